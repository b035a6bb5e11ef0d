import FoundationEssentials
import SQLiteConnection
import TransferModel
import Wording

extension QueueView {
    /// A task with all that a snapshot needs of its own rows.
    struct FullTask: StoredRow {
        let row: TaskRow
        let name: RawPath
        let source: Int64?
        let url: String?
        let details: TaskDetails
        /// Its own; `nil`: its batch's.
        let priority: TransferPriority?
        /// A person wants it now.
        let isUrgent: Bool

        static let columns = list()
        static let details = "LEFT JOIN task_details d ON d.task = t.id"

        init(_ columns: inout RowColumns) {
            row = columns.row()
            // Earlier versions took any length.
            name = RawPath(Array(columns.bytes("t.name").prefix(BatchRequest.Work.longestName)))
            source = columns.optionalInteger("t.source")
            url = columns.optionalText("d.url")?.cut(toBytes: BatchRequest.Work.longestURL)
            details = columns.row(of: "d.")
            let stored = columns.integer("l.priority")
            priority = (0...4).contains(stored) ? TransferPriority(stored: stored) : nil
            isUrgent = stored == LanePriority.now
        }

        var wasStarted: Bool { row.state.isActive || row.state == .completed || details.attempts > 0 }

        /// For the first time.
        var startedAt: Timestamp? { details.firstTry(of: row) }

        /// The try that runs, or the one that did it, included.
        var attempts: Int { Int(details.attempts) + (row.state.isActive || row.state == .completed ? 1 : 0) }

        /// `size`, or the digest's algorithm; `nil`: nothing was compared.
        var comparedBy: String? {
            switch row.flags.verification {
            case .none: nil
            case .size: Verification.size.rawValue
            case .digest:
                StoredJSON.value(TransferDigest.self, details.digest)?.algorithm ?? Verification.digest.rawValue
            }
        }
    }

    func task(_ id: TaskID, hidden: Bool = false) throws -> FullTask? {
        try database.first(
            "SELECT \(FullTask.columns) FROM tasks t JOIN lanes l ON l.id = t.lane \(FullTask.details) WHERE t.id = ? AND (\(hidden) OR \(Self.isKnown))",
            .integer(id.rawValue)
        ) { FullTask($0) }
    }

    /// SQL: the batch of lane `l` is not forgotten.
    private static let isKnown = "l.batch NOT IN (SELECT id FROM batches WHERE purged_at IS NOT NULL)"

    // MARK: Pages

    /// The criteria that choose the tasks of a page.
    struct TaskChoice {
        var batch: BatchID?
        var session: SessionName?
        /// As shown.
        var states: [TransferState]
        var after: TaskID?
        var limit: Int

        /// A bit for each state; all when none was named.
        var mask: Int64 { states.isEmpty ? 511 : states.reduce(0) { $0 | 1 << $1.stored } }
    }

    func tasks(_ choice: TaskChoice) throws -> [FullTask] {
        try page(choice, columns: FullTask.columns, join: FullTask.details) { FullTask($0) }
    }

