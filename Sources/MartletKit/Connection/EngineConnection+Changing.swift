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

/// The choice of the change to take back.
public enum UndoChoice: Sendable, Hashable {
    /// The last one, whoever made it.
    case last
    /// The last one of each of these.
    case nodes(NodeChoice)
    /// As `NodesChanged.undo` said.
    case operation(Int64)
}

extension EngineConnection {
    /// Changes nodes; durable when this returns.
    public nonisolated func change(
        _ nodes: NodeChoice, _ deed: NodeDeed
    ) async throws(RequestError) -> NodesChanged {
        let request = nodes.request
        let answer =
            switch deed {
            case .pause: try await call(Methods.nodesPause, PauseRequest(request))
            case .pauseUntil(let end): try await call(Methods.nodesPause, PauseRequest(request, until: end))
            case .resume: try await call(Methods.nodesResume, request)
            case .cancel: try await call(Methods.nodesCancel, request)
            case .retry: try await call(Methods.nodesRetry, request)
            case .runNow: try await call(Methods.nodesRunNow, request)
            case .purge: try await call(Methods.nodesPurge, request)
            case .set(let settings, let secrets):
                try await call(
                    Methods.nodesSet,
                    SetRequest(
                        ids: request.ids, rows: request.rows, selector: request.selector, settings: settings,
                        secrets: secrets))
            case .move(let place): try await call(Methods.nodesMove, MoveRequest(request, place))
            }
        return NodesChanged(answer)
    }

    /// Takes every batch that is over out of the tree; the history has it still. Those with failed files are refused.
    public nonisolated func clearFinished() async throws(RequestError) -> NodesChanged {
        NodesChanged(try await call(Methods.nodesClear, NodesRequest()))
    }

    /// The changes that can be taken back, the last one first.
    public nonisolated func undoable() async throws(RequestError) -> [UndoStep] {
        try await call(Methods.nodesUndoable, Nothing()).steps
    }

    /// For how long the engine that answers lets a change be taken back; `nil`: none answers, or it does not say.
    public func graceTime() -> Duration? {
        if case .connected(let identity) = state { identity.grace } else { nil }
    }

    /// Takes changes back.
    public nonisolated func takeBack(_ choice: UndoChoice) async throws(RequestError) -> NodesChanged {
        let request: UndoRequest =
            switch choice {
            case .last: UndoRequest()
            case .operation(let number): UndoRequest(operation: number)
            case .nodes(let nodes):
                UndoRequest(ids: nodes.request.ids, rows: nodes.request.rows, selector: nodes.request.selector)
            }
        return NodesChanged(try await call(Methods.nodesUndo, request))
    }
}

extension MoveRequest {
    fileprivate init(_ nodes: NodesRequest, _ place: MovePlace) {
        self.init(ids: nodes.ids, rows: nodes.rows, to: .top)
        switch place {
        case .top: to = .top
        case .bottom: to = .bottom
        case .earlier: to = .earlier
        case .later: to = .later
        case .before(let node): (to, before) = (.before, node)
        }
    }
}
