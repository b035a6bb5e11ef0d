import SQLiteConnection
import TransferModel

/// Cancels nodes. `UndoStore` takes it back.
struct CancelStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let sets: TaskSets
    let attempts: AttemptStore
    let finder: NodeFinder
    let undoLog: UndoLog
    let looks: LastLookStore
    let walks: WalkStore

    /// - Parameter joining: this is more of the last cancel, to be taken back with it.
    func cancel(_ nodes: [NodeID], joining: Int64? = nil) throws -> NodeChange {
        let now = clock()
        let page = try undoLog.page(joining: joining)
        return try finder.forEach(nodes) { node, target, nodeChange in
            let first = queue.numbers.event
            let batch: BatchID
            let result: NodeResult
            var before = UndoBefore()
            before.walks = UndoBefore.Was<Int64>(nil)
            switch target {
            case .batch(let id, let root):
                batch = id
                try undoLog.rememberTimes(.folder(root), page)
                result = try cancel(node, id, root, isWhole: true, page, at: now, &before, &nodeChange)
            case .folder(let id, let folder, _):
                batch = id
                try undoLog.rememberTimes(.folder(folder), page)
                result = try cancel(node, id, folder, isWhole: false, page, at: now, &before, &nodeChange)
            case .task(let row):
                batch = row.batch
                try undoLog.rememberTimes(.tasks([row.id]), page)
                result = try cancel(node, row, at: now, &nodeChange)
            }
            if result.result == .done {
                // The grace time begins when it is done: a million files take seconds.
                try undoLog.note(
                    .cancel, node, batch: batch, before, events: (first, queue.numbers.event - 1), page: page)
            }
            return result
        }.asOperation(page.operation)
    }

    private func cancel(
        _ node: NodeID, _ batch: BatchID, _ top: Int64, isWhole: Bool, _ page: ChangePage, at now: Timestamp,
        _ before: inout UndoBefore, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        // Who cancels a batch as a whole does not ask any more whether it has arrived.
        let endsLooks = try isWhole && looks.dropLastLooks(batch)
        if try finder.isOver(folder: top, in: batch) {
            if endsLooks { return NodeResult(id: node, result: .done) }
            let isCancelled = try database.integer("SELECT completed + failed FROM folders WHERE id = ?", .integer(top))
            return isCancelled == 0
                ? NodeResult(id: node, result: .already)
                : finder.refused(node, "\(node) is over: nothing is left to cancel")
        }
        let folders = try sets.subtree(of: top)
        let claimed = try sets.claimed(in: Set(folders))
        var files = Int64(claimed.count)
        for row in claimed {
            try attempts.stop(row, as: .cancelled, .cancelled, &nodeChange)
            try queue.appendEvent(.taskCancelled, batch: batch, task: row.id, at: now)
        }
        for old in try sets.claimed(in: Set(folders), publishing: true) {
            var row = old
            row.flags.insert(.cancelled)
            try tasks.save(row, was: old)
            try database.run(
                "INSERT OR IGNORE INTO undo_tasks (page, task, lane) VALUES (?, ?, ?)", .integer(page.number),
                .integer(row.id.rawValue), .integer(row.lane))
        }
        let events = """
            INSERT INTO events (seq, at, type, batch, task) SELECT row_number() OVER () + ?2, ?3, \(event: .taskCancelled), ?4, id
            FROM tasks WHERE folder = ?1 AND state IN (\(states: [.queued, .waiting, .paused]))
            """
        // What was active is stopped by now, or getting its final name.
        for folder in try sets.withTasks(folders, states: [.queued, .waiting, .paused]) {
            try database.run(
                events, .integer(folder), .integer(queue.numbers.event - 1), .integer(now.milliseconds),
                .integer(batch.rawValue))
            queue.numbers.event += database.changes
            files += database.changes
            try sets.move(
                .directly(in: folder, states: [.queued, .waiting, .paused]), to: "\(state: .cancelled)",
                also: "claimed = 0, finished_at = ?9", at: now)
        }
        queue.change.lastEvent = EventSequence(rawValue: queue.numbers.event - 1)
        before.walks = UndoBefore.Was(try walks.stopWalks(batch, below: isWhole ? nil : top))
        sets.noteMoves(in: batch)
        var result = NodeResult(id: node, result: .done)
        result.files = files
        return result
    }

    private func cancel(
        _ node: NodeID, _ old: TaskRow, at now: Timestamp, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if old.state == .cancelled { return NodeResult(id: node, result: .already) }
        if old.state.isTerminal { return finder.refused(node, "\(node) is over: nothing is left to cancel") }
        if old.flags.contains(.publishing) { return finder.tooLate(node) }
        if old.claimed {
            try attempts.stop(old, as: .cancelled, .cancelled, &nodeChange)
        } else {
            var row = old
            let oldDetails = try tasks.details(row)
            var details = oldDetails
            details.clearWait()
            row.state = .cancelled
            row.finishedAt = now.milliseconds
            try tasks.save(&row, was: old, details, was: oldDetails)
        }
        try queue.appendEvent(.taskCancelled, batch: old.batch, task: old.id, at: now)
        var result = NodeResult(id: node, result: .done)
        result.files = 1
        return result
    }
}
