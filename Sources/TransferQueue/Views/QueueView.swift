import FoundationEssentials
import SQLiteConnection
import TransferModel

/// One committed state of the queue, seen through a connection inside a transaction.
struct QueueView {
    let database: SQLiteConnection
    let now: Timestamp
    let paths: FolderPaths
    /// Orders that were sorted before.
    let sorted: SortedRows

    init(_ database: SQLiteConnection, now: Timestamp, sorted: SortedRows) {
        self.database = database
        self.now = now
        self.sorted = sorted
        paths = FolderPaths(database)
    }

    // MARK: Batches

    /// A batch's row with its root's counters.
    struct BatchRow: StoredRow {
        let id: BatchID
        let uuid: UUID
        let session: SessionName
        let name: String
        let direction: TransferDirection
        let isHeld: Bool
        let isPaused: Bool
        let isScanning: Bool
        /// A cancel stopped the walk of its folders.
        let isCutShort: Bool
        let priority: TransferPriority
        let position: Int64
        let createdAt: Timestamp
        let finishedAt: Timestamp?
        let notBefore: Timestamp?
        let destination: String
        let root: Int64
        let sums: FolderSums
        /// A person wants it now.
        let isUrgent: Bool
        let leftOut: LeftOut

        static let columns = list()
        static let tables = allTables + " AND b.purged_at IS NULL"
        /// With batches that a person has forgotten.
        static let allTables = "batches b JOIN sessions s ON s.id = b.session JOIN folders f ON f.id = b.root"

        /// All its files are over, and its folders at the server are still to be looked at.
        var isLooking: Bool {
            finishedAt == nil && !isScanning && sums.files.total > 0 && sums.files.total == sums.files.terminal
        }

        init(_ columns: inout RowColumns) {
            id = BatchID(rawValue: columns.integer("b.id"))
            // A damaged UUID is a finding of `check`, not a reason to hide the batch.
            uuid = UUID(bytes: columns.bytes("b.uuid")) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            session = SessionName(rawValue: columns.text("s.name")) ?? .default
            name = BatchName.cut(columns.text("b.name"))
            direction = TransferDirection(stored: columns.integer("b.direction"))
            isHeld = columns.flag("b.held")
            isPaused = columns.flag("b.paused")
            let listing = ListingState(rawValue: columns.integer("b.scanning"))
            isScanning = listing == .goesOn
            isCutShort = listing == .cutShort
            priority = TransferPriority(stored: columns.integer("b.priority"))
            position = columns.integer("b.position")
            createdAt = Timestamp(milliseconds: columns.integer("b.created_at"))
            finishedAt = columns.time("b.finished_at")
            notBefore = columns.time("b.not_before")
            destination = columns.text("b.destination").cut(toBytes: BatchRequest.Work.longestURL)
            root = columns.integer("b.root")
            sums = columns.row(of: "f.")
            isUrgent = columns.flag("b.urgent")
            leftOut = LeftOut(
                links: columns.count("b.left_links"), special: columns.count("b.left_special"),
                emptyFolders: columns.count("b.left_empty"))
        }
    }

    /// Counts of its files that servers list; `nil`: no look at its folders is recorded.
    private func listed(of batch: BatchID) throws -> ListedFiles? {
        let found = try database.first(
            """
            SELECT \(ByteSum.sql("listed")), \(ByteSum.sql("files")), sum(due > 0), sum(error IS NOT NULL), max(looked_at), max(error)
            FROM last_looks INDEXED BY last_looks_of_batch WHERE batch = ?
            """, .integer(batch.rawValue)
        ) { row in
            row.isNull(2)
                ? nil
                : ListedFiles(
                    found: row.count(0), of: row.count(1), foldersLeft: row.count(2),
                    foldersUnlisted: row.count(3),
                    at: row.optionalInteger(4).map { Timestamp(milliseconds: $0) },
                    message: StoredJSON.value(TransferError.self, row.optionalText(5))?.message)
        }
        return found ?? nil
    }

    func batchRow(_ id: BatchID, hidden: Bool = false) throws -> BatchRow? {
        let tables = hidden ? BatchRow.allTables : BatchRow.tables
        return try database.first("SELECT \(BatchRow.columns) FROM \(tables) WHERE b.id = ?", .integer(id.rawValue)) {
            BatchRow($0)
        }
    }

