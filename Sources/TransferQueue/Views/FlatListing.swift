import SQLiteConnection
import TransferModel

/// The files of all batches in one list: what moves, what needs a look, what waits, what is over; or by name or size.
///
/// Files of a state are found by the sums of the folders above them, so that the first ones are there at once however
/// many there are.
struct FlatListing {
    private let view: QueueView

    init(_ view: QueueView) { self.view = view }

    func section(_ request: SectionRequest, _ limit: Int) throws -> TreeSection {
        let batches = try view.sortedBatches(TreeOrder(), QueueView.mostBatches)
        let total = ByteSum.of(batches.lazy.map(\.sums.files.total))
        let order = request.order ?? TreeOrder()
        var rows =
            try order.listsFiles
            ? sorted(order, batches, total, limit)
            : byState(batches, limit, reversed: order.reversed && (order.by == .queue || order.by == .state))
        if case .task(let batch, let id) = request.showing, !rows.contains(where: { $0.id == request.showing }),
            let batch = batches.first(where: { $0.id == batch }), let task = try view.task(id)
        {
            rows.append(try view.nodeRow(task, in: batch))
        }
        var section = TreeSection(parent: nil, rows: rows, total: total)
        section.counts = batches.reduce(into: FileCounts()) { $0 += view.shown($1.sums.files, in: $1) }
        return section
    }

    // MARK: By state

    private func byState(_ batches: [QueueView.BatchRow], _ limit: Int, reversed: Bool) throws -> [NodeRow] {
        var rows: [NodeRow] = []
        let order = FolderListing.order + [.created]
        for shown in reversed ? order.reversed() : order {
            for batch in batches {
                for state in TransferState.allCases
                where batch.sums.files[state] > 0 && view.shown(state, in: batch) == shown {
                    var tasks: [QueueView.FullTask] = []
                    try collect(state, in: batch.root, limit - rows.count, &tasks)
                    rows += try tasks.map { try view.nodeRow($0, in: batch) }
                    if rows.count >= limit { return rows }
                }
            }
        }
        return rows
    }

    /// The first files of a state in a folder and below it. Only folders that have some are gone into.
    private func collect(
        _ state: TransferState, in folder: Int64, _ limit: Int, _ found: inout [QueueView.FullTask]
    ) throws {
        guard found.count < limit else { return }
        found += try view.database.rows(
            """
            SELECT \(QueueView.FullTask.columns) FROM tasks t INDEXED BY tasks_of_folder JOIN lanes l ON l.id = t.lane
            \(QueueView.FullTask.details) WHERE t.folder = ? AND t.state = ? ORDER BY t.id LIMIT ?
            """, .integer(folder), .integer(state.stored), .integer(Int64(limit - found.count))
        ) { QueueView.FullTask($0) }
        guard found.count < limit, let column = Self.column(state) else { return }
        // No more folders than there is room for files: each has one at least.
        let below = try view.database.rows(
            "SELECT id FROM folders WHERE parent = ? AND \(column) > 0 ORDER BY name LIMIT ?", .integer(folder),
            .integer(Int64(limit - found.count))
        ) { $0.integer(0) }
        for folder in below where found.count < limit { try collect(state, in: folder, limit, &found) }
    }

    /// The sum of a state in `folders`.
    private static func column(_ state: TransferState) -> String? {
        FolderSums.states.first { $0.state == state }?.column
    }

    // MARK: By name or size

    private func sorted(
        _ order: TreeOrder, _ batches: [QueueView.BatchRow], _ total: Int64, _ limit: Int
    ) throws -> [NodeRow] {
        let byID = Dictionary(batches.map { ($0.id, $0) }) { first, _ in first }
        let bytes = ByteSum.of(batches.lazy.map(\.sums.total))
        // Another batch of the same sums is another list.
        let named = batches.reduce(0) { $0 &+ $1.id.rawValue &* $1.id.rawValue }
        let ids = try view.sorted.ids(
            SortedRows.Key(of: .allFiles, order: order), token: [total, bytes, Int64(batches.count), named],
            rows: total
        ) {
            try view.database.rows(
                """
                SELECT t.id FROM tasks t WHERE t.lane IN (SELECT l.id FROM lanes l JOIN batches b ON b.id = l.batch
                WHERE b.purged_at IS NULL AND b.cleared_at IS NULL) ORDER BY \(order.ofFiles) LIMIT ?
                """, .integer(SortedRows.most)
            ) { $0.integer(0) }
        }
        return try view.nodeRows(ids.prefix(limit)) { byID[$0.row.batch] }
    }
}
