import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Forgetting what is over. What transfers have left is taken away when that cannot be taken back any more, by the engine: an
/// undone purge leaves failed uploads where they stood.
extension TransferService {
    /// Without any node: every batch that is over.
    func purge(_ request: NodesRequest) async throws -> NodeResults {
        guard request == NodesRequest() else { return try await purgeNamed(request) }
        var results = NodeResults(results: [])
        try await carryOut(try await queue.writer.purgeFinished(), into: &results)
        await engine.queueChanged()
        return results
    }

    /// Into the history. Without any node: every batch that is over.
    func clear(_ request: NodesRequest) async throws -> NodeResults {
        guard request == NodesRequest() else {
            return try await changeTogether(request) { try await $0.clear($1, joining: $2) }
        }
        var results = NodeResults(results: [])
        try await carryOut(try await queue.writer.clearFinished(), into: &results)
        return results
    }

    /// Several pages are one operation, which begins with the first that forgets anything.
    private func purgeNamed(_ request: NodesRequest) async throws -> NodeResults {
        var operation: Int64?
        return try await change(request) { writer, nodes in
            let kept = try await clearRemains(of: nodes)
            let cleared = nodes.filter { kept[$0] == nil }
            var change = cleared.isEmpty ? NodeChange() : try await writer.purge(cleared, joining: operation)
            operation = operation ?? change.operation
            change.results += nodes.compactMap { kept[$0] }
            return change
        }
    }

    /// A single task is forgotten at once, for good: what it has left is taken away first, because afterwards nobody would know of it.
    /// Gives back the tasks of which something is still there, and why.
    private func clearRemains(of nodes: [NodeID]) async throws -> [NodeID: NodeResult] {
        let tasks = Set(nodes.compactMap { if case .task(let task) = $0 { task } else { nil } })
        var kept: [NodeID: NodeResult] = [:]
        for (task, error) in try await engine.clearRemains(of: tasks, in: queue) {
            kept[.task(task)] = NodeResult(
                id: .task(task), result: .refused, code: .refused,
                message: "what \(task) left is still there (\(error.message)): purge it again later, "
                    + "or let it lie with 'martlet leftovers abort --forget \(task)'")
        }
        return kept
    }
}
