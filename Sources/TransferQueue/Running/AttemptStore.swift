import SQLiteConnection
import TransferModel

/// The end of an attempt that did not succeed. Stored by its name, which the history of a task shows.
enum AttemptOutcome: String {
    case failed
    /// It waits for a time, a server or a person.
    case waiting
    case paused
    case cancelled
    /// The engine gave it back when it was stopped.
    case requeued
    /// The engine was killed.
    case interrupted
}

/// Attempts at tasks: when those that go on began, and the ways in which one ends without success.
struct AttemptStore: QueueSubject {
    /// Attempts of a task that are kept: the last ones.
    static let mostKept: Int64 = 100

    let queue: QueueConnection
    private let tasks: TaskStore
    private let references: SecretReferences

    init(_ queue: QueueConnection, tasks: TaskStore, references: SecretReferences) {
        self.queue = queue
        self.tasks = tasks
        self.references = references
    }

    func fail(_ row: inout TaskRow, _ details: inout TaskDetails, _ error: TransferError, at time: Timestamp) throws {
        if try endsCancelled(&row, &details, at: time) { return }
        if row.claimed { try endAttempt(row, &details, .failed, error: error, at: time) }
        row.state = .failed
        row.claimed = false
        row.finishedAt = time.milliseconds
        details.clearWait()
        details.cause = error.code
        details.error = try StoredJSON.text(error)
        var payload = EventPayload()
        payload.error = error
        try queue.appendEvent(.taskFailed, batch: row.batch, task: row.id, payload: payload, at: time)
    }

    /// Ends a task's claim: the engine may not run it any more. The engine is told afterwards, and records then how far its attempt came; until
    /// it has, the task stands in the table `interrupted`, for the engine that comes after a kill.
    func stop(_ old: TaskRow, as state: TransferState, _ outcome: AttemptOutcome, _ nodeChange: inout NodeChange) throws
    {
        var row = old
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        try endAttempt(row, &details, outcome, error: nil, at: clock())
        row.claimed = false
        row.state = state
        if state.isTerminal { row.finishedAt = clock().milliseconds }
        if queue.notes.freshClaims.contains(row.id) {
            if queue.notes.freshStops.count > 100_000 { queue.notes.freshStops = [] }
            queue.notes.freshStops.insert(row.claim)
        }
        try tasks.save(&row, was: old, details, was: oldDetails)
        try noteInterrupted(row.id)
        nodeChange.stopped.append(row.claim)
    }

    /// Notes that the engine has not recorded all that it has done of a task.
    func noteInterrupted(_ task: TaskID) throws {
        try database.run("INSERT OR IGNORE INTO interrupted VALUES (?)", .integer(task.rawValue))
    }

    /// Takes from the engine those that may not run yet: their batch is held or has a later time, and nobody wants them now any more. Whoever
    /// changes one of the three calls it.
    func stopEarly(_ ids: [TaskID], of batch: BatchID, _ nodeChange: inout NodeChange) throws {
        let claimed = try ids.compactMap { try tasks.task($0) }
            .filter { $0.claimed && !$0.flags.contains(.publishing) }
        if claimed.isEmpty { return }
        let id = SQLiteValue.integer(batch.rawValue)
        let isHeld = try database.integer("SELECT held FROM batches WHERE id = ?", id) == 1
        let begin = try database.integer("SELECT not_before FROM batches WHERE id = ?", id) ?? 0
        guard isHeld || begin > clock().milliseconds else { return }
        let wanted = try database.rows(
            "SELECT id FROM lanes WHERE batch = ? AND priority = ?", id, .integer(LanePriority.now)
        ) { $0.integer(0) }
        for row in claimed where !wanted.contains(row.lane) {
            try stop(row, as: .queued, isHeld ? .paused : .waiting, &nodeChange)
        }
    }

