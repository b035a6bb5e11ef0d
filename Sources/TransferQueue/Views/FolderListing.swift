import SQLiteConnection
import TransferModel

/// The files directly in one folder, folded: interesting tasks by name, the rest as counts.
struct FolderListing {
    let view: QueueView
    let batch: QueueView.BatchRow
    let folder: Int64
    let own: [TransferState: Tally]
    /// Failed tasks by cause, the most frequent first, where they failed for several.
    private let causes: [(cause: TransferErrorCode, tally: Tally)]
    /// The error of the batch's failed tasks, when all have the same.
    private let onlyCause: TransferError?

    /// More failed tasks than this are not looked through whenever something changes: they stay one group.
    private static let mostSorted: Int64 = 2000

    init(_ view: QueueView, _ batch: QueueView.BatchRow, _ folder: Int64) throws {
        self.view = view
        self.batch = batch
        self.folder = folder
        var own: [TransferState: Tally] = [:]
        try view.database.forEach(
            "SELECT state, \(Tally.list) FROM own_counts WHERE folder = ? AND files > 0",
            .integer(folder)
        ) { row in
            guard let state = TransferState(stored: row.integer(0)) else { return }
            own[state] = Tally(row, from: 1)
        }
        self.own = own
        let failed = own[.failed]?.files ?? 0
        let known = failed > 0 ? try Self.known(view, batch) : []
        onlyCause = known.count == 1 ? known.first : nil
        causes = Set(known.map(\.code)).count > 1 && failed <= Self.mostSorted ? try Self.causes(view, folder) : []
    }

    /// Every cause for which tasks of the batch failed.
    private static func known(_ view: QueueView, _ batch: QueueView.BatchRow) throws -> [TransferError] {
        try view.database.rows(
            "SELECT value, message FROM reasons WHERE batch = ? AND kind = \(reasons: .failed) AND files > 0",
            .integer(batch.id.rawValue)
        ) { row in
            let told = ReasonText(stored: row.text(1))
            var error = TransferError(TransferErrorCode(stored: row.integer(0)) ?? .internal, told.finding)
            (error.said, error.detail) = (told.said, told.detail)
            return error
        }
    }

    private static func causes(
        _ view: QueueView, _ folder: Int64
    ) throws -> [(cause: TransferErrorCode, tally: Tally)] {
        try view.database.rows(
            """
            SELECT d.cause, count(*), \(ByteSum.sql("ifnull(t.size, 0)")), \(ByteSum.sql("t.accepted")) FROM tasks t INDEXED BY tasks_of_folder
            JOIN task_details d ON d.task = t.id WHERE t.folder = ? AND t.state = ? AND d.cause IS NOT NULL
            GROUP BY d.cause ORDER BY 2 DESC, 1
            """, .integer(folder), .integer(TransferState.failed.stored)
        ) { row in
            TransferErrorCode(stored: row.integer(0)).map {
                (
                    cause: $0,
                    tally: Tally(
                        files: row.count(1), total: row.byteSum(2), accepted: row.byteSum(3), verified: 0)
                )
            }
        }.compactMap { $0 }
    }

    /// The order in which a person wants to see them.
    static let order: [TransferState] = [
        .running, .finishing, .failed, .waiting, .paused, .queued, .completed, .cancelled,
    ]

    private func tally(_ fate: RowID.Fate) -> Tally? {
        guard let cause = fate.cause else { return own[fate.state] }
        return causes.first { $0.cause == cause }?.tally
    }

    /// The groups in which tasks are listed and folded: states, and failed tasks by their causes.
    var fates: [RowID.Fate] {
        Self.order.filter { own[$0] != nil }.flatMap { state in
            state == .failed && !causes.isEmpty
                ? causes.map { RowID.Fate(.failed, cause: $0.cause) } : [RowID.Fate(state)]
        }
    }

    /// Number of tasks of a fate that are listed one by one before the rest is folded.
    func listed(_ fate: RowID.Fate) -> Int64 {
        let count = tally(fate)?.files ?? 0
        switch fate.state {
        case .running, .finishing: return min(count, 100)
        // A group of one would say less than its name.
        case .failed where fate.cause != nil: return count <= 3 ? count : 2
        case .failed, .waiting, .paused: return count <= 4 ? count : 3
        default: return count <= 3 ? count : 0
        }
    }

    /// Files by their fates: some one by one, the rest folded.
    func folded(reversed: Bool) throws -> [NodeRow] {
        var tasks: [NodeRow] = []
        for fate in reversed ? fates.reversed() : fates {
            let some = try rows(of: fate, offset: 0, limit: listed(fate))
            tasks += some
            if let group = try group(of: fate, listed: some) { tasks.append(group) }
        }
        return tasks
    }