    private func page<Row>(
        _ choice: TaskChoice, columns: String, join: String, body: (SQLiteStatement) throws -> Row
    ) throws -> [Row] {
        let after = SQLiteValue.integer(choice.after?.rawValue ?? 0)
        let limit = SQLiteValue.integer(Int64(max(0, choice.limit)))
        guard let id = choice.batch else {
            return try database.rows(
                """
                SELECT \(columns) FROM tasks t JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
                JOIN sessions s ON s.id = b.session \(join)
                WHERE t.id > ?1 AND ?2 & (1 << \(Self.shownState)) AND (?3 IS NULL OR s.name = ?3) AND b.purged_at IS NULL ORDER BY t.id LIMIT ?4
                """, after, .integer(choice.mask), SQLiteValue(choice.session?.rawValue), limit,
                .integer(now.milliseconds), body: body)
        }
        guard let batch = try batchRow(id), choice.session == nil || choice.session == batch.session else { return [] }
        let wanted = TransferState.allCases.filter { choice.mask & 1 << shown($0, in: batch).stored != 0 }
        let mask = SQLiteValue.integer(wanted.reduce(0) { $0 | 1 << $1.stored })
        if wanted == [.failed] {
            return try database.rows(
                """
                SELECT \(columns) FROM lanes l
                CROSS JOIN tasks t INDEXED BY tasks_failed ON t.lane = l.id AND t.state = \(state: .failed) \(join)
                WHERE l.batch = ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3
                """, .integer(id.rawValue), after, limit, body: body)
        }
        return try database.rows(
            """
            SELECT \(columns) FROM batches b CROSS JOIN tasks t ON t.id BETWEEN max(b.first_task, ?2 + 1) AND b.last_task
            JOIN lanes l ON l.id = t.lane \(join)
            WHERE b.id = ?1 AND ?3 & (1 << t.state) AND l.batch = ?1 ORDER BY t.id LIMIT ?4
            """, .integer(id.rawValue), after, mask, limit, body: body)
    }

    /// `shown(_:in:)` in SQL; ?5 is now.
    private static let shownState = """
        CASE WHEN t.state IN (\(states: [.queued, .waiting])) AND b.paused THEN \(state: .paused)
        WHEN t.state = \(state: .queued) AND l.priority = \(LanePriority.now) THEN \(state: .queued)
        WHEN t.state = \(state: .queued) AND b.held THEN \(state: .created)
        WHEN t.state = \(state: .queued) AND b.not_before > ?5 THEN \(state: .waiting) ELSE t.state END
        """

    func unknown(in selector: NodeSelector) throws -> String? {
        if let batch = selector.batch, try batchRow(batch) == nil { return "\(batch)" }
        guard let session = selector.session, try batchRows(session: session, limit: 1).isEmpty else { return nil }
        return "session \(session)"
    }

    func nodes(matching selector: NodeSelector, after: NodeID?, limit: Int) throws -> [NodeID] {
        if !selector.states.isEmpty {
            var choice = TaskChoice(
                batch: selector.batch, session: selector.session, states: selector.states, after: nil, limit: limit)
            if case .task(let id) = after { choice.after = id }
            return try page(choice, columns: "t.id", join: "") { .task(TaskID(rawValue: $0.integer(0))) }
        }
        var first: Int64 = 0
        if case .batch(let id) = after { first = id.rawValue }
        return try database.rows(
            """
            SELECT b.id FROM batches b JOIN sessions s ON s.id = b.session WHERE b.id > ?1 AND (?2 IS NULL OR b.id = ?2)
            AND (?3 IS NULL OR s.name = ?3) AND b.purged_at IS NULL ORDER BY b.id LIMIT ?4
            """, .integer(first), SQLiteValue(selector.batch?.rawValue), SQLiteValue(selector.session?.rawValue),
            .integer(Int64(limit))
        ) { .batch(BatchID(rawValue: $0.integer(0))) }
    }

    // MARK: Snapshots

    /// A task's source and destination, for a person or a program: no query, no credentials.
    func ends(of task: FullTask, in batch: BatchRow) throws -> (source: RawPath, destination: RawPath) {
        let folder = try paths.place(of: task.row.folder)
        switch batch.direction {
        case .upload:
            guard let folder else { return (task.name, RawPath(batch.destination)) }
            let place = try TaskPlace(database, source: task.source, name: task.name, folder: folder)
            return (
                place.source.path,
                RawPath(batch.destination + PercentEncoding.encode(place.remote.bytes, keepingSlashes: true))
            )
        case .download:
            let directory = try TaskPlace.directory(database, source: task.source)
            let path = task.details.finalPath.map { RawPath($0) } ?? directory.appending(task.name)
            return (RawPath(task.url ?? ""), path)
        }
    }

