import SQLiteConnection
import TransferModel

/// New runs of what is over, and new tries of what waits.
extension QueueStore {
    /// Of a batch or folder: everything that failed or waits; what was cancelled only when there is nothing of these, because
    /// a person who cancelled some files and retries the failed ones does not want them back.
    func retry(_ nodes: [NodeID]) throws -> NodeChange {
        try forEach(nodes) { node, target, _ in
            switch target {
            case .batch(let batch, let root): try retry(node, batch, root)
            case .folder(let batch, let folder, _): try retry(node, batch, folder)
            case .task(let row): try retry(node, row)
            }
        }
    }

    private func retry(_ node: NodeID, _ batch: BatchID, _ top: Int64) throws -> NodeResult {
        try writeCounters()
        let folders = try subtree(of: top)
        var count: Int64 = 0
        for states in ["2, 7", "8"] where count == 0 {
            for folder in try withTasks(folders, states: states) { count += try retry(folder, states: states) }
        }
        if count == 0 {
            let isOver = try isOver(folder: top, in: batch)
            return isOver
                ? refused(node, "nothing of \(node) failed or was cancelled") : NodeResult(id: node, result: .already)
        }
        try settleSets(batch)
        try tellRetry(batch, nil)
        return NodeResult(id: node, result: .done)
    }

    /// Tasks directly in a folder.
    private func retry(_ folder: Int64, states: String) throws -> Int64 {
        // A directory that could not be listed is no file to send.
        let selection = Selection.directly(in: folder, states: states, and: "flags & 16 = 0")
        // An attempt that found another file there has put none: what is there now is not in question.
        try database.run(
            """
            UPDATE tasks SET begun_at = NULL WHERE \(selection.condition)
            AND id IN (SELECT task FROM task_details WHERE cause = \(TransferErrorCode.destinationExists.stored))
            """, .integer(folder))
        try database.run(
            """
            UPDATE task_details SET cause = NULL, error = NULL, failures = 0, said = NULL, wait = 0, wait_since = NULL,
            retry_at = NULL WHERE task IN (SELECT id FROM tasks WHERE \(selection.condition))
            """, .integer(folder))
        let isPaused = try paths.isPaused(folder)
        return try move(
            selection, to: isPaused ? "5" : "CASE WHEN flags & 1 THEN 5 ELSE 1 END",
            also: "finished_at = NULL, run = run + (state > 5)")
    }

    private func retry(_ node: NodeID, _ old: TaskRow) throws -> NodeResult {
        switch old.state {
        case .failed where old.flags.contains(.directory):
            return refused(
                node, "this directory could not be read when it was listed: make it readable and queue it again")
        case .failed, .cancelled, .waiting: break
        case .completed: return refused(node, "\(node) is completed: queue the file again to send it again")
        case .created, .queued, .running, .finishing, .paused: return NodeResult(id: node, result: .already)
        }
        var row = old
        let oldDetails = try details(row)
        var details = oldDetails
        if details.cause == .destinationExists { row.begunAt = nil }
        details.beginRun()
        if row.state.isTerminal { row.run += 1 }
        row.finishedAt = nil
        row.state = try row.flags.contains(.paused) || paths.isPaused(row.folder) ? .paused : .queued
        try save(&row, was: old, details, was: oldDetails)
        try tellRetry(row.batch, row.id)
        return NodeResult(id: node, result: .done)
    }

    private func tellRetry(_ batch: BatchID, _ task: TaskID?) throws {
        var payload = EventPayload()
        payload.message = "tried again"
        try append(.resumed, batch: batch, task: task, payload: payload)
    }
}
