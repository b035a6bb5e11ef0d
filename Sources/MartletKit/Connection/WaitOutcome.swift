public import TransferModel

/// The result of a wait.
public struct WaitOutcome: Sendable, Hashable {
    /// The nodes that are there, as they were last seen.
    public var rows: [NodeID: NodeRow]
    /// Asked for and not there (any more).
    public var missing: [NodeID]
    /// Nodes left that need a person: `auth`, `hostKey`, held, or paused without an end. Empty: everything is over.
    public var stuck: [NodeID]

    /// True when everything asked for is over and nothing failed or was cancelled.
    public var isSuccess: Bool {
        stuck.isEmpty && missing.isEmpty
            && rows.values.allSatisfy { $0.counts.failed == 0 && $0.counts.cancelled == 0 }
    }
}