    func snapshot(_ task: FullTask) throws -> TaskSnapshot {
        // Whoever found the task may see it.
        guard let batch = try batchRow(task.row.batch, hidden: true) else { throw QueueError.noSuchBatch }
        let (row, details) = (task.row, task.details)
        let ends = try ends(of: task, in: batch)
        let shown = try shown(task, in: batch)
        var snapshot = TaskSnapshot(
            id: row.id, uuid: UUID(task: row.id, queue: try queueUUID()), batch: row.batch, session: batch.session,
            direction: batch.direction, state: shown.state, priority: task.priority ?? batch.priority, name: task.name,
            folder: try paths.place(of: row.folder)?.tree ?? RawPath(""), source: ends.source,
            destination: ends.destination, bytesTotal: row.size, createdAt: batch.createdAt)
        let wasStarted = task.wasStarted
        if wasStarted { snapshot.protocol = try protocolName(of: task, in: batch) }
        snapshot.waitReasons = shown.waitReasons
        snapshot.cause = row.state == .failed ? details.cause : row.state == .cancelled ? .cancelledByUser : nil
        snapshot.paused = row.flags.contains(.paused)
        snapshot.pausedUntil = shown.pausedUntil
        snapshot.bytesSent = row.accepted
        snapshot.bytesAccepted = row.accepted
        snapshot.bytesVerified = row.tally.verified
        snapshot.attempts = task.attempts
        snapshot.resumedFrom = details.resumedFrom
        snapshot.restarts = Int(details.restarts)
        snapshot.bytesRepeated = details.repeated
        snapshot.skipped = row.flags.contains(.skipped)
        if shown.state == .waiting {
            snapshot.retryAt = shown.retryAt ?? (isEarly(batch) ? batch.notBefore : nil)
        }
        snapshot.error = details.failure
        snapshot.digest = StoredJSON.value(TransferDigest.self, details.digest)
        snapshot.verified = row.flags.verification
        snapshot.listed = try listed(of: row, details)
        if row.state == .completed, batch.direction == .upload {
            snapshot.etag = try etag(of: row.id)
            snapshot.answered = row.flags.answered
        }
        if let final = details.finalPath { (snapshot.finalPath, snapshot.finalPathBase64) = RawPath(final).shown }
        if wasStarted { snapshot.startedAt = task.startedAt }
        snapshot.finishedAt = row.finishedAt.map { Timestamp(milliseconds: $0) }
        snapshot.limit = try limit(of: .task(row.id))
        return snapshot
    }

    private func etag(of task: TaskID) throws -> String? {
        try database.first("SELECT etag FROM remote_versions WHERE task = ?", .integer(task.rawValue)) { $0.text(0) }
    }

    /// True when its server listed it when last asked, false when it did not, `nil` when not known. The task's row does not hold this: the
    /// folder was looked at since the task was completed, and the task did not fail by that.
    private func listed(of row: TaskRow, _ details: TaskDetails) throws -> Bool? {
        if row.state == .failed { return details.cause == .notThere ? false : nil }
        // Another one's file, that was to stay, is compared with nothing.
        guard row.state == .completed, !row.flags.contains(.spared), let finishedAt = row.finishedAt else { return nil }
        let looked = try database.integer(
            "SELECT looked_at FROM last_looks WHERE folder = ? AND due <= 0", .integer(row.folder))
        return looked.map { $0 >= finishedAt } == true ? true : nil
    }

    /// By what a task's bytes go: as its URL says, or what was said by hand, or what its host was found to speak.
    private func protocolName(of task: FullTask, in batch: BatchRow) throws -> String? {
        let url = batch.direction == .upload ? batch.destination : task.url ?? ""
        guard let scheme = TransferScheme(of: url) else { return nil }
        let name = scheme.facts.name(at: url, of: batch.direction)
        guard scheme.facts.isNegotiated, batch.direction == .upload else { return name }
        let found = try database.first(
            """
            SELECT ifnull(\(StoredJSON.sql("options")) ->> 'uploadBy',
            (SELECT \(StoredJSON.sql("CAST(facts AS TEXT)")) ->> 'uploadBy' FROM hosts WHERE origin = ?2)) FROM batches WHERE id = ?1
            """, .integer(batch.id.rawValue), .text(RemoteAddress(url)?.origin ?? "")
        ) { $0.optionalText(0) }
        return (found ?? nil) ?? name
    }

