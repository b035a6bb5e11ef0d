import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Tasks that may run, and the claims on them.
struct RunningStore: QueueSubject {
    let queue: QueueConnection
    private let secrets: SecretStore
    private let tasks: TaskStore
    private let attempts: AttemptStore

    init(_ queue: QueueConnection, secrets: SecretStore, tasks: TaskStore, attempts: AttemptStore) {
        self.queue = queue
        self.secrets = secrets
        self.tasks = tasks
        self.attempts = attempts
    }

    func laneSummaries() throws -> [LaneSummary] {
        try database.rows(
            """
            SELECT l.id, l.batch, b.direction, l.origin, CASE WHEN l.priority BETWEEN 0 AND 4 THEN l.priority ELSE b.priority END,
            b.position, l.ready, b.paused OR (b.held AND l.priority <> \(LanePriority.now)),
            CASE WHEN l.priority <> \(LanePriority.now) THEN b.not_before END,
            b.urgent OR l.priority = \(LanePriority.now), \(Self.nextPlace) FROM batches b INDEXED BY batches_unfinished JOIN lanes l ON l.batch = b.id WHERE b.finished_at IS NULL
            ORDER BY 5 DESC, b.position, l.id
            """
        ) { row in
            LaneSummary(
                lane: LaneID(rawValue: row.integer(0)), batch: BatchID(rawValue: row.integer(1)),
                direction: TransferDirection(stored: row.integer(2)), origin: row.text(3),
                priority: TransferPriority(stored: row.integer(4)), position: row.integer(5), ready: row.count(6),
                isStopped: row.integer(7) != 0,
                notBefore: row.optionalInteger(8).map { Timestamp(milliseconds: $0) }, isUrgent: row.integer(9) != 0,
                next: row.integer(10))
        }
    }

    /// The place of the first task that a lane `l` can give, in SQL; the last of all places when it has none.
    private static let nextPlace = """
        min(ifnull((SELECT min(rank) FROM tasks INDEXED BY tasks_ranked
        WHERE lane = l.id AND state = \(state: .queued) AND claimed = 0 AND rank IS NOT NULL), 9223372036854775807),
        ifnull((SELECT min(id) FROM tasks INDEXED BY tasks_ready
        WHERE lane = l.id AND state = \(state: .queued) AND claimed = 0 AND rank IS NULL) << 24, 9223372036854775807))
        """

    func order(of batch: BatchID) throws -> BatchOrder? {
        let found = try database.first(
            """
            SELECT b.uuid, s.name, b.priority, b.options, b.destination, b.kept_secrets FROM batches b JOIN sessions s ON s.id = b.session
            WHERE b.id = ?
            """, .integer(batch.rawValue)
        ) { row in
            (
                uuid: UUID(bytes: row.bytes(0)), session: SessionName(rawValue: row.text(1)) ?? .default,
                priority: TransferPriority(stored: row.integer(2)),
                options: StoredJSON.value(TransferOptions.self, row.text(3)) ?? TransferOptions(),
                destination: row.text(4), keeps: KeptSecret.read(row.optionalText(5))
            )
        }
        guard let found else { return nil }
        let kept = try found.uuid.flatMap { try secrets.secrets(of: $0) }
        var order = BatchOrder(
            batch: batch, session: found.session, priority: found.priority, options: found.options,
            secrets: kept?.secrets ?? TransferSecrets(), destination: found.destination,
            destinationQuery: kept?.destinationQuery)
        order.lacks = found.keeps.subtracting(SecretStore.names(kept))
        return order
    }

    // MARK: Claims

