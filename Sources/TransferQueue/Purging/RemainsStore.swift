import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Partial data that transfers have left: uploads at servers, downloads the beginning of a file here. These transfers are over and still have
/// a resume point; that of a completed one names what its server did not remove of earlier versions.
struct RemainsStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let references: SecretReferences
    let undoLog: UndoLog
    let running: RunningStore

    /// - Parameter claimed: those, too, that the engine has taken and may be about to go on with.
    func remains(
        of direction: TransferDirection, in states: [TransferState], claimed isAny: Bool, after: TaskID, limit: Int
    ) throws -> [Remains] {
        return try remains(
            """
            FROM task_details d INDEXED BY details_remains JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
            JOIN batches b ON b.id = l.batch WHERE d.resume_point IS NOT NULL AND d.task > ?
            AND b.direction = \(direction: direction) AND t.claimed <= \(isAny ? 1 : 0)
            AND t.state IN (\(states: states)) ORDER BY d.task LIMIT ?
            """, .integer(after.rawValue), .integer(Int64(limit)))
    }

    /// Remains of those of these tasks that are over.
    func remains(of tasks: [TaskID]) throws -> [Remains] {
        try remains(
            "\(Self.left) AND d.task IN (SELECT value FROM json_each(?)) ORDER BY d.task LIMIT ?",
            .text(try StoredJSON.text(tasks.map(\.rawValue))), .integer(Int64(tasks.count)))
    }

    /// Remains of batches whose purge can no longer be undone; they keep these batches from being forgotten.
    func purgedRemains(now: Timestamp, after: TaskID, limit: Int) throws -> [Remains] {
        try remains(
            """
            \(Self.left) AND b.purged_at < ? AND d.task > ? ORDER BY d.task LIMIT ?
            """, .integer(undoLog.endOfUndo(now).milliseconds), .integer(after.rawValue), .integer(Int64(limit)))
    }

    /// Transfers that are over and have left something.
    static let left = """
        FROM task_details d INDEXED BY details_remains JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
        JOIN batches b ON b.id = l.batch WHERE d.resume_point IS NOT NULL AND t.claimed = 0
        AND t.state IN (\(states: [.completed, .failed, .cancelled]))
        """

    /// A task that has left something, with what is known of its batch and host.
    private struct Row: StoredRow {
        let task: RunningStore.ClaimRow
        let owner: RunningStore.ClaimOwner
        let origin: String
        let finishedAt: Timestamp?
        let state: TransferState?

        static let columns = list()

        init(_ columns: inout RowColumns) {
            task = columns.row(of: "t.")
            owner = RunningStore.ClaimOwner(
                batch: BatchID(rawValue: columns.integer("b.id")), lane: LaneID(rawValue: columns.integer("l.id")),
                direction: TransferDirection(stored: columns.integer("b.direction")),
                uuid: UUID(bytes: columns.bytes("b.uuid")))
            origin = columns.text("l.origin")
            finishedAt = columns.time("t.finished_at")
            state = TransferState(stored: columns.integer("t.state"))
        }
    }

    func remains(_ rest: String, _ values: SQLiteValue...) throws -> [Remains] {
        try database.rows("SELECT \(Row.columns) \(rest)", all: values) { Row($0) }.compactMap { row in
            guard let state = row.state else { return nil }
            return try running.claimed(row.task, row.owner, generation: row.task.generation).map {
                Remains(task: $0, state: state, origin: row.origin, finishedAt: row.finishedAt)
            }
        }
    }

    /// Uploads that were broken off and whose server has not said yet how much it has. Those that go on are shown where they stood; what is
    /// paused or waits stands where its server has confirmed it, because nobody asks that server again before it goes on.
    func unconfirmed(limit: Int) throws -> [UnconfirmedUpload] {
        try database.rows(
            """
            SELECT t.id, l.batch, t.folder, d.unconfirmed,
            b.paused = 1 OR t.state IN (\(state: .waiting), \(state: .paused))
            FROM task_details d INDEXED BY details_unconfirmed
            JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
            WHERE d.unconfirmed > 0 AND t.state < \(state: .completed) ORDER BY d.task LIMIT ?
            """, .integer(Int64(limit))
        ) { row in
            UnconfirmedUpload(
                task: TaskID(rawValue: row.integer(0)), batch: BatchID(rawValue: row.integer(1)),
                folder: FolderID(rawValue: row.integer(2)), sent: row.count(3),
                shown: row.integer(4) == 0 ? row.count(3) : nil)
        }
    }

    func leaveToRemove(_ remains: Remains, resumePoint: [UInt8]) throws -> Bool {
        guard let old = try standing(remains) else { return false }
        var row = old
        let oldDetails = try tasks.details(row)
        guard oldDetails.resumePoint != nil else { return false }
        var details = oldDetails
        details.resumePoint = resumePoint
        try tasks.save(&row, was: old, details, was: oldDetails)
        return true
    }

    func forget(_ remains: Remains, keeping knowledge: [UInt8]?) throws -> Bool {
        guard let old = try standing(remains) else { return false }
        try forget(of: old, keeping: knowledge)
        return true
    }

    /// The task, when nobody has gone on with it since its remains were read, or is about to.
    private func standing(_ remains: Remains) throws -> TaskRow? {
        let claim = remains.task.claim
        guard let row = try tasks.task(claim.task), !row.claimed, row.state == remains.state, row.claim == claim else {
            return nil
        }
        return row
    }

    func forgetGuess(of claim: TaskClaim) throws {
        guard let old = try tasks.task(claim.task), !old.claimed, !old.state.isActive, old.claim == claim else {
            return
        }
        try forget(of: old, keeping: nil)
    }

    private func forget(of old: TaskRow, keeping knowledge: [UInt8]?) throws {
        var row = old
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        try references.dropResumePoint(&details, of: row)
        details.resumePoint = knowledge
        if row.state != .completed { row.accepted = 0 }
        row.flags.remove(.guessed)
        try tasks.save(&row, was: old, details, was: oldDetails)
    }
}
