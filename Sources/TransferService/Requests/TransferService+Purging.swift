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
            // A single task is forgotten at once, for good: what it has left goes first, because afterwards nobody would know of it.
            let cleared = try await engine.clearRemains(of: nodes, in: queue)
            let kept = nodes.compactMap { stillThere($0, cleared.kept) }
            let keptNodes = Set(kept.map(\.id))
            let purged = nodes.filter { !keptNodes.contains($0) }
            var change =
                purged.isEmpty
                ? NodeChange() : try await writer.purge(purged, joining: operation, bare: cleared.bare)
            operation = operation ?? change.operation
            change.results += kept
            return change
        }
    }

    private func stillThere(_ node: NodeID, _ kept: [TaskID: TransferError]) -> NodeResult? {
        guard case .task(let task) = node, let error = kept[task] else { return nil }
        return NodeResult(
            id: node, result: .refused, code: .refused,
            message: "what \(task) left is still there (\(error.message)): purge it again later, "
                + "or let it lie with 'martlet leftovers abort --forget \(task)'")
    }
}
