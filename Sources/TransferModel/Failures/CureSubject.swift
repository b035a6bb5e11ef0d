/// The object of a cure, for the commands that mend it.
package struct CureSubject: Sendable, Hashable {
    /// The ID to try again, as one word of a shell.
    package let node: String
    /// The batch whose settings are meant; `nil`: those of several batches.
    package let knownBatch: BatchID?
    /// The scheme of the server, on which the kind of login depends; `nil`: not known.
    package let scheme: TransferScheme?

    /// - Parameter url: where it leads to, or that place's origin.
    package init(node: NodeID, batch: BatchID, url: String?) {
        self.node = node.written
        knownBatch = batch
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// A cure for one batch, or with `nil` for several that have it in common.
    package init(batch: BatchID?, url: String?) {
        node = batch?.description ?? "ID"
        knownBatch = batch
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// The ways to give it another password, token or key, or to renew one: those of its protocol, and no others.
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
