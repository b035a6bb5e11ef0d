import SQLiteConnection
import TransferModel

/// Tasks that wait, for a time or for what a person or the world has to change.
struct WaitStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let pauses: PauseStore

    func wakeDue(now: Timestamp) throws {
        try pauses.endPauses(now: now)
        let due = try database.rows(
            "SELECT task FROM task_details INDEXED BY details_wake WHERE retry_at <= ?", .integer(now.milliseconds)
        ) { TaskID(rawValue: $0.integer(0)) }
        for id in due {
            try clearWait(WaitReasons(rawValue: -1), of: id)
            // Left alone, what is damaged would be due for ever.
            if try tasks.task(id) == nil {
                try database.run("UPDATE task_details SET retry_at = NULL WHERE task = ?", .integer(id.rawValue))
            }
        }
    }

    /// Moves waits for retries along with the clock that was set. None ends later than its own length from now, whatever clock went when it
    /// began, nor later than `longest`. Times that a person has named stay.
    func moveRetries(by step: Duration, now: Timestamp, within longest: Duration) throws {
        try database.run(
            """
            UPDATE task_details INDEXED BY details_wake
            SET retry_at = min(retry_at + ?1, ?3 + min(?4, ifnull(max(0, retry_at - wait_since), ?4))),
            wait_since = min(wait_since + ?1, ?3)
            WHERE retry_at IS NOT NULL AND wait & ?2 = 0 AND (?1 <> 0 OR retry_at > ?3 + ?4 OR wait_since > ?3)
            """, .integer(Self.milliseconds(step)), .integer(Int64(WaitReasons(.notBefore).rawValue)),
            .integer(now.milliseconds), .integer(Self.milliseconds(longest)))
    }

    /// After a clock was set: moves ends along that were written by the old clock, so that their age stays right: those of batches when it was
    /// set by more than a day, and those that a grace time counts from when it was set forward. Where it was set back these are bounded.
    /// - Parameter times: of the old clock.
    func moveEnds(by step: Duration, at times: ClosedRange<Timestamp>) throws {
        func move(_ column: String, of table: String, and more: String = "1") throws {
            try database.run(
                "UPDATE \(table) SET \(column) = \(column) + ? WHERE \(column) BETWEEN ? AND ? AND \(more)",
                .integer(Self.milliseconds(step)), .integer(times.lowerBound.milliseconds),
                .integer(times.upperBound.milliseconds))
        }
        if abs(step.components.seconds) > 86_400 { try move("finished_at", of: "batches") }
        guard step > .zero else { return }
        try move("at", of: "undo")
        try move("purged_at", of: "batches INDEXED BY batches_purged")
        try move("finished_at", of: "tasks", and: "id IN (\(Self.withRemains))")
    }

    /// Tasks that keep a resume point, in SQL.
    private static let withRemains =
        "SELECT task FROM task_details INDEXED BY details_remains WHERE resume_point IS NOT NULL"

    private static func milliseconds(_ time: Duration) -> Int64 {
        time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    }

    /// Nothing has ended later than now: a grace time counts from these.
    func boundEnds(by now: Timestamp) throws {
        let now = SQLiteValue.integer(now.milliseconds)
        try database.run("UPDATE undo SET at = ?1 WHERE at > ?1", now)
        try database.run("UPDATE batches INDEXED BY batches_purged SET purged_at = ?1 WHERE purged_at > ?1", now)
        let remains = Self.withRemains
        try database.run("UPDATE tasks SET finished_at = ?1 WHERE finished_at > ?1 AND id IN (\(remains))", now)
    }

    func nextWake() throws -> Timestamp? {
        let retry = try database.integer(
            "SELECT min(retry_at) FROM task_details INDEXED BY details_wake WHERE retry_at IS NOT NULL")
        let begin = try database.integer(
            """
            SELECT min(not_before) FROM batches INDEXED BY batches_unfinished WHERE finished_at IS NULL AND held = 0
            AND paused = 0 AND not_before > ?
            """, .integer(clock().milliseconds))
        return [retry, begin, try pauses.nextPauseEnd()].compactMap { $0 }.min().map { Timestamp(milliseconds: $0) }
    }

    /// The condition that keeps a search through the waiting tasks to those that may be of a batch; NULL: of any.
    static func isInRange(_ batch: String) -> String {
        """
        d.task BETWEEN ifnull((SELECT first_task FROM batches WHERE id = \(batch)), 0)
        AND ifnull((SELECT last_task FROM batches WHERE id = \(batch)), \(Int64.max))
        """
    }

    /// - Parameters:
    ///   - tellsAgain: somebody has seen to it: that a task waits for the same again is news.
    ///   - cause: why it goes on, which is told of the batch when something of it does.
    func clearWait(
        _ reasons: WaitReasons, batch: BatchID?, origin: String?, tellsAgain: Bool = false, because cause: String? = nil
    ) throws {
        let waiting = try database.rows(
            """
            SELECT d.task FROM task_details d INDEXED BY details_waiting CROSS JOIN tasks t ON t.id = d.task
            JOIN lanes l ON l.id = t.lane WHERE d.wait <> 0 AND d.wait & ?1 <> 0 AND (?2 IS NULL OR l.batch = ?2)
            AND (?3 IS NULL OR l.origin = ?3) AND \(Self.isInRange("?2"))
            """, .integer(Int64(reasons.rawValue)), SQLiteValue(batch?.rawValue), SQLiteValue(origin)
        ) { TaskID(rawValue: $0.integer(0)) }
        var goesOn = false
        for id in waiting {
            let isInLine = try clearWait(reasons, of: id, tellsAgain: tellsAgain || cause != nil)
            goesOn = goesOn || isInLine
        }
        guard let batch, let cause, goesOn else { return }
        let isPaused = try database.integer("SELECT paused FROM batches WHERE id = ?", .integer(batch.rawValue)) == 1
        if isPaused { return }
        var payload = EventPayload()
        payload.message = cause
        try queue.appendEvent(.resumed, batch: batch, payload: payload)
    }

    /// Returns true when something of a batch waits for one of these.
    func isWaiting(for reasons: WaitReasons, batch: BatchID) throws -> Bool {
        try database.integer(
            """
            SELECT 1 FROM task_details d INDEXED BY details_waiting CROSS JOIN tasks t ON t.id = d.task
            JOIN lanes l ON l.id = t.lane WHERE d.wait <> 0 AND d.wait & ?1 <> 0 AND l.batch = ?2
            AND \(Self.isInRange("?2")) LIMIT 1
            """, .integer(Int64(reasons.rawValue)), .integer(batch.rawValue)) != nil
    }

    /// Batches with tasks that lead to an origin and wait for one of these.
    func batchesWaiting(for reasons: WaitReasons, origin: String) throws -> [BatchID] {
        try database.rows(
            """
            SELECT DISTINCT l.batch FROM task_details d INDEXED BY details_waiting CROSS JOIN tasks t ON t.id = d.task
            JOIN lanes l ON l.id = t.lane WHERE d.wait <> 0 AND d.wait & ? <> 0 AND l.origin = ? ORDER BY 1
            """, .integer(Int64(reasons.rawValue)), .text(origin)
        ) { BatchID(rawValue: $0.integer(0)) }
    }

    /// Takes reasons away; without any left the task stands in line again, or stays paused.
    /// - Parameter tellsAgain: that it waits for the same again is news.
    /// - Returns: whether it stands in line again.
    @discardableResult
    func clearWait(_ reasons: WaitReasons, of id: TaskID, tellsAgain: Bool = false) throws -> Bool {
        guard let old = try tasks.task(id) else { return false }
        let oldDetails = try tasks.details(old)
        var (row, details) = (old, oldDetails)
        details.wait.subtract(reasons)
        if details.wait.isEmpty {
            // Waiting for a person does not count towards giving up.
            if oldDetails.wait.reasons.contains(where: \.needsPerson) {
                details.patienceSince = clock().milliseconds
            }
            details.clearWait()
            if tellsAgain { details.said = nil }
            if row.state == .waiting { row.state = .queued }
        }
        try tasks.save(&row, was: old, details, was: oldDetails)
        return row.state == .queued && old.state == .waiting
    }
}
