import ServiceWire
public import TransferModel

/// A change that can be made to nodes.
public enum NodeDeed: Sendable, Hashable {
    case pause, resume, cancel, retry
    /// They go on by themselves then. Said again of nodes that are named it changes the time; what a selector finds paused keeps its own.
    case pauseUntil(Timestamp)
    /// Before all others, once, in spite of times and waits.
    case runNow
    /// Nodes that are chosen by a selector cannot be moved.
    case move(MovePlace)
    /// - Parameter secrets: of batches: what lets them in from now on; what it does not have stays as it is. What waits for
    ///   that goes on at once. This cannot be taken back.
    case set(NodeSettings, secrets: TransferSecrets? = nil)
    case purge
}

/// The choice of the change to take back.
public enum UndoChoice: Sendable, Hashable {
    /// The last one, whoever made it.
    case last
    /// The last one of each of these.
    case nodes(NodeChoice)
    /// As `NodesChanged.undo` said.
    case operation(Int64)
}
