import SQLiteConnection
import TransferModel

/// One task at a time: reads its rows and writes them back, with what follows for counters, lanes and reasons.
struct TaskStore: QueueSubject {
    let queue: QueueConnection

    init(_ queue: QueueConnection) { self.queue = queue }

    func task(_ id: TaskID) throws -> TaskRow? {
        try database.first(
            "SELECT \(TaskRow.columns) FROM tasks t JOIN lanes l ON l.id = t.lane WHERE t.id = ?", .integer(id.rawValue)
        ) { TaskRow($0) }
    }

    /// The default when the task has no details.
    func details(_ row: TaskRow) throws -> TaskDetails {
        guard row.flags.contains(.details) else { return TaskDetails() }
        return try database.first(
            Self.selectDetails, .integer(row.id.rawValue)
        ) { TaskDetails($0) } ?? TaskDetails()
    }

    /// Returns true when another download of a task's batch has this name, or is getting it.
    func hasNamesake(_ row: TaskRow, at path: RawPath) throws -> Bool {
        let other = try database.integer(
            """
            SELECT 1 FROM task_details d INDEXED BY details_final_path CROSS JOIN tasks t ON t.id = d.task
            JOIN lanes l ON l.id = t.lane WHERE d.final_path = ? AND t.id <> ? AND l.batch = ?
            AND (t.state = \(state: .completed) OR t.flags & \(flags: .publishing) <> 0) LIMIT 1
            """, .blob(path.bytes), .integer(row.id.rawValue), .integer(row.batch.rawValue))
        return other != nil
    }

    /// Writes a changed row, and the counters' differences into the ledger.
    func save(_ changed: TaskRow, was old: TaskRow) throws {
        var new = changed
        if !new.claimed { new.flags.remove(.publishing) }
        guard new != old else { return }
        let tallies = (old.tally, new.tally)
        if old.state != new.state || tallies.0 != tallies.1 {
            queue.ledger.add(-tallies.0, folder: old.folder, state: old.state)
            queue.ledger.add(tallies.1, folder: new.folder, state: new.state)
        }
        queue.ledger.addReady((new.isReady ? 1 : 0) - (old.isReady ? 1 : 0), lane: new.lane)
        // Naming a column in SET costs its indexes a change, also when the value stays.
        let isMove = old.state != new.state || old.claimed != new.claimed
        let statement = try database.statement(
            "UPDATE tasks SET flags = ?, run = ?, size = ?, accepted = ?, begun_at = ?, finished_at = ?"
                + (isMove ? ", state = ?8, claimed = ?9" : "") + " WHERE id = ?7")
        try statement.bind(1, new.flags.rawValue)
        try statement.bind(2, new.run)
        try statement.bind(3, new.size)
        try statement.bind(4, new.accepted)
        try statement.bind(5, new.begunAt)
        try statement.bind(6, new.finishedAt)
        try statement.bind(7, new.id.rawValue)
        if isMove {
            try statement.bind(8, new.state.stored)
            try statement.bind(9, Int64(new.claimed ? 1 : 0))
        }
        try statement.run()
        if old.state != new.state { queue.touched.insert(new.batch) }
        if old.claimed, !new.claimed {
            queue.notes.freshClaims.remove(new.id)
            queue.notes.inDoubt.remove(new.id)
        }
        queue.change.note(task: new.id, in: new.batch)
    }

    /// Writes a row and its details; the counts of reasons follow.
    func save(_ new: inout TaskRow, was old: TaskRow, _ details: TaskDetails, was oldDetails: TaskDetails) throws {
        if details != oldDetails {
            let exists = new.flags.contains(.details)
            new.flags.insert(.details)
            let statement = try database.statement(exists ? Self.updateDetails : Self.insertDetails)
            for (place, value) in details.stored.enumerated() { try statement.bind(Int32(place + 1), value) }
            try statement.bind(Int32(TaskDetails.columns.count + 1), new.id.rawValue)
            try statement.run()
            queue.change.note(task: new.id, in: new.batch)
        }
        try count(reasonOf: old, oldDetails, by: -1)
        try count(reasonOf: new, details, by: 1)
        try save(new, was: old)
    }

    private static let selectDetails = "SELECT \(TaskDetails.list()) FROM task_details WHERE task = ?"
    private static let updateDetails =
        "UPDATE task_details SET " + TaskDetails.columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE task = ?"
    private static let insertDetails =
        "INSERT INTO task_details (\(TaskDetails.list()), task) VALUES ("
        + TaskDetails.columns.map { _ in "?, " }.joined() + "?)"

