package import TransferModel

/// The object of a cure, for the commands that mend it.
package struct CureSubject: Sendable, Hashable {
    /// The node to try again; `nil`: several batches.
    package let node: NodeID?
    /// The batch whose settings are meant; `nil`: those of several batches.
    package let knownBatch: BatchID?
    /// The scheme of the server, on which the kind of login depends; `nil`: not known.
    package let scheme: TransferScheme?

    /// - Parameter url: where it leads to, or that place's origin.
    package init(node: NodeID, batch: BatchID, url: String?) {
        (self.node, knownBatch) = (node, batch)
        scheme = url.flatMap { TransferScheme(of: $0) }
    }

    /// A cure for one batch, or with `nil` for several that have it in common.
    package init(batch: BatchID?, url: String?) {
        (node, knownBatch) = (batch.map { .batch($0) }, batch)
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
        switch scheme?.facts.login ?? .fields {
        case .ssh: "\(set("--user", "USER")) gives another password; or add its key to ssh-agent (ssh-add)"
        case .password:
            "\(set("--user", "USER")) gives another password; or renew what a command or a netrc file gives"
        case .awsKeys:
            "\(set("--s3-keys")) takes the keys that AWS_* or its AWS profile have now, --user ID others; or renew what its command gives"
        case .fields:
            "\(set("--header", "K: V")) or --user USER gives it anew; or renew what a command or a netrc file gives"
        }
    }
}
