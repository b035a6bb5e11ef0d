import ServiceWire
public import TransferModel

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