    /// Adds the facts that a list leaves out: the rules of the task, and the modification time of an upload's source.
    func tellRules(of task: FullTask, in snapshot: inout TaskSnapshot) throws {
        let found = try database.first(
            "SELECT b.options, t.mtime FROM batches b, tasks t WHERE b.id = ? AND t.id = ?",
            .integer(task.row.batch.rawValue), .integer(task.row.id.rawValue)
        ) { (options: StoredJSON.value(TransferOptions.self, $0.text(0)), changed: $0.optionalInteger(1)) }
        let options = found?.options ?? TransferOptions()
        snapshot.rules = TaskRules(
            giveUpAfterSeconds: options.giveUpAfterSeconds, verify: options.verify,
            expects: options.sha256.map { TransferDigest(algorithm: "sha-256", value: $0) })
        guard snapshot.direction == .upload else { return }
        snapshot.modifiedAt = (found?.changed).flatMap { $0 }.map { Timestamp(milliseconds: $0 / 1_000_000) }
    }

    private func queueUUID() throws -> UUID {
        let stored = try database.first("SELECT value FROM meta WHERE name = 'uuid'") { UUID(bytes: $0.bytes(0)) }
        // Written when the queue was made.
        return stored.flatMap { $0 } ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    // MARK: History

    /// The history of a task, in order. Its events have no index of their own: the log is searched from the batch's
    /// first event on.
    func history(of task: FullTask) throws -> [HistoryEntry] {
        let id = SQLiteValue.integer(task.row.id.rawValue)
        var entries = try database.rows(
            """
            SELECT e.at, e.type, e.payload, b.created_at FROM batches b CROSS JOIN events e ON e.seq >= b.first_event
            WHERE b.id = ?1 AND e.task = ?2 ORDER BY e.seq
            """, .integer(task.row.batch.rawValue), id
        ) { row in
            let payload = StoredJSON.value(EventPayload.self, row.optionalText(2)) ?? EventPayload()
            let type = TransferEventType(stored: row.integer(1)) ?? .waiting
            return HistoryEntry(
                time: Timestamp(milliseconds: row.integer(0)), what: Self.historyWord(type), cause: payload.error?.code,
                attempt: nil, message: payload.error?.message ?? payload.message ?? Self.sentence(type, payload))
        }
        entries += try database.rows(
            "SELECT started_at, ended_at, number, outcome, cause, message FROM attempts WHERE task = ? ORDER BY number",
            id
        ) { row in
            HistoryEntry(
                time: Timestamp(milliseconds: row.optionalInteger(0) ?? row.integer(1)), what: "attempt",
                cause: row.optionalInteger(4).flatMap { TransferErrorCode(stored: $0) }, attempt: Int(row.integer(2)),
                message: row.optionalText(5) ?? row.text(3))
        }
        if let batch = try batchRow(task.row.batch) {
            entries.insert(
                HistoryEntry(time: batch.createdAt, what: "queued", cause: nil, attempt: nil, message: nil), at: 0)
        }
        // Stable, so that what was stored first stays first within a millisecond.
        return entries.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
            \.element)
    }

    private static func historyWord(_ type: TransferEventType) -> String {
        switch type {
        case .taskCompleted: "completed"
        case .taskFailed: "failed"
        case .taskCancelled: "cancelled"
        case .resumedAtOffset: "resumed"
        case .resumed: "continued"
        case .responseReceived: "response"
        default: type.rawValue
        }
    }

    private static func sentence(_ type: TransferEventType, _ payload: EventPayload) -> String? {
        if let offset = payload.offset { return "at byte \(offset)" }
        if let status = payload.status { return "status \(status)" }
        return payload.waitReasons.map { "for \($0.words)" }
    }
}
