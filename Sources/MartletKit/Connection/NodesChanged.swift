import ServiceWire
public import TransferModel

/// The result of a change.
public struct NodesChanged: Sendable, Hashable {
    public var results: [NodeResult]
    /// Takes exactly this back, within the grace time; `nil`: nothing of it can be taken back.
    public var undo: UndoChoice?
    /// The change that an undo took back.
    public var undone: UndoneDeed?
    /// The restored limits after an undo that changed those of the engine, a host or a session.
    public var limits: TransferLimits?
    /// Results beyond those that are told one by one; `nil`: none.
    public var untold: UntoldResults?
    /// True after the undo of a cancel whose grace time was over: files of which only a part had arrived begin anew.
    public var startsAgain = false

    public init(
        results: [NodeResult], undo: UndoChoice? = nil, undone: UndoneDeed? = nil, limits: TransferLimits? = nil
    ) {
        self.results = results
        self.undo = undo
        self.undone = undone
        self.limits = limits
    }

    init(_ answer: NodeResults) {
        results = answer.results
        undo = answer.operation.map { .operation($0) }
        undone = answer.undone
        limits = answer.limits
        startsAgain = answer.startsAgain ?? false
        untold = answer.untold
    }
}
