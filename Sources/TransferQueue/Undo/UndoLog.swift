import SQLiteConnection
import TransferModel

/// A page of a change: all that is done of it in one transaction.
struct ChangePage {
    /// Name of the change, the same for all of its pages. Others may have changed something between these: it is no order.
    let operation: Int64
    /// Counts up from page to page, whatever changes they are of: the order in which they were done.
    let number: Int64
}

/// One node's part of a change.
struct UndoneStep {
    let row: Int64
    let page: ChangePage
    let node: NodeID?
    let batch: BatchID
    let events: (Int64, Int64)
    let deed: UndoneDeed
    /// The state before a change of no batch. Of the others it is empty until `UndoLog.before(_:)` reads it: it may be much, and few are taken
    /// back.
    var before: UndoBefore
    let at: Timestamp
    /// The grace time is over: what had arrived in part is gone, and files begin anew.
    let isLate: Bool
    /// It is too long ago to be taken back.
    let isOver: Bool

    /// The name of its change.
    var operation: Int64 { page.operation }
}

/// The changes that can be undone: what was so before each of them.
final class UndoLog: QueueSubject {
    let queue: QueueConnection
    private let sets: TaskSets
    /// Time during which a change can be undone.
    var graceTime: Duration = .seconds(10)
    var bounds = UndoBounds()

    init(_ queue: QueueConnection, sets: TaskSets) {
        self.queue = queue
        self.sets = sets
    }

    /// The first page of a change that begins, or the next one of a change that goes on. No number is given twice: a screen may offer to take
    /// back the change that it knows by its number, whatever others did meanwhile.
    func page(joining: Int64? = nil) throws -> ChangePage {
        defer { queue.numbers.operation += 1 }
        let page = ChangePage(operation: joining ?? queue.numbers.operation, number: queue.numbers.operation)
        if joining == nil { try forgetOld() }
        try bounds.keep(page, in: database)
        return page
    }

    private func forgetOld() throws {
        // What is long past the grace time is of no use to anyone.
        let now = clock()
        let last = now.advanced(by: .zero - max(graceTime, .seconds(3600)))
        try database.run(
            "DELETE FROM undo WHERE at < ? AND (kind <> ? OR at < ?)", .integer(last.milliseconds),
            .integer(UndoneDeed.cancel.stored), .integer(endOfLateUndo(now).milliseconds))
        // The newest parts are remembered, and those of one change all or none.
        let oldest = try database.integer(
            "SELECT page FROM undo ORDER BY rowid DESC LIMIT 1 OFFSET ?", .integer(Self.mostSteps))
        if let oldest { try UndoBounds.forgetChanges(before: oldest, in: database) }
        try UndoBounds.forgetTasks(in: database)
    }

    static let mostSteps: Int64 = 100_000