    // MARK: Reasons

    /// Adds a task to the reasons of its batch, or takes it away.
    func count(reasonOf row: TaskRow, _ details: TaskDetails, by step: Int64) throws {
        guard row.state == .failed ? details.cause != nil : row.state == .waiting && !details.wait.isEmpty else {
            return
        }
        let kind: ReasonKind = row.state == .failed ? .failed : .waiting
        let value = kind == .failed ? details.cause?.stored ?? 0 : Int64(details.wait.rawValue)
        let detail = details.reasonDetail(kind)
        let isTold =
            kind == .failed || detail != 0 || details.failure?.isToldApart(in: details.wait.reasons) ?? false
        let isQuoted = isTold || details.wait.reasons.contains(where: \.isProblem)
        let error = step > 0 && isQuoted ? details.failure : nil
        let finding = isTold ? error?.finding : nil
        let told = try ReasonText(finding ?? Finding(""), said: error?.said, detail: error?.detail).stored()
        let at = kind == .failed ? row.finishedAt : details.waitSince
        try database.run(
            """
            INSERT INTO reasons VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET files = files + excluded.files,
            message = CASE WHEN excluded.files > 0 THEN excluded.message ELSE message END,
            at = CASE WHEN excluded.files > 0 THEN max(ifnull(at, 0), excluded.at) ELSE at END
            """, .integer(row.batch.rawValue), .integer(kind.rawValue), .integer(value), .integer(detail),
            .integer(step), .text(told), SQLiteValue(at))
    }

    /// Counts a batch's reasons anew, after a change that moved many tasks at once.
    func recountReasons(_ batch: BatchID) throws {
        try database.run("DELETE FROM reasons WHERE batch = ?", .integer(batch.rawValue))
        for sql in Self.reasonCounts { try database.run("INSERT INTO reasons " + sql, .integer(batch.rawValue)) }
    }

    /// `TaskDetails.reasonDetail` in SQL.
    static let waitDetailSQL = "CASE d.cause WHEN \(cause: .cannotFindHost) THEN d.cause ELSE 0 END"
    static let failureDetailSQL = """
        CASE d.cause WHEN \(cause: .http) THEN ifnull(\(StoredJSON.sql("d.error")) ->> 'httpStatus', 0) ELSE 0 END
        """

    /// `TransferError.isToldApart` in SQL.
    private static let isToldApartSQL = {
        let remedy = "\(StoredJSON.sql("d.error")) -> 'finding' -> 'remedy'"
        let isOwn = "\(remedy) IS NOT NULL AND ifnull(\(remedy) ->> 'command', '') <> 'login'"
        return
            "d.wait & \(WaitReasons(.hostKey).rawValue) <> 0 OR d.wait & \(WaitReasons(.auth).rawValue) <> 0 AND \(isOwn)"
    }()

    /// Queries for the rows that `reasons` has to hold for a batch; `check` compares with them, too.
    static let reasonCounts = [
        """
        SELECT l.batch, \(reasons: .waiting), d.wait, \(waitDetailSQL), count(*),
        max(\(ReasonText.sql(isTold: "\(waitDetailSQL) <> 0 OR \(isToldApartSQL)"))),
        max(d.wait_since)
        FROM task_details d INDEXED BY details_waiting
        CROSS JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
        WHERE d.wait <> 0 AND t.state = \(state: .waiting) AND l.batch = ?1 AND \(WaitStore.isInRange("?1")) GROUP BY 3, 4
        """,
        """
        SELECT l.batch, \(reasons: .failed), d.cause, \(failureDetailSQL), count(*),
        max(\(ReasonText.sql())), max(t.finished_at)
        FROM lanes l CROSS JOIN tasks t INDEXED BY tasks_failed ON t.lane = l.id AND t.state = \(state: .failed)
        JOIN task_details d ON d.task = t.id WHERE d.cause IS NOT NULL AND l.batch = ? GROUP BY 3, 4
        """,
    ]
}

/// The two kinds of rows in `reasons`.
enum ReasonKind: Int64 {
    case waiting = 0
    case failed = 1
}

extension TaskDetails {
    /// A number that tells apart reasons of one value: for failures by HTTP the status, for waits the cause when a person may have to
    /// mend it; else 0.
    func reasonDetail(_ kind: ReasonKind) -> Int64 {
        switch kind {
        case .waiting: cause == .cannotFindHost ? TransferErrorCode.cannotFindHost.stored : 0
        case .failed:
            cause == .http ? Int64(failure?.httpStatus ?? 0) : 0
        }
    }
}