    func claim(_ lane: LaneID, limit: Int, now: Timestamp) throws -> [ClaimedTask] {
        let owner = try database.first(
            """
            SELECT b.id, b.direction, b.uuid, nullif(max(ifnull(b.let_go_at, 0), ifnull(b.not_before, 0)), 0), b.shares_names
            FROM lanes l JOIN batches b ON b.id = l.batch WHERE l.id = ?
            AND b.paused = 0 AND (l.priority = ?3 OR (b.held = 0 AND ifnull(b.not_before, 0) <= ?2))
            """, .integer(lane.rawValue), .integer(now.milliseconds), .integer(LanePriority.now)
        ) { row in
            ClaimOwner(
                batch: BatchID(rawValue: row.integer(0)), lane: lane,
                direction: TransferDirection(stored: row.integer(1)), uuid: UUID(bytes: row.bytes(2)),
                letGoAt: row.optionalInteger(3), sharesNames: row.integer(4) != 0)
        }
        guard let owner, limit > 0 else { return [] }
        var names = try owner.sharesNames ? SharedNames(queue, tasks, attempts, batch: owner.batch) : nil
        return try nextRows(lane, limit).compactMap { row in
            if try names?.refuses(row) == true { return nil }
            // Another one than before, and one that is read back as it was written.
            let generation = (row.generation + 1) % FileSize.largest
            try database.run(
                """
                UPDATE tasks SET claimed = 1, claims = ?1, begun_at = ifnull(begun_at, ?2),
                clock = CASE WHEN \(Self.hasTimes) THEN clock ELSE ?3 END WHERE id = ?4
                """, .integer(generation), .integer(now.milliseconds), .integer(queue.numbers.clock),
                .integer(row.id.rawValue))
            queue.ledger.addReady(-1, lane: lane.rawValue)
            if row.begunAt == nil { queue.notes.freshClaims.insert(row.id) }
            let task = try claimed(row, owner, generation: generation)
            if let task, ProgressRule.isInDoubt(restarts: task.restarts), task.accepted == 0 {
                queue.notes.inDoubt.insert(row.id)
            }
            return task
        }
    }

    /// True of a task that keeps times of earlier attempts.
    private static let hasTimes = """
        (begun_at IS NOT NULL OR claims > 0
        AND EXISTS (SELECT 1 FROM task_details WHERE task = tasks.id AND resume_point IS NOT NULL))
        """

    /// The lane's next tasks: those that were moved, and the others in the order in which they were found.
    private func nextRows(_ lane: LaneID, _ limit: Int) throws -> [ClaimRow] {
        func rows(_ index: String, _ moved: String, _ order: String) throws -> [ClaimRow] {
            try database.rows(
                """
                SELECT \(ClaimRow.columns) FROM tasks INDEXED BY \(index)
                WHERE lane = ? AND state = \(state: .queued) AND claimed = 0 AND rank \(moved) ORDER BY \(order) LIMIT ?
                """, .integer(lane.rawValue), .integer(Int64(limit))
            ) { ClaimRow($0) }
        }
        let moved = try rows("tasks_ranked", "IS NOT NULL", "rank, id")
        let found = try rows("tasks_ready", "IS NULL", "id")
        if moved.isEmpty { return found }
        return Array((moved + found).sorted { ($0.place, $0.id) < ($1.place, $1.id) }.prefix(limit))
    }

    struct ClaimOwner {
        let batch: BatchID
        let lane: LaneID
        let direction: TransferDirection
        let uuid: UUID?
        /// When somebody last let something of it go on.
        var letGoAt: Int64?
        /// Two files of it may have one name at the server.
        var sharesNames = false
    }

    struct ClaimRow: StoredRow {
        static let columns = list()

        let id: TaskID
        let folder: Int64
        let name: RawPath
        let source: Int64?
        let size: Int64?
        let accepted: Int64
        let identity: SourceIdentity
        let begunAt: Int64?
        /// The number of the clock that `begunAt` is of.
        let clock: Int64
        let flags: TaskFlags
        /// Among the tasks of its batch.
        let place: Int64
        let generation: Int64

        init(_ columns: inout RowColumns) {
            id = TaskID(rawValue: columns.integer("id"))
            folder = columns.integer("folder")
            name = RawPath(columns.bytes("name"))
            source = columns.optionalInteger("source")
            size = columns.optionalInteger("size").flatMap(FileSize.told)
            accepted = FileSize.told(columns.integer("accepted")) ?? 0
            identity = SourceIdentity(
                size: size ?? 0, modifiedNanoseconds: columns.integer("mtime"),
                inode: UInt64(bitPattern: columns.integer("inode")))
            begunAt = columns.optionalInteger("begun_at")
            clock = columns.integer("clock")
            flags = TaskFlags(rawValue: columns.integer("flags"))
            place = columns.optionalInteger("rank") ?? TaskPlaces.found(id)
            generation = columns.count("claims")
        }
    }

    private static let selectDetails =
        "SELECT url, has_query, file_name, \(TaskDetails.list()) FROM task_details WHERE task = ?"

