package import TransferModel
package import TransferQueue

extension TransferQueue {
    /// Remains of transfers that are over: uploads at servers, downloads here.
    package func leftBehind() async throws -> [Remains] {
        var found: [Remains] = []
        for direction in [TransferDirection.upload, .download] {
            var last = TaskID(rawValue: 0)
            while true {
                let page = try await writer.remains(of: direction, in: Remains.over, after: last, limit: 500)
                found += page.filter(\.isThere)
                guard page.count == 500, let end = page.last?.task.id else { break }
                last = end
            }
        }
        return found
    }
}

extension EngineControl {
    /// Takes away what single tasks among some nodes have left, at servers and here, before they are purged: a task's resume point alone
    /// names it. What the queue would refuse to forget keeps all that it has left, and what is known of a final name stays known until the
    /// task is forgotten.
    package func clearRemains(of nodes: [NodeID], in queue: TransferQueue) async throws -> ClearedRemains {
        var cleared = ClearedRemains()
        for remains in try await queue.writer.remains(of: queue.writer.purgeable(nodes).sorted()) {
            let task = remains.task.id
            if !remains.isThere {
                cleared.bare[task] = remains.task.resumePoint
            } else if let error = await remove(remains, for: .purgeOfTask) {
                cleared.kept[task] = error
            } else {
                cleared.bare[task] = remains.knowledge
            }
        }
        return cleared
    }
}

/// The outcome of taking away what tasks have left that are to be purged.
package struct ClearedRemains: Sendable {
    /// Tasks of which something is still there, and why.
    package var kept: [TaskID: TransferError] = [:]
    /// Resume points that name nothing that is left, for `QueueWriter.purge`.
    package var bare: [TaskID: [UInt8]] = [:]
}

extension Remains {
    /// The states of transfers that go on with nothing any more. One that is completed has left what its server did not remove.
    package static let over: [TransferState] = [.completed, .failed, .cancelled]

    /// False when the resume point of an upload names nothing at its server.
    var isThere: Bool {
        if case .download = task.work { return true }
        return protocolName != nil
    }
}
