import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Forgets what is over. Never touches a user's file.
struct PurgingStore: QueueSubject {
    let queue: QueueConnection
    private let tasks: TaskStore
    private let sets: TaskSets
    private let references: SecretReferences
    private let finder: NodeFinder
    private let undoLog: UndoLog
    private let limits: LimitStore

    init(
        _ queue: QueueConnection, tasks: TaskStore, sets: TaskSets, references: SecretReferences, finder: NodeFinder,
        undoLog: UndoLog, limits: LimitStore
    ) {
        self.queue = queue
        self.tasks = tasks
        self.sets = sets
        self.references = references
        self.finder = finder
        self.undoLog = undoLog
        self.limits = limits
    }

    /// Forgets nodes for a person: batches are hidden at once, and deleted when the purge can no longer be undone; a single task is forgotten
    /// at once, for good, and refused while something is known that it has left, or while a look may find what it has written.
    /// - Parameters:
    ///   - joining: this is more of the last change, to be taken back with it.
    ///   - bare: resume points that name nothing that is left. A task that still has its one may be forgotten with it.
    func purge(_ nodes: [NodeID], joining: Int64? = nil, bare: [TaskID: [UInt8]] = [:]) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        var known: [String: [BatchID]]?
        return try finder.forEach(nodes) { node, target, _ in
            switch target {
            case .batch(let batch, let root):
                if let refusal = try refusalUnlessOver(node, batch, root: root) { return refusal }
                try hide(batch)
                try undoLog.note(.purge, node, batch: batch, page: page)
            case .folder(let batch, _, _):
                return finder.refused(
                    node, "a folder is forgotten with its batch: \(quoted: AdvisedCommand("purge", [.batch(batch)]))")
            case .task(let row):
                if let refusal = try refusal(node, row, &known) { return refusal }
                // Only its resume point names what it has left: without it nobody would know of that.
                if let point = try tasks.details(row).resumePoint, point != bare[row.id] {
                    return finder.refused(node, "what \(node) left is still there: purge it again later")
                }
                try forget(row)
            }
            return NodeResult(id: node, result: .done)
        }.asOperation(page.operation)
    }

    /// The tasks among some nodes that `purge` forgets as things stand, but for what they have left: asked before that is taken away.
    func purgeable(_ nodes: [NodeID]) throws -> [TaskID] {
        var known: [String: [BatchID]]?
        // The parts of a batch go when its purge can be taken back no more.
        var hidden: Set<BatchID> = []
        return try nodes.compactMap { node in
            if case .batch(let batch) = node { hidden.insert(batch) }
            guard case .task = node, case .task(let row)? = try finder.target(node), !hidden.contains(row.batch),
                try refusal(node, row, &known) == nil
            else { return nil }
            return row.id
        }
    }

    /// The reason for which a task is not forgotten, whatever it has left.
    /// - Parameter known: `awaitedLooks()`, once it was needed.
    private func refusal(_ node: NodeID, _ row: TaskRow, _ known: inout [String: [BatchID]]?) throws -> NodeResult? {
        guard row.state.isTerminal else { return finder.refused(node, "\(node) is not over: cancel it first") }
        if let refusal = try refusalInUnlistedFolder(node, row) { return refusal }
        let awaited = try known ?? awaitedLooks()
        known = awaited
        // A file that was found missing was there once, in one version or another.
        guard try row.begunAt != nil || tasks.details(row).failure?.code == .notThere,
            let batch = try look(in: awaited, thatMayFind: row.batch) ?? ownLook(thatMayFind: row)
        else { return nil }
        return finder.refused(node, "what \(batch) sent is still to be compared with it: purge it when that is over")
    }

    /// The refusal for a file whose folder will be listed again: it would be taken for a new one, and sent once more.
    private func refusalInUnlistedFolder(_ node: NodeID, _ row: TaskRow) throws -> NodeResult? {
        let folder = try database.first(
            "SELECT walk, parent, name FROM folders WHERE id = ?", .integer(row.folder)
        ) { (walk: $0.optionalInteger(0), parent: $0.optionalInteger(1), name: $0.bytes(2)) }
        // A task that stands for a folder goes with it.
        guard let folder, !row.flags.contains(.directory) else { return nil }
        if let walk = folder.walk {
            let why: Advice =
                walk > 0
                ? "the folder of \(node) is still being listed: purge it when that is done"
                : "the listing of the folder of \(node) was stopped and can go on: purge \(row.batch) as a whole"
            return finder.refused(node, why)
        }
        // The task that stands for a folder which could not be listed whole.
        let failure = try database.integer(
            """
            SELECT id FROM tasks INDEXED BY tasks_unlisted WHERE folder = ?1 AND state = \(state: .failed)
            AND flags & \(flags: .directory) AND (name = ?2 AND ?3 = 0 OR ?3 = 1 AND NOT EXISTS (SELECT 1 FROM folders f
            WHERE f.parent = tasks.folder AND f.name = tasks.name)) LIMIT 1
            """, .integer(folder.parent ?? row.folder), .blob(folder.name), .integer(folder.parent == nil ? 1 : 0))
        guard let failure else { return nil }
        let task = TaskID(rawValue: failure)
        return finder.refused(
            node, "the folder of \(node) could not be listed whole, and a retry lists it again: purge \(task) first")
    }

    /// All that are finished.
    func purgeFinished() throws -> NodeChange {
        let batches = try database.rows(
            "SELECT id FROM batches WHERE finished_at IS NOT NULL AND purged_at IS NULL ORDER BY id"
        ) { BatchID(rawValue: $0.integer(0)) }
        return try purge(batches.map { .batch($0) })
    }

    // MARK: Out of the list, into the history

    /// Batches that are over leave the list; nothing of them is forgotten before its time. What failed stays: a problem that the list
    /// does not show could be found by nobody.
    /// - Parameter joining: this is more of the last change, to be taken back with it.
    func clear(_ nodes: [NodeID], joining: Int64? = nil) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        return try finder.forEach(nodes) { node, target, _ in
            guard case .batch(let batch, let root) = target else {
                return finder.refused(node, "only a whole batch can be put away")
            }
            if let refusal = try refusalUnlessOver(node, batch, root: root) { return refusal }
            let id = SQLiteValue.integer(batch.rawValue)
            if try database.integer("SELECT cleared_at FROM batches WHERE id = ?", id) != nil {
                return NodeResult(id: node, result: .already)
            }
            let failed = try database.integer("SELECT failed FROM folders WHERE id = ?", .integer(root)) ?? 0
            if failed > 0 {
                return finder.refused(
                    node,
                    "\(failed) of its files failed: \(quoted: .retry(.batch(batch))) tries them again, or leave them out"
                )
            }
            try database.run("UPDATE batches SET cleared_at = ? WHERE id = ?", .integer(clock().milliseconds), id)
            queue.change.note(wholly: batch)
            try undoLog.note(.clear, node, batch: batch, page: page)
            return NodeResult(id: node, result: .done)
        }.asOperation(page.operation)
    }

    /// The refusal for a batch that goes on, or whose last look is still to come: that may find files missing, which nobody would see, and the
    /// batch's end is told after it.
    private func refusalUnlessOver(_ node: NodeID, _ batch: BatchID, root: Int64) throws -> NodeResult? {
        guard try finder.isOver(folder: root, in: batch) else {
            return finder.refused(node, "\(node) is not over: cancel it first")
        }
        let isFinished =
            try database.integer(
                "SELECT 1 FROM batches WHERE id = ? AND finished_at IS NOT NULL", .integer(batch.rawValue)) != nil
        return isFinished
            ? nil
            : finder.refused(
                node, "the server of \(node) has not listed yet what arrived: look again later, or cancel it")
    }

    /// All that are finished and in the list; those with failed files are refused.
    func clearFinished() throws -> NodeChange {
        let batches = try database.rows(
            "SELECT id FROM batches WHERE finished_at IS NOT NULL AND purged_at IS NULL AND cleared_at IS NULL ORDER BY id"
        ) { BatchID(rawValue: $0.integer(0)) }
        return try clear(batches.map { .batch($0) })
    }

    /// A batch is in the list again.
    func show(_ batch: BatchID) throws {
        try database.run("UPDATE batches SET cleared_at = NULL WHERE id = ?", .integer(batch.rawValue))
        queue.change.note(wholly: batch)
    }

    // MARK: Forgetting

    private func hide(_ batch: BatchID) throws {
        let id = SQLiteValue.integer(batch.rawValue)
        try database.run("UPDATE batches SET purged_at = ? WHERE id = ?", .integer(clock().milliseconds), id)
        queue.change.removed.insert(batch)
    }

    /// A batch is in sight again.
    func takeBackPurge(of batch: BatchID) throws {
        try database.run("UPDATE batches SET purged_at = NULL WHERE id = ?", .integer(batch.rawValue))
        queue.change.note(wholly: batch)
    }

    /// Forgets what is old, for good; `kept` stays whatever its age.
    func forget(finishedBefore time: Timestamp, except kept: Set<BatchID> = []) throws {
        // Events of no batch: sessions that fell idle, starts of the engine.
        try database.run("DELETE FROM events WHERE batch IS NULL AND at < ?", .integer(time.milliseconds))
        try forgetBatches("finished_at < ?", .integer(time.milliseconds), except: kept)
    }

    /// Ends purges that nobody can take back any more. What uploads have left at servers is taken away before (`purgedRemains`): a
    /// batch of which something is still there stays, out of sight, so that it is known.
    /// - Returns: when the next purge can be taken back no more.
    func forgetPurged(now: Timestamp) throws -> Timestamp? {
        let last = SQLiteValue.integer(undoLog.endOfUndo(now).milliseconds)
        try forgetBatches(
            "purged_at < ? AND id NOT IN (SELECT b.id \(RemainsStore.left) AND b.purged_at IS NOT NULL)", last)
        let next = try database.integer(
            "SELECT min(purged_at) FROM batches INDEXED BY batches_purged WHERE purged_at >= ?", last)
        return next.map { Timestamp(milliseconds: $0).advanced(by: undoLog.graceTime + .milliseconds(1)) }
    }

    private func forgetBatches(
        _ condition: String, _ value: SQLiteValue, except kept: Set<BatchID> = []
    ) throws {
        let batches = try database.rows("SELECT id, root FROM batches WHERE \(condition) ORDER BY id", value) {
            (BatchID(rawValue: $0.integer(0)), $0.integer(1))
        }.filter { !kept.contains($0.0) }
        let awaited = batches.isEmpty ? [:] : try awaitedLooks()
        var forgotten: [BatchID] = []
        var firstEvent = Int64.max
        for (batch, root) in batches where try look(in: awaited, thatMayFind: batch) == nil {
            firstEvent = min(firstEvent, try forget(batch, root))
            forgotten.append(batch)
        }
        if forgotten.isEmpty { return }
        // No index leads to those of one batch: one look through them, however many batches are forgotten.
        let all = SQLiteValue.text(try StoredJSON.text(forgotten.map(\.rawValue)))
        try database.run("DELETE FROM undo WHERE batch IN (SELECT value FROM json_each(?))", all)
        try database.run("DELETE FROM pause_ends WHERE batch IN (SELECT value FROM json_each(?))", all)
        try database.run(
            "DELETE FROM events WHERE batch IN (SELECT value FROM json_each(?)) AND seq >= ?", all, .integer(firstEvent)
        )
        try limits.forgetLimits()
    }

    /// Batches whose last look is still due, by origin. An upload that may have written the same names is known until then; otherwise its files
    /// would be taken for somebody else's.
    private func awaitedLooks() throws -> [String: [BatchID]] {
        let found = try database.rows(
            """
            SELECT DISTINCT l.origin, l.batch FROM lanes l WHERE EXISTS
                (SELECT 1 FROM last_looks k INDEXED BY last_looks_due WHERE k.batch = l.batch AND k.due > 0)
            ORDER BY l.batch
            """
        ) { ($0.text(0), BatchID(rawValue: $0.integer(1))) }
        return Dictionary(grouping: found, by: \.0).mapValues { $0.map(\.1) }
    }

    /// The first of these batches, other than the batch itself, whose look may find a file of that batch.
    private func look(in awaited: [String: [BatchID]], thatMayFind batch: BatchID) throws -> BatchID? {
        if awaited.isEmpty { return nil }
        let origins = try database.rows(
            """
            SELECT DISTINCT l.origin FROM lanes l JOIN batches b ON b.id = l.batch
            WHERE l.batch = ? AND b.direction = \(direction: .upload)
            """, .integer(batch.rawValue)
        ) { $0.text(0) }
        return origins.compactMap { awaited[$0]?.first { $0 != batch } }.first
    }

    /// A file's own batch, where the look at another folder may find it: several sources of a batch may fill one folder at the server
    /// (`noteLaterWriters`).
    private func ownLook(thatMayFind row: TaskRow) throws -> BatchID? {
        try database.integer(
            """
            SELECT 1 FROM last_looks k INDEXED BY last_looks_due JOIN batches b ON b.id = k.batch
            WHERE k.batch = ?1 AND k.due > 0 AND k.folder <> ?2
            AND EXISTS (SELECT 1 FROM folders f WHERE f.parent = b.root AND f.hidden = 1) LIMIT 1
            """, .integer(row.batch.rawValue), .integer(row.folder)
        ).map { _ in row.batch }
    }

    /// - Returns: the number of the batch's first event. Its events and what changed it are still there.
    private func forget(_ batch: BatchID, _ root: Int64) throws -> Int64 {
        let id = SQLiteValue.integer(batch.rawValue)
        // Leaves first: a parent's row outlives its children's.
        for folder in try sets.subtree(of: root).reversed().map({ SQLiteValue.integer($0) }) {
            let withDetails = "(SELECT id FROM tasks WHERE folder = ? AND flags & \(flags: .details))"
            try database.run("DELETE FROM attempts WHERE task IN \(withDetails)", folder)
            try database.run("DELETE FROM task_details WHERE task IN \(withDetails)", folder)
            try database.run(
                "DELETE FROM remote_versions WHERE task IN (SELECT id FROM tasks WHERE folder = ?)", folder)
            try database.run("DELETE FROM tasks WHERE folder = ?", folder)
            try database.run("DELETE FROM own_counts WHERE folder = ?", folder)
            try database.run("DELETE FROM folders WHERE id = ?", folder)
        }
        try database.run("DELETE FROM lanes WHERE batch = ?", id)
        for table in ["linked_folders", "walked_folders"] {
            try database.run("DELETE FROM \(table) WHERE source IN (SELECT id FROM sources WHERE batch = ?)", id)
        }
        try database.run("DELETE FROM sources WHERE batch = ?", id)
        try database.run("DELETE FROM reasons WHERE batch = ?", id)
        try database.run("DELETE FROM last_looks WHERE batch = ?", id)
        let firstEvent = try database.integer("SELECT first_event FROM batches WHERE id = ?", id) ?? 0
        let uuid = try database.first("SELECT uuid FROM batches WHERE id = ?", id) { UUID(bytes: $0.bytes(0)) }
        if case let uuid?? = uuid { references.orphan(.batch(uuid)) }
        try database.run("DELETE FROM batches WHERE id = ?", id)
        queue.change.removed.insert(batch)
        return firstEvent
    }

    func forget(_ row: TaskRow) throws {
        let id = SQLiteValue.integer(row.id.rawValue)
        let details = try tasks.details(row)
        try tasks.count(reasonOf: row, details, by: -1)
        queue.ledger.add(-row.tally, folder: row.folder, state: row.state)
        if let uuid = try references.uuid(of: row.batch) { references.orphan(.task(row.id, uuid)) }
        try database.run("DELETE FROM attempts WHERE task = ?", id)
        try database.run("DELETE FROM remote_versions WHERE task = ?", id)
        try database.run("DELETE FROM task_details WHERE task = ?", id)
        try database.run("DELETE FROM tasks WHERE id = ?", id)
        queue.notes.forgotten[row.batch, default: []].append(row.id)
        queue.change.note(wholly: row.batch)
    }

    /// At the end of a transaction: one look through a batch's events, however many of its tasks were forgotten.
    func forgetEvents() throws {
        for (batch, tasks) in queue.notes.forgotten {
            try database.run(
                """
                DELETE FROM events WHERE batch = ?1 AND seq >= (SELECT first_event FROM batches WHERE id = ?1)
                AND task IN (SELECT value FROM json_each(?2))
                """, .integer(batch.rawValue), .text(try StoredJSON.text(tasks.map(\.rawValue))))
        }
        queue.notes.forgotten = [:]
    }
}