    /// - Parameter keepsPoint: it says what is left at the server, though nothing goes on there.
    func restart(
        _ row: inout TaskRow, _ details: inout TaskDetails, reason: String, repeated: Int64, identity: SourceIdentity?,
        isOther: Bool = false, keepsPoint: Bool = false, at time: Timestamp
    ) throws {
        // Of another version nothing was there yet. A changed source is counted by `SourceChangeRule`.
        let isAnew = identity != nil || isOther && details.restarts < ProgressRule.versions
        if isAnew {
            details.furthest = 0
        } else if !queue.notes.inDoubt.contains(row.id) {
            details.furthest = max(details.furthest, row.accepted)
        }
        row.accepted = 0
        details.atRisk = 0
        details.unconfirmed = 0
        if !keepsPoint { try references.dropResumePoint(&details, of: row) }
        details.restarts += 1
        if row.claimed, ProgressRule.isInDoubt(restarts: Int(details.restarts)) { queue.notes.inDoubt.insert(row.id) }
        ByteSum.add(repeated, to: &details.repeated)
        if let identity {
            row.size = identity.size
            try database.run(
                "UPDATE tasks SET mtime = ?, inode = ? WHERE id = ?", .integer(identity.modifiedNanoseconds),
                .integer(Int64(bitPattern: identity.inode)), .integer(row.id.rawValue))
        }
        guard details.tellsAttempts, !row.state.isTerminal else { return }
        var payload = EventPayload()
        payload.message = reason
        try queue.appendEvent(.restarted, batch: row.batch, task: row.id, payload: payload, at: time)
    }

    /// The position from which progress is measured: where the file was when its attempts in a row began to fail. Each of them may have
    /// confirmed a little; together it is to be worth something.
    func progressStart(_ task: TaskID, _ details: TaskDetails, accepted: Int64) throws -> Int64 {
        let reached = details.counted(with: accepted)
        guard details.failures > 0, !ProgressRule.isInDoubt(restarts: Int(details.restarts)) else { return reached }
        let ended = try database.integer(
            "SELECT accepted FROM attempts WHERE task = ? AND number > ? ORDER BY number LIMIT 1",
            .integer(task.rawValue), .integer(details.attempts - details.failures))
        // Where it once was further, another version has begun since.
        guard let ended = ended.flatMap(FileSize.told), ended <= reached else { return details.furthest }
        return max(ended, details.furthest)
    }

    /// Milliseconds of the attempt that brought what is here of a file in doubt (`ProgressRule`): they do not count towards giving up while the
    /// next attempt may go on from there. 0 where it begins again, and where what is here counts.
    func undecided(_ task: TaskID, _ details: TaskDetails, accepted: Int64) throws -> Int64 {
        guard ProgressRule.isInDoubt(restarts: Int(details.restarts)), accepted > details.furthest else { return 0 }
        let time = try database.integer(
            "SELECT ended_at - started_at FROM attempts WHERE task = ? AND accepted = ? ORDER BY number LIMIT 1",
            .integer(task.rawValue), .integer(accepted))
        return max(0, time ?? 0)
    }

    /// Cancels a task that was cancelled while it was getting its final name and did not get it. Returns false for any other.
    func endsCancelled(_ row: inout TaskRow, _ details: inout TaskDetails, at time: Timestamp) throws -> Bool {
        guard row.flags.isSuperset(of: [.publishing, .cancelled]) else { return false }
        try endAttempt(row, &details, .cancelled, error: nil, at: time)
        details.clearWait()
        row.claimed = false
        row.state = .cancelled
        row.finishedAt = time.milliseconds
        try queue.appendEvent(.taskCancelled, batch: row.batch, task: row.id, at: time)
        return true
    }

    /// A person has paused the task, or a folder above it, while it was getting its final name. Any other pause has ended its claim, so nobody
    /// asks after its attempt's end.
    func isPausedWhilePublishing(_ row: TaskRow) throws -> Bool {
        guard row.flags.contains(.publishing) else { return false }
        return try row.flags.contains(.paused) || paths.isPaused(row.folder)
    }

    /// Writes down an attempt that did not succeed. The newest hundred of a task are kept.
    func endAttempt(
        _ row: TaskRow, _ details: inout TaskDetails, _ outcome: AttemptOutcome, error: TransferError?,
        at time: Timestamp
    ) throws {
        let started = queue.notes.starts.removeValue(forKey: row.id)
        if started == nil, row.state != .running, row.state != .finishing, error == nil { return }
        details.attempts += 1
        try database.run(
            "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", .integer(row.id.rawValue),
            .integer(details.attempts), SQLiteValue(started?.milliseconds), .integer(time.milliseconds),
            .integer(row.accepted), .text(outcome.rawValue), SQLiteValue(error?.code.stored),
            SQLiteValue(error?.message))
        if details.attempts > Self.mostKept {
            try database.run(
                "DELETE FROM attempts WHERE task = ? AND number <= ?", .integer(row.id.rawValue),
                .integer(details.attempts - Self.mostKept))
        }
    }
}
