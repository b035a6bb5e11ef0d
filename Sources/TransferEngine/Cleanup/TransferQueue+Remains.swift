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
    /// Takes away what single tasks that are over have left, at servers and here. The queue forgets such a task only afterwards, because
    /// its resume point alone names what is left.
    /// - Returns: the tasks of which something is still there, and why.
    package func clearRemains(
        of tasks: Set<TaskID>, in queue: TransferQueue
    ) async throws -> [TaskID: TransferError] {
        var kept: [TaskID: TransferError] = [:]
        for remains in try await queue.writer.remains(of: tasks.sorted()) {
            let task = remains.task.id
            if remains.isThere {
                kept[task] = await remove(remains, for: .purge)
            } else {
                try await queue.writer.forget(remains)
            }
        }
        return kept
    }
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
