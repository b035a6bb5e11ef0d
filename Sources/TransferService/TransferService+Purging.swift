import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Forgetting what is over. What its uploads have left at servers is taken away first: afterwards nobody would know of it.
extension TransferService {
    /// Without any node: every batch that is over.
    func purge(_ request: NodesRequest) async throws -> NodeResults {
        guard request == NodesRequest() else { return try await purgeNamed(request) }
        let left = Set(try await queue.unfinishedUploads().map(\.task.batch)).sorted()
        let kept = try await clearRemains(of: left.map { .batch($0) })
        let keptBatches = left.filter { kept[.batch($0)] != nil }
        var results = NodeResults(results: [])
        try await take(try await queue.writer.purgeFinished(except: Set(keptBatches)), &results)
        results.results += keptBatches.compactMap { kept[.batch($0)] }
        await engine.queueChanged()
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

    /// Takes away what uploads of these nodes have left; gives back the nodes of which something is still there, and why.
    private func clearRemains(of nodes: [NodeID]) async throws -> [NodeID: NodeResult] {
        let left = try await queue.unfinishedUploads()
        if left.isEmpty { return [:] }
        var kept: [NodeID: NodeResult] = [:]
        for node in nodes {
            for remains in try await ofWorkThatIsOver(left, in: node) {
                guard let error = await engine.remove(remains) else { continue }
                let task = remains.task.id
                kept[node] = NodeResult(
                    id: node, result: .refused, code: .refused,
                    message: "what \(task) left at its server is still there (\(error.message)): purge it again later, "
                        + "or let it lie with 'martlet leftovers abort --forget \(task)'")
                break
            }
        }
        return kept
    }

    private func ofWorkThatIsOver(_ left: [Remains], in node: NodeID) async throws -> [Remains] {
        switch node {
        case .batch(let batch):
            let own = left.filter { $0.task.batch == batch }
            if own.isEmpty { return [] }
            let isOver = try await queue.reader.batch(batch)?.state.isTerminal == true
            return isOver ? own : []
        case .task(let task): return left.filter { $0.task.id == task }
        case .folder: return []
        }
    }
}

extension TransferQueue {
    /// What uploads that are over have left at servers.
    func unfinishedUploads() async throws -> [Remains] {
        var found: [Remains] = []
        var last = TaskID(rawValue: 0)
        while true {
            let page = try await writer.remains(in: [.failed, .cancelled], after: last, limit: 500)
            found += page.filter { $0.protocolName != nil }
            guard page.count == 500, let end = page.last?.task.id else { return found }
            last = end
        }
    }
}