    /// Writes down what was so before a change of one node, or of none. The grace time begins now.
    func note(
        _ deed: UndoneDeed, _ node: NodeID?, batch: BatchID?, _ before: UndoBefore = UndoBefore(),
        events: (Int64, Int64) = (0, 0), page: ChangePage
    ) throws {
        let before = try StoredJSON.text(before)
        try database.run(
            """
            INSERT INTO undo (operation, page, node, batch, at, first_event, last_event, kind, before)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(page.operation), .integer(page.number), .text(try node.map { try StoredJSON.text($0) } ?? ""),
            .integer(batch?.rawValue ?? 0), .integer(clock().milliseconds), .integer(events.0), .integer(events.1),
            .integer(deed.stored), .text(before))
        bounds.add(bytes: before.utf8.count)
    }

    /// Writes down where tasks stand.
    func remember(_ unit: TaskSets.Unit, _ page: ChangePage) throws {
        // A row that another part of the change has noted is older. One of the batch has noted the time alone.
        func insert(_ place: String) -> String {
            """
            INSERT INTO undo_tasks (page, task, lane, rank) SELECT ?1, id, lane, rank FROM tasks WHERE \(place)
            ON CONFLICT (page, task) DO UPDATE SET lane = excluded.lane, rank = excluded.rank WHERE undo_tasks.lane = 0
            """
        }
        switch unit {
        case .tasks(let ids):
            for id in ids { try database.run(insert("id = ?2"), .integer(page.number), .integer(id.rawValue)) }
            bounds.add(tasks: Int64(ids.count))
        case .folder(let top):
            let place = "folder = ?2 AND state < \(state: .completed)"
            for folder in try sets.subtree(of: top) {
                try database.run(insert(place), .integer(page.number), .integer(folder))
                bounds.add(tasks: database.changes)
            }
        }
    }

    /// Writes down the times that tasks have of their own, which a cancel or a run-now takes away.
    func rememberTimes(_ unit: TaskSets.Unit, _ page: ChangePage) throws {
        // It moves nothing: no lane. Where the same change moves them, too, that is known already.
        func remember(_ place: String) -> String {
            """
            INSERT INTO undo_tasks (page, task, lane, not_before) SELECT ?1, t.id, 0, d.retry_at
            FROM tasks t CROSS JOIN task_details d ON d.task = t.id WHERE \(place) AND d.wait & ?2
            ON CONFLICT (page, task) DO UPDATE SET not_before = excluded.not_before
            """
        }
        let reason = SQLiteValue.integer(Int64(WaitReasons(.notBefore).rawValue))
        switch unit {
        case .tasks(let ids):
            for id in ids {
                try database.run(remember("t.id = ?3"), .integer(page.number), reason, .integer(id.rawValue))
            }
        case .folder(let top):
            try database.run(
                remember("t.folder IN (\(TaskSets.below("?3"))) AND t.state IN (\(states: [.waiting, .paused]))"),
                .integer(page.number), reason, .integer(top))
        }
    }

    /// Writes down the time that a task would have if a run-now or a cancel, which stands, had not taken it.
    func note(time: Int64?, of task: TaskID, takenBy page: ChangePage) throws {
        try database.run(
            """
            INSERT INTO undo_tasks (page, task, lane, not_before) VALUES (?, ?, 0, ?)
            ON CONFLICT (page, task) DO UPDATE SET not_before = excluded.not_before
            """, .integer(page.number), .integer(task.rawValue), SQLiteValue(time))
    }

    /// The time before which changes can no longer be undone.
    func endOfUndo(_ now: Timestamp) -> Timestamp { now.advanced(by: .zero - graceTime) }

    /// The batches of which a cancel can still be taken back with all that had arrived, and until when that is so. The files of a cancel ended
    /// when it began, and of a million files that is seconds before it was done.
    func endsOfCancels(_ now: Timestamp) throws -> [BatchID: Timestamp] {
        let recent = try database.rows(
            "SELECT batch, max(at) FROM undo WHERE kind = ? AND at > ? GROUP BY batch",
            .integer(UndoneDeed.cancel.stored), .integer(endOfUndo(now).milliseconds)
        ) { row in
            let at = min(Timestamp(milliseconds: row.integer(1)), now)
            return (BatchID(rawValue: row.integer(0)), at.advanced(by: graceTime))
        }
        // Damaged rows of two batches may read as one.
        return Dictionary(recent, uniquingKeysWith: max)
    }

    /// The time before which a cancel can no longer be undone, not even with its files starting over.
    private func endOfLateUndo(_ now: Timestamp) -> Timestamp {
        now.advanced(by: .zero - max(graceTime, .seconds(86_400)))
    }

    /// The state before a step.
    func before(_ step: UndoneStep) throws -> UndoBefore {
        let stored = try database.first("SELECT before FROM undo WHERE rowid = ?", .integer(step.row)) { row in
            StoredJSON.value(UndoBefore.self, row.optionalText(0))
        }
        var before = stored.flatMap(\.self) ?? UndoBefore()
        before.complete(for: step.deed)
        return before
    }

    /// Writes down what was before a step that inherits.
    func set(_ before: UndoBefore, of row: Int64) throws {
        let text = try StoredJSON.text(before)
        try database.run("UPDATE undo SET before = ? WHERE rowid = ?", .text(text), .integer(row))
        bounds.add(bytes: text.utf8.count)
    }

    /// The order of batches before a change: one of its steps has it.
    func positions(before operation: Int64) throws -> [[Int64]]? {
        try database.first(
            "SELECT before FROM undo WHERE operation = ? AND before LIKE '%\"positions\"%' ORDER BY rowid LIMIT 1",
            .integer(operation)
        ) { row in
            StoredJSON.value(UndoBefore.self, row.optionalText(0))?.positions
        }.flatMap(\.self)
    }

    /// All changes that are known, the last one first.
    func steps(now: Timestamp) throws -> [UndoneStep] {
        let (end, lateEnd) = (endOfUndo(now), endOfLateUndo(now))
        return try database.rows(
            """
            SELECT rowid, operation, node, batch, first_event, last_event, kind, CASE WHEN batch = 0 THEN before END, at, page
            FROM undo ORDER BY rowid DESC
            """
        ) { row -> UndoneStep? in
            guard let deed = UndoneDeed(stored: row.integer(6)) else { return nil }
            let at = Timestamp(milliseconds: row.integer(8))
            return UndoneStep(
                row: row.integer(0), page: ChangePage(operation: row.integer(1), number: row.integer(9)),
                node: StoredJSON.value(NodeID.self, row.text(2)),
                batch: BatchID(rawValue: row.integer(3)), events: (row.integer(4), row.integer(5)), deed: deed,
                before: StoredJSON.value(UndoBefore.self, row.optionalText(7)) ?? UndoBefore(), at: at,
                isLate: at < end, isOver: at < end && (deed != .cancel || at < lateEnd))
        }.compactMap { $0 }
    }

    /// Changes that can be undone, the last one first.
    func undoSteps(now: Timestamp) throws -> [UndoStep] {
        var found: [UndoStep] = []
        var places: [Int64: Int] = [:]
        var names: [BatchID: String?] = [:]
        for step in try steps(now: now) where !step.isOver {
            let name =
                try names[step.batch]
                ?? database.first("SELECT name FROM batches WHERE id = ?", .integer(step.batch.rawValue)) { $0.text(0) }
            names[step.batch] = .some(name)
            // Its batch was forgotten.
            if step.batch.rawValue != 0, name == nil { continue }
            if let place = places[step.operation] {
                found[place].nodes += 1
                continue
            }
            places[step.operation] = found.count
            found.append(
                UndoStep(
                    operation: step.operation, deed: step.deed, at: step.at, node: step.node,
                    name: name ?? step.before.scope ?? "the engine",
                    startsAgain: step.isLate))
        }
        return found
    }

    // MARK: Where tasks stand

    /// Puts the places or the lanes of tasks back that a change has moved. What a later change has moved since stays, and that one brings what
    /// was before both. What is put back is no part of the change any more.
    func putBack(_ step: UndoneStep, _ records: UndoRecords?) throws {
        guard let records else { return }
        let (column, kinds) = (step.deed.columnOfTasks, step.deed.sameOfTasks.map { String($0.stored) })
        let later = """
            (SELECT min(n.page) FROM undo_tasks n INDEXED BY undo_tasks_of_task
            WHERE n.task = u.task AND n.page > u.page AND n.lane <> 0 AND EXISTS (SELECT 1 FROM undo o INDEXED BY undo_of_page
            WHERE o.page = n.page AND o.kind IN (\(kinds.joined(separator: ", ")))))
            """
        let moved = "lane <> 0 AND \(records.condition)"
        let own = "(SELECT * FROM undo_tasks WHERE \(moved)) u"
        try database.run(
            """
            UPDATE undo_tasks SET \(column) = u.\(column) FROM \(own)
            WHERE undo_tasks.task = u.task AND undo_tasks.page = \(later)
            """, all: records.values)
        try database.run(
            "UPDATE tasks SET \(column) = u.\(column) FROM \(own) WHERE tasks.id = u.task AND \(later) IS NULL",
            all: records.values)
        try database.run("UPDATE undo_tasks SET lane = 0, rank = NULL WHERE \(moved)", all: records.values)
    }

    // MARK: What folders have

    /// A setting that a person gives folders, for files still to be found in them.
    enum Given: String, CaseIterable {
        case rank, priority
    }

    /// The values that a folder and those below it have, as pairs of folder and value.
    func given(_ what: Given, below top: Int64) throws -> [[Int64]] {
        let column = what.rawValue
        return try database.rows(
            "SELECT id, \(column) FROM folders WHERE \(column) IS NOT NULL AND id IN (\(TaskSets.below("?1")))",
            .integer(top)
        ) { [$0.integer(0), $0.integer(1)] }
    }
}