    func claimed(_ row: ClaimRow, _ owner: ClaimOwner, generation: Int64) throws -> ClaimedTask? {
        guard let folder = try paths.place(of: row.folder) else { return nil }
        var details = TaskDetails()
        var download: (url: String, hasQuery: Bool, fileName: [UInt8]?)?
        if row.flags.contains(.details) {
            let found = try database.first(Self.selectDetails, .integer(row.id.rawValue)) { row in
                ((row.text(0), row.integer(1) != 0, row.optionalBytes(2)), TaskDetails(row, from: 3))
            }
            if let found { (download, details) = found }
        }
        var lacksQuery = false
        let work: ClaimedTask.Work
        switch owner.direction {
        case .upload:
            let place = try TaskPlace(database, source: row.source, name: row.name, folder: folder)
            work = .upload(source: place.source, remote: place.remote, identity: row.identity)
        case .download:
            let query =
                download?.hasQuery == true
                ? try owner.uuid.flatMap { try secrets.query(of: row.id, batch: $0) } : nil
            lacksQuery = download?.hasQuery == true && query == nil
            work = .download(
                url: (download?.url ?? "") + (query.map { "?" + $0 } ?? ""),
                directory: try TaskPlace.directory(database, source: row.source),
                fileName: download?.fileName.map { RawPath($0) })
        }
        let secret =
            details.resumePoint != nil && secrets.hasHandles
            ? try owner.uuid.flatMap { try secrets.handle(of: row.id, batch: $0, number: details.handle) } : nil
        var task = ClaimedTask(
            id: row.id, generation: generation, uuid: UUID(task: row.id, queue: queue.uuid), batch: owner.batch,
            lane: owner.lane,
            folder: FolderID(rawValue: row.folder), folders: folder.chain, place: row.place, name: row.name,
            work: work, size: row.size, accepted: row.accepted,
            begunBefore: row.begunAt.map { Timestamp(milliseconds: $0) }, resumePoint: details.resumePoint,
            resumeSecret: secret,
            attempts: Int(details.attempts), failures: Int(details.failures), restarts: Int(details.restarts),
            patienceSince: try (details.patienceSince ?? details.firstTriedAt ?? row.begunAt).map {
                let undecided = try attempts.undecided(row.id, details, accepted: row.accepted)
                return Timestamp(milliseconds: max($0, owner.letGoAt ?? $0)).advanced(by: .milliseconds(undecided))
            })
        task.furthest = details.counted(with: row.accepted)
        task.progressStart = try attempts.progressStart(row.id, details, accepted: row.accepted)
        task.clockWasSetBack =
            row.clock != queue.numbers.clock && (row.begunAt != nil || details.resumePoint != nil)
        task.lacksQuery = lacksQuery
        return task
    }

    /// Gives back what was claimed and never started: then nothing of it can have reached a server.
    func release(unstarted claims: [TaskClaim]) throws {
        for claim in claims {
            let id = claim.task
            guard let old = try tasks.task(id), old.claim == claim else { continue }
            var row = old
            if queue.notes.freshStops.remove(claim) != nil || queue.notes.freshClaims.contains(id) { row.begunAt = nil }
            if row.claimed, row.state.isActive { row.state = .queued }
            row.claimed = false
            queue.notes.starts[id] = nil
            try tasks.save(row, was: old)
        }
    }

    /// Leave to give a download its final name. From here on until the attempt's end it is neither paused nor cancelled, and no other
    /// download of its batch gets that name.
    func leaveToPublish(_ claim: TaskClaim, as path: RawPath) throws -> PublishingLeave {
        guard let old = try tasks.task(claim.task), old.claimed, old.claim == claim else { return .ended }
        if try tasks.hasNamesake(old, at: path) { return .nameGiven }
        var row = old
        row.state = .finishing
        row.flags.insert(.publishing)
        row.flags.remove(.cancelled)
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        details.finalPath = path.bytes
        try tasks.save(&row, was: old, details, was: oldDetails)
        return .granted
    }

    /// Returns true when another download of its batch has this name, or is getting it.
    func isGiven(_ path: RawPath, besides claim: TaskClaim) throws -> Bool {
        guard let row = try tasks.task(claim.task) else { return false }
        return try tasks.hasNamesake(row, at: path)
    }

