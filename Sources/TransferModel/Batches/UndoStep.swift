/// A change that can be taken back.
public struct UndoStep: Codable, Hashable, Sendable {
    /// The number that names it; see `nodes.undo`.
    public var operation: Int64
    public var deed: UndoneDeed
    public var at: Timestamp
    /// The first node that it was done to; `nil`: the engine, a host or a session.
    @OrNull public var node: NodeID?
    /// The number of nodes that it was done to.
    public var nodes: Int64 = 1
    /// The name of the node's batch; of limits what they are on: `the engine`, `host NAME`, `session NAME`. Harmless to print.
    public var name: String
    /// True for a cancel whose grace time is over: files of which only a part had arrived begin anew.
    public var startsAgain: Bool

    public init(
        operation: Int64, deed: UndoneDeed, at: Timestamp, node: NodeID?, nodes: Int64 = 1, name: String,
        startsAgain: Bool
    ) {
        self.operation = operation
        self.deed = deed
        self.at = at
        _node = OrNull(wrappedValue: node)
        self.nodes = nodes
        self.name = name
        self.startsAgain = startsAgain
    }
}
