/// What is to be mended, for the commands that do it.
package struct CureSubject: Sendable, Hashable {
    /// What is tried again, as one word of a shell.
    package let node: String
    /// Whose settings are meant; `nil`: those of several batches.
    package let knownBatch: BatchID?
    /// What lets somebody in depends on it; `nil`: it is not known.
    package let scheme: TransferScheme?

    /// - Parameter url: where it leads to, or that place's origin.
    package init(node: NodeID, batch: BatchID, url: String?) {
        self.node = node.written
        knownBatch = batch
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// What batches have in common: that one, or several.
    package init(batch: BatchID?, url: String?) {
        node = batch?.description ?? "ID"
        knownBatch = batch
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// How it gets another password, token or key, and what else may be renewed: what the protocol knows, and nothing else.
    var letIn: String {
        let set = "martlet set \(knownBatch?.description ?? "BATCH")"
        return switch scheme {
        case .sftp: "\(set) --user USER gives another password; or add its key to ssh-agent (ssh-add)"
        case .ftp, .ftps, .ftpes:
            "\(set) --user USER gives another password; or renew what a command or a netrc file gives"
        case .s3:
            "\(set) --s3-keys takes the keys that AWS_* or the AWS profile have now; or renew what its command gives"
        case .http, .https, .tusHTTP, .tusHTTPS, .ietfHTTP, .ietfHTTPS, .dav, .davs, nil:
            "\(set) --header 'K: V' or --user USER gives it anew; or renew what a command or a netrc file gives"
        }
    }
}

extension NodeID {
    /// As one word of a shell: the name of a folder may have anything in it.
    package var written: String {
        let plain = description
        let needsNone = plain.unicodeScalars.allSatisfy {
            !$0.isASCII || $0.properties.isAlphabetic || $0.properties.numericType != nil
                || ":/._-+,@%".unicodeScalars.contains($0)
        }
        return needsNone ? plain : "'" + plain.replacing("'", with: "'\\''") + "'"
    }
}
