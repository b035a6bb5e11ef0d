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
        try await take(try await queue.writer.purgeFinished(), &results)
        await engine.queueChanged()
        return results
    }

    /// Into the history. Without any node: every batch that is over.
    func clear(_ request: NodesRequest) async throws -> NodeResults {
        guard request == NodesRequest() else {
            return try await changeTogether(request) { try await $0.clear($1, joining: $2) }
        }
        var results = NodeResults(results: [])
        try await take(try await queue.writer.clearFinished(), &results)
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
        if tasks.isEmpty { return [:] }
        var kept: [NodeID: NodeResult] = [:]
        for remains in try await queue.leftBehind() where tasks.contains(remains.task.id) {
            guard let error = await engine.remove(remains) else { continue }
            let task = remains.task.id
            kept[.task(task)] = NodeResult(
                id: .task(task), result: .refused, code: .refused,
                message: "what \(task) left is still there (\(error.message)): purge it again later, "
                    + "or let it lie with 'martlet leftovers abort --forget \(task)'")
        }
        return kept
    }
}

extension TransferQueue {
    /// Remains of transfers that are over: uploads at servers, downloads here.
    func leftBehind() async throws -> [Remains] {
        var found: [Remains] = []
        for direction in [TransferDirection.upload, .download] {
            var last = TaskID(rawValue: 0)
            while true {
                let page = try await writer.remains(of: direction, in: [.failed, .cancelled], after: last, limit: 500)
                found += page.filter { direction == .download || $0.protocolName != nil }
                guard page.count == 500, let end = page.last?.task.id else { break }
                last = end
            }
        }
        return found
    }
}
