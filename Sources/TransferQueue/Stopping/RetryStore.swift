import SQLiteConnection
import TransferModel

/// New runs of what is over, and new tries of what waits.
struct RetryStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let sets: TaskSets
    let finder: NodeFinder
    let walks: WalkStore
    let looks: LastLookStore
    let purging: PurgingStore

    /// Retries nodes: of a batch or folder everything that failed or waits; cancelled tasks only when every task there is over and none
    /// failed, because a person who cancelled some files and retries the failed ones, twice perhaps, does not want them back. A listing
    /// goes on that a cancel of the node itself stopped: nobody has looked at the rest, so nobody gave it up by name. What other cancels
    /// stopped goes on with the cancelled tasks.
    func retry(_ nodes: [NodeID]) throws -> NodeChange {
        try finder.forEach(nodes) { node, target, nodeChange in
            switch target {
            case .batch(let batch, let root): try retry(node, batch, root, isWhole: true, &nodeChange)
            case .folder(let batch, let folder, _): try retry(node, batch, folder, isWhole: false, &nodeChange)
            case .task(let row): try retry(node, row, &nodeChange)
            }
        }
    }

    private func retry(
        _ node: NodeID, _ batch: BatchID, _ top: Int64, isWhole: Bool, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        let folders = try sets.subtree(of: top)
        var count: Int64 = 0
        for folder in try sets.withTasks(folders, states: [.waiting, .failed]) {
            count += try retry(folder, states: [.waiting, .failed])
        }
        for folder in try sets.withTasks(folders, states: [.failed]) {
            for task in try unlistedDirectories(in: folder) where try listAgain(task) {
                count += 1
                nodeChange.walked.insert(batch)
            }
        }
        if count == 0 {
            guard try finder.areTasksOver(below: top) else { return NodeResult(id: node, result: .already) }
            for folder in try sets.withTasks(folders, states: [.cancelled]) {
                count += try retry(folder, states: [.cancelled])
            }
            if try walks.takeUpWalks(batch, below: top, isWhole: isWhole) {
                count += 1
                nodeChange.walked.insert(batch)
            }
        } else {
            for mark in try walks.marksOfCancels(of: batch, folder: isWhole ? nil : top)
            where try walks.takeUpWalks(batch, below: top, isWhole: isWhole, mark: mark) {
                nodeChange.walked.insert(batch)
            }
        }
        if count == 0 {
            let isOver = try finder.isOver(folder: top, in: batch)
            return isOver
                ? finder.refused(node, "nothing of \(node) failed or was cancelled")
                : NodeResult(id: node, result: .already)
        }
        // A cancel of the whole batch had taken its looks away.
        if isWhole { try looks.takeUpLastLooks(batch) }
        sets.noteMoves(in: batch)
        try tellRetry(batch, nil)
        return NodeResult(id: node, result: .done)
    }

    /// Tasks that wait for a time that a person has named: only who names them one by one ends that.
    private static let timed =
        "EXISTS (SELECT 1 FROM task_details d WHERE d.task = tasks.id AND d.wait & \(WaitReasons(.notBefore).rawValue))"

    /// Tasks directly in a folder.
    private func retry(_ folder: Int64, states: [TransferState]) throws -> Int64 {
        // A directory that could not be listed is no file to send.
        let selection = TaskSets.Selection.directly(
            in: folder, states: states,
            and: "flags & \(flags: .directory) = 0 AND NOT (state = \(state: .waiting) AND \(Self.timed))")
        func of(_ cause: TransferErrorCode) -> String {
            "\(selection.condition) AND EXISTS (SELECT 1 FROM task_details d WHERE d.task = tasks.id AND d.cause = \(cause: cause))"
        }
        try database.run(
            """
            UPDATE task_details SET first_tried_at = ifnull(first_tried_at, (SELECT begun_at FROM tasks WHERE id = task))
            WHERE task IN (SELECT id FROM tasks WHERE \(of(.destinationExists)))
            """, .integer(folder))
        // An attempt that found another file there has put none: what is there now is not in question.
        try database.run("UPDATE tasks SET begun_at = NULL WHERE \(of(.destinationExists))", .integer(folder))
        // A person's retry means the file as it is now.
        try database.run(
            "UPDATE tasks SET mtime = NULL, inode = NULL WHERE \(of(.sourceChanged))", .integer(folder))
        try database.run(
            """
            UPDATE task_details SET cause = NULL, error = NULL, failures = 0, furthest = 0, said = NULL, wait = 0, wait_since = NULL,
            retry_at = NULL, patience_since = ?2 WHERE task IN (SELECT id FROM tasks WHERE \(selection.condition))
            """, .integer(folder), .integer(clock().milliseconds))
        let isPaused = try paths.isPaused(folder)
        return try sets.move(
            selection, to: isPaused ? "\(state: .paused)" : TransferState.queuedOrPausedSQL,
            also: "finished_at = NULL, run = run + (state >= \(state: .completed))")
    }

    private func retry(_ node: NodeID, _ old: TaskRow, _ nodeChange: inout NodeChange) throws -> NodeResult {
        switch old.state {
        case .failed where old.flags.contains(.directory):
            guard try listAgain(old) else {
                return finder.refused(node, "this directory cannot be listed again here: queue it again")
            }
            nodeChange.walked.insert(old.batch)
            try tellRetry(old.batch, nil)
            return NodeResult(id: node, result: .done)
        case .failed, .cancelled, .waiting: break
        case .completed: return finder.refused(node, "\(node) is completed: queue the file again to send it again")
        case .created, .queued, .running, .finishing, .paused: return NodeResult(id: node, result: .already)
        }
        var row = old
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        switch details.cause {
        case .destinationExists: details.forgetReach(of: &row)
        case .sourceChanged:
            try database.run("UPDATE tasks SET mtime = NULL, inode = NULL WHERE id = ?", .integer(row.id.rawValue))
        default: break
        }
        details.beginRun(at: clock())
        if row.state.isTerminal { row.run += 1 }
        row.finishedAt = nil
        row.state = try row.flags.contains(.paused) || paths.isPaused(row.folder) ? .paused : .queued
        try tasks.save(&row, was: old, details, was: oldDetails)
        try tellRetry(row.batch, row.id)
        return NodeResult(id: node, result: .done)
    }

    // MARK: Directories that could not be read

    /// The failed tasks directly in a folder that stand for directories.
    private func unlistedDirectories(in folder: Int64) throws -> [TaskRow] {
        let found = try database.rows(
            "SELECT id FROM tasks INDEXED BY tasks_unlisted WHERE folder = ? AND state = \(state: .failed) AND flags & \(flags: .directory)",
            .integer(folder)
        ) { TaskID(rawValue: $0.integer(0)) }
        return try found.compactMap { try tasks.task($0) }
    }

    /// The directory is walked anew, and the task that stood for it is no more: what is found is what there is. Not where its walk was
    /// cancelled.
    private func listAgain(_ failure: TaskRow) throws -> Bool {
        let found = try database.first(
            """
            WITH RECURSIVE above (id, parent, source, start) AS (
                SELECT id, parent, source, id FROM folders WHERE batch = ?1 AND walk IS NULL
                    AND (parent = ?2 AND name = (SELECT name FROM tasks WHERE id = ?3) OR parent IS NULL AND id = ?2 AND source IS NOT NULL)
                UNION ALL
                SELECT f.id, f.parent, f.source, start FROM above JOIN folders f ON f.id = above.parent WHERE above.source IS NULL
            )
            SELECT start, s.id FROM above JOIN sources s ON s.id = above.source WHERE s.progress <= \(progress: .done)
            ORDER BY start = ?2 LIMIT 1
            """, .integer(failure.batch.rawValue), .integer(failure.folder), .integer(failure.id.rawValue)
        ) { (folder: $0.integer(0), source: $0.integer(1)) }
        guard let found else { return false }
        try purging.forget(failure)
        queue.notes.walkedHere.remove(found.folder)
        try database.run(
            "UPDATE folders SET begun = 1, walk = ? WHERE id = ?", .integer(found.source), .integer(found.folder))
        try database.run("UPDATE sources SET progress = \(progress: .walking) WHERE id = ?", .integer(found.source))
        try database.run(
            "UPDATE batches SET scanning = 1 WHERE id = ?", .integer(failure.batch.rawValue))
        queue.touched.insert(failure.batch)
        return true
    }

    private func tellRetry(_ batch: BatchID, _ task: TaskID?) throws {
        var payload = EventPayload()
        payload.message = "tried again"
        try queue.appendEvent(.resumed, batch: batch, task: task, payload: payload)
    }
}