    /// After a start: nobody has anything in hand. What ran counts as an attempt that was broken off; begun-at, resume
    /// point and accepted bytes stay. What ran without a resume point begins at zero, and that is said.
    ///
    /// A file that was getting its final name stays claimed, so that nothing changes it before the engine has looked whether it got it
    /// (`RemainsStore.publishingDownloads`).
    ///
    /// The same of a file that an earlier version had requeued before it knew that (migration 0026).
    func requeueClaimed() throws {
        let rows = try database.rows(
            """
            SELECT \(TaskRow.columns) FROM tasks t INDEXED BY tasks_claimed JOIN lanes l ON l.id = t.lane WHERE t.claimed = 1
            """
        ) { TaskRow($0) }
        try countStopped()
        for row in rows { try attempts.noteInterrupted(row.id) }
        for old in rows where old.flags.contains(.unsettled) { try leavePublishing(old) }
        for old in rows where !old.flags.contains(.unsettled) && !old.flags.contains(.publishing) {
            var row = old
            row.claimed = false
            if row.state.isActive {
                let oldDetails = try tasks.details(row)
                var details = oldDetails
                try attempts.endAttempt(row, &details, .interrupted, error: nil, at: clock())
                let (point, lost) = (details.resumePoint, details.atRisk)
                let isGuess = row.flags.contains(.guessed)
                let isForgotten = point == nil && details.unconfirmed == 0
                if row.state == .running, isForgotten || lost > 0 || isGuess {
                    let why = lost > 0 ? "this server cannot resume" : "nothing remembers how far it had come"
                    try attempts.restart(
                        &row, &details, reason: "the engine was ended in the middle, and \(why)", repeated: lost,
                        identity: nil, keepsPoint: !isGuess, at: clock())
                    // Of a server that cannot resume it says only what an earlier version of the source has left there.
                    row.flags.remove(.guessed)
                }
                row.state = .queued
                try tasks.save(&row, was: old, details, was: oldDetails)
            } else {
                try tasks.save(row, was: old)
            }
        }
    }

    /// Counts what was sent for nothing by attempts that were taken from the engine before it was killed, and of which it could not record the
    /// end: to servers that cannot resume.
    private func countStopped() throws {
        let rows = try database.rows(
            """
            SELECT \(TaskRow.columns) FROM interrupted i CROSS JOIN tasks t ON t.id = i.task JOIN lanes l ON l.id = t.lane
            WHERE t.claimed = 0 AND t.state <> \(state: .completed)
            """
        ) { TaskRow($0) }
        for old in rows {
            var row = old
            let oldDetails = try tasks.details(row)
            guard oldDetails.atRisk > 0 else { continue }
            var details = oldDetails
            try attempts.restart(
                &row, &details, reason: "it was broken off, and this server cannot resume", repeated: details.atRisk,
                identity: nil, keepsPoint: true, at: clock())
            try tasks.save(&row, was: old, details, was: oldDetails)
        }
    }

    private func leavePublishing(_ old: TaskRow) throws {
        var row = old
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        details.clearWait()
        row.state = .finishing
        row.flags.remove(.unsettled)
        row.flags.formUnion([.publishing, .cancelled])
        try tasks.save(&row, was: old, details, was: oldDetails)
    }
}

/// The location of a task's file on this machine and at the other end.
struct TaskPlace: Hashable {
    let source: SourcePlace
    /// Below the batch's destination; empty: exactly there.
    let remote: RawPath

    /// The place of an upload.
    init(_ database: SQLiteConnection, source: Int64?, name: RawPath, folder: FolderPaths.Place) throws {
        let named = try source.flatMap { source in
            try database.first("SELECT path, placement FROM sources WHERE id = ?", .integer(source)) {
                (path: RawPath($0.bytes(0)), placement: StoredPlacement(rawValue: $0.integer(1)))
            }
        }
        // A walked file's place follows from its folder, that of a directory that could not be listed, too.
        if let named, folder.tree.bytes.isEmpty {
            self.source = SourcePlace(named: named.path)
            remote = named.placement == .exactly ? RawPath("") : name
        } else {
            self.source = (folder.local ?? SourcePlace(named: RawPath("/"))).appending(name)
            remote = folder.remote.appending(name)
        }
    }

    /// The directory that a download goes into.
    static func directory(_ database: SQLiteConnection, source: Int64?) throws -> RawPath {
        try source.flatMap { source in
            try database.first("SELECT path FROM sources WHERE id = ?", .integer(source)) { RawPath($0.bytes(0)) }
        } ?? RawPath("/")
    }
}