    /// The row that stands for the tasks of a fate that are not listed; `nil` when all are.
    func group(of fate: RowID.Fate) throws -> NodeRow? {
        try group(of: fate, listed: rows(of: fate, offset: 0, limit: listed(fate)))
    }

    /// The row in which a task of this folder is folded away; `nil`: it is listed.
    func group(holding task: QueueView.FullTask) throws -> RowID? {
        guard task.row.folder == folder else { return nil }
        let fate = fates.first { $0.state == task.row.state && ($0.cause == nil || $0.cause == task.details.cause) }
        guard let fate, let tally = tally(fate), tally.files > listed(fate) else { return nil }
        let isListed = try rows(of: fate, offset: 0, limit: listed(fate)).contains {
            $0.id == .task(batch.id, task.row.id)
        }
        return isListed ? nil : .group(batch.id, FolderID(rawValue: folder), fate)
    }

    private func group(of fate: RowID.Fate, listed: [NodeRow]) throws -> NodeRow? {
        guard let tally = tally(fate), tally.files > Int64(listed.count) else { return nil }
        let shown = view.shown(fate.state, in: batch)
        var counts = FileCounts()
        counts[shown] = tally.files - Int64(listed.count)
        var bytes = tally.bytes(in: fate.state)
        for row in listed {
            bytes -= row.bytes
        }
        var row = NodeRow(
            id: .group(batch.id, FolderID(rawValue: folder), fate), name: "", state: shown, counts: counts,
            bytes: bytes)
        row.effectivelyPaused = try batch.isPaused || view.paths.isPaused(folder)
        if shown == .waiting {
            row.waitReasons = try view.waitReasons(
                of: fate.state == .waiting ? view.waitingFiles(in: folder) : [],
                queued: fate.state == .queued ? tally.files : 0, in: batch)
        }
        if fate.state == .failed { row.error = fate.cause == nil ? onlyCause : listed.first?.error }
        return row
    }

    /// The tasks that a group stands for, the first of them.
    /// - Parameter showing: a task that is there in any case, when it is one of them.
    func page(of fate: RowID.Fate, _ limit: Int, showing: RowID? = nil) throws -> TreeSection {
        let offset = listed(fate)
        let total = max(0, (tally(fate)?.files ?? 0) - offset)
        var section = TreeSection(
            parent: .group(batch.id, FolderID(rawValue: folder), fate),
            rows: total == 0 ? [] : try rows(of: fate, offset: offset, limit: Int64(limit)), total: total)
        if case .task(_, let id) = showing, let task = try view.task(id), task.row.state == fate.state {
            try show(task, in: &section)
        }
        return section
    }

    /// The tasks that a group stands for, by number.
    func tasks(of fate: RowID.Fate, after: TaskID?, _ limit: Int) throws -> [NodeID] {
        let (join, condition) = Self.clauses(fate)
        return try view.database.rows(
            "SELECT t.id FROM tasks t \(join) WHERE t.folder = ? AND t.state = ? AND t.id > ? \(condition) ORDER BY t.id LIMIT ? OFFSET ?",
            .integer(folder), .integer(fate.state.stored), .integer(after?.rawValue ?? 0), .integer(Int64(limit)),
            .integer(after == nil ? listed(fate) : 0)
        ) { .task(TaskID(rawValue: $0.integer(0))) }
    }

    /// The number of a cause is our own: it may stand in the statement.
    private static func clauses(_ fate: RowID.Fate) -> (join: String, condition: String) {
        fate.cause.map { ("JOIN task_details d ON d.task = t.id", "AND d.cause = \(cause: $0)") } ?? ("", "")
    }

    func rows(of fate: RowID.Fate, offset: Int64, limit: Int64) throws -> [NodeRow] {
        if limit == 0 { return [] }
        return try view.database.rows(
            """
            SELECT \(QueueView.FullTask.columns) FROM tasks t INDEXED BY tasks_of_folder JOIN lanes l ON l.id = t.lane
            \(QueueView.FullTask.details) WHERE t.folder = ? AND t.state = ? \(Self.clauses(fate).condition)
            ORDER BY t.id LIMIT ? OFFSET ?
            """, .integer(folder), .integer(fate.state.stored), .integer(limit), .integer(offset)
        ) { QueueView.FullTask($0) }.map { try view.nodeRow($0, in: batch) }
    }
}
