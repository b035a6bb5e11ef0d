package import TransferModel

/// The object of a cure, for the commands that mend it.
package struct CureSubject: Sendable, Hashable {
    /// The node to try again; `nil`: several batches.
    package let node: NodeID?
    /// The batch whose settings are meant; `nil`: those of several batches.
    package let knownBatch: BatchID?
    /// The scheme of the server, on which the kind of login depends; `nil`: not known.
    package let scheme: TransferScheme?
    /// It fetches files, which may come from several servers: a login goes to one of them, and a netrc file has one for each.
    private let isDownload: Bool

    /// - Parameter url: the server's, or its origin; `nil`: not known.
    package init(node: NodeID, batch: BatchID, url: String?, isDownload: Bool) {
        (self.node, knownBatch, self.isDownload) = (node, batch, isDownload)
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// A cure for one batch, or with `nil` for several that have it in common.
    package init(batch: BatchID?, url: String?, isDownload: Bool) {
        (node, knownBatch, self.isDownload) = (batch.map { .batch($0) }, batch, isDownload)
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// The command that tries it again.
    package var retry: AdvisedCommand { command("retry") }
    var runNow: AdvisedCommand { command("run-now") }

    private func command(_ verb: String) -> AdvisedCommand {
        node.map { AdvisedCommand(verb, [$0]) } ?? AdvisedCommand(verb, [], ["ID"])
    }

    /// A change of the settings of its batch.
    func set(_ arguments: String...) -> AdvisedCommand {
        knownBatch.map { AdvisedCommand("set", [.batch($0)], arguments) }
            ?? AdvisedCommand("set", [], ["BATCH"] + arguments)
    }

    /// The ways to give it another password, token or key, or to renew one: those of its protocol, and no others.
    var letIn: Advice {
        switch scheme?.facts.login {
        case .ssh?:
            "\(set("--user", "USER")) gives another password\(ofEach)\(LoginKind.ssh.elsewhere.map { "; or \($0)" } ?? "")"
        case .password:
            "\(set("--user", "USER")) gives another password\(ofEach); or renew what a command or a netrc file gives"
        case .awsKeys:
            "\(set("--s3-keys")) takes the keys that AWS_* or its AWS profile have now, --user ID others; or renew what its command gives"
        case nil where isDownload:
            "\(set("--user", "USER")) gives another login, of S3 \(set("--s3-keys")) new keys\(ofEach); or renew what a command or a netrc file gives"
        case .fields, nil:
            "\(set("--header", "K: V")) or --user USER gives it anew\(ofEach); or renew what a command or a netrc file gives"
        }
    }

    private var ofEach: Advice {
        isDownload ? " (files of several servers: \(set("--netrc", "FILE")), with a login for each)" : ""
    }
}