    /// - Parameter cleared: with those that a person has put away.
    func batchRows(session: SessionName?, limit: Int, cleared: Bool = true) throws -> [BatchRow] {
        let session = SQLiteValue(session?.rawValue)
        let unfinished = try database.rows(
            """
            SELECT \(BatchRow.columns) FROM \(BatchRow.tables) WHERE b.finished_at IS NULL AND (?1 IS NULL OR s.name = ?1)
            ORDER BY b.priority DESC, b.position LIMIT ?2
            """, session, .integer(Int64(limit))
        ) { BatchRow($0) }
        let finished = try database.rows(
            """
            SELECT \(BatchRow.columns) FROM \(BatchRow.tables) WHERE b.finished_at IS NOT NULL
            AND (?1 IS NULL OR s.name = ?1) \(cleared ? "" : "AND b.cleared_at IS NULL")
            ORDER BY b.finished_at DESC, b.id DESC LIMIT ?2
            """, session, .integer(Int64(limit - unfinished.count))
        ) { BatchRow($0) }
        return unfinished + finished
    }

    private func causes(of batch: BatchID) throws -> [CauseCount] {
        try database.rows(
            """
            SELECT value, files, message, detail, at FROM reasons WHERE batch = ? AND kind = \(reasons: .failed) AND files > 0
            ORDER BY files DESC, value, detail
            """, .integer(batch.rawValue)
        ) { row in
            let told = ReasonText(stored: row.text(2))
            var cause = CauseCount(
                code: TransferErrorCode(stored: row.integer(0)) ?? .internal, count: row.count(1),
                finding: told.finding, httpStatus: row.integer(3) == 0 ? nil : Int(row.integer(3)),
                lastAt: row.optionalInteger(4).map { Timestamp(milliseconds: $0) })
            (cause.said, cause.detail) = (told.said, told.detail)
            return cause
        }
    }

    /// Counts of the tasks that wait for a person or for room, by reason. A task that waits for two such things counts for both.
    private func waits(of batch: BatchRow) throws -> [WaitCount] {
        guard batch.sums.files.waiting > 0 else { return [] }
        var found: [WaitCount] = []
        try database.forEach(
            """
            SELECT value, files, message, detail, at FROM reasons WHERE batch = ? AND kind = \(reasons: .waiting) AND files > 0
            ORDER BY files DESC, value, detail
            """, .integer(batch.id.rawValue)
        ) { row in
            let code = row.integer(3) == 0 ? nil : TransferErrorCode(stored: row.integer(3))
            let told = ReasonText(stored: row.text(2))
            for reason in Self.problems(in: row.integer(0), code) {
                var wait = WaitCount(
                    reason: reason, code: reason.isProblem ? nil : code, count: row.count(1), finding: told.finding,
                    lastAt: row.optionalInteger(4).map { Timestamp(milliseconds: $0) })
                (wait.said, wait.detail) = (told.said, told.detail)
                if let same = found.firstIndex(where: {
                    $0.reason == wait.reason && $0.code == wait.code && $0.known.what == wait.known.what
                }) {
                    ByteSum.add(wait.count, to: &found[same].count)
                    found[same].lastAt = [found[same].lastAt, wait.lastAt].compactMap(\.self).max()
                } else {
                    found.append(wait)
                }
            }
        }
        return found
    }

    /// The stored reasons that wait for a person or for room: those of such a kind, or else the one that the cause makes a problem.
    static func problems(in stored: Int64, _ cause: TransferErrorCode?) -> [WaitReason] {
        let reasons = WaitReasons(rawValue: Int32(truncatingIfNeeded: stored)).reasons
        let problems = reasons.filter(\.isProblem)
        return problems.isEmpty && cause != nil ? Array(reasons.prefix(1)) : problems
    }

    func snapshot(_ batch: BatchRow) throws -> BatchSnapshot {
        let shown = try shown(batch)
        var snapshot = BatchSnapshot(
            id: batch.id, uuid: batch.uuid, session: batch.session, name: batch.name,
            direction: batch.direction == .upload ? .upload : .download,
            state: shown.state, scanning: batch.isScanning, paused: batch.isPaused, priority: batch.priority,
            createdAt: batch.createdAt,
            finishedAt: batch.finishedAt, destination: batch.destination, counts: shown.counts, bytes: batch.sums.bytes,
            waitReasons: shown.waitReasons, causes: try causes(of: batch.id),
            limit: shown.limit, notBefore: batch.notBefore)
        snapshot.pausedUntil = shown.pausedUntil
        snapshot.leftOut = batch.leftOut
        snapshot.waits = try waits(of: batch)
        snapshot.listed = try listed(of: batch.id)
        return snapshot
    }
}
