import ServiceWire
public import TransferModel

/// The nodes that an action is for.
public enum NodeChoice: Sendable, Hashable {
    case ids([NodeID])
    /// As a screen shows them; a group means the tasks of that state in that folder.
    case rows([RowID])
    case matching(NodeSelector)
}

extension EngineConnection {
    /// Pauses. Each result is durable when this returns; so for all of these.
    public nonisolated func pause(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await change(nodes, .pause).results
    }

    /// Takes back a pause, and starts held batches.
    public nonisolated func resume(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await change(nodes, .resume).results
    }

    /// Cancels what is not over. Nothing of the user's is removed.
    public nonisolated func cancel(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await change(nodes, .cancel).results
    }

    /// A new run of what failed or was cancelled; what waits tries again now.
    public nonisolated func retry(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await change(nodes, .retry).results
    }

    /// Takes back the last change, of these nodes or (`nil`) of any, within its grace time.
    public nonisolated func undo(_ nodes: NodeChoice? = nil) async throws(RequestError) -> [NodeResult] {
        try await takeBack(nodes.map { .nodes($0) } ?? .last).results
    }

    /// Forgets what is over: rows, events, secrets; never a file.
    public nonisolated func purge(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await change(nodes, .purge).results
    }

    /// Forgets every batch that is over.
    public nonisolated func purgeFinished() async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesPurge, NodesRequest()).results
    }

    /// The reasons why a node, or (`nil`) anything, does not move. Empty: nothing waits.
    public nonisolated func why(_ id: NodeID? = nil) async throws(RequestError) -> [WhyAnswer] {
        try await call(Methods.why, WhyRequest(id: id)).answers
    }
}

extension NodeChoice {
    var request: NodesRequest {
        switch self {
        case .ids(let ids): NodesRequest(ids: ids)
        case .rows(let rows): NodesRequest(rows: rows)
        case .matching(let selector): NodesRequest(selector: selector)
        }
    }
}
