import SQLiteConnection
import TransferModel

/// The rows of the screen's tree. Every query is bounded by the request's limit, whatever the folder holds.
extension QueueView {
    func rowID(of node: NodeID) throws -> RowID? {
        switch node {
        case .batch(let id):
            try batchRow(id).map { _ in .batch(id) }
        case .folder(let batch, let path):
            try batchRow(batch).flatMap { _ in try paths.folder(path, in: batch) }.map {
                .folder(batch, FolderID(rawValue: $0))
            }
        case .task(let id):
            try task(id).flatMap { row in try batchRow(row.row.batch).map { .task($0.id, id) } }
        }
    }

    func node(_ id: RowID) throws -> NodeID? {
        guard try nodeRow(id) != nil else { return nil }
        switch id {
        case .batch(let batch): return .batch(batch)
        case .task(_, let task): return .task(task)
        case .group: return nil
        case .folder(let batch, let folder):
            guard let path = try paths.place(of: folder.rawValue)?.tree else { return nil }
            return path.bytes.isEmpty ? .batch(batch) : .folder(batch, path: path)
        }
    }

    func nodes(in row: RowID, after: TaskID?, limit: Int) throws -> [NodeID] {
        guard case .group(let id, let folder, let fate) = row else {
            return after == nil ? try node(row).map { [$0] } ?? [] : []
        }
        guard let batch = try batchRow(id), try paths.place(of: folder.rawValue)?.batch == id else { return [] }
        return try FolderListing(self, batch, folder.rawValue).tasks(of: fate, after: after, limit)
    }

    func nodeRow(_ id: RowID) throws -> NodeRow? {
        switch id {
        case .batch(let batch): return try batchRow(batch).map { try nodeRow($0) }
        case .folder(let batch, let folder):
            guard let batch = try batchRow(batch) else { return nil }
            return try folderRows("id = ? AND batch = ?", .integer(folder.rawValue), .integer(batch.id.rawValue), batch)
                .first
        case .task(let batch, let task):
            guard let batch = try batchRow(batch), let row = try self.task(task), row.row.batch == batch.id else {
                return nil
            }
            return try nodeRow(row, in: batch)
        case .group(let batch, let folder, let fate):
            guard let batch = try batchRow(batch) else { return nil }
            return try FolderListing(self, batch, folder.rawValue).group(of: fate)
        }
    }

    func nodeRow(_ batch: BatchRow) throws -> NodeRow {
        let shown = try shown(batch)
        var row = NodeRow(
            id: .batch(batch.id), name: batch.name, state: shown.state, counts: shown.counts, bytes: batch.sums.bytes)
        row.waitReasons = shown.waitReasons
        row.paused = batch.isPaused
        row.pausedUntil = shown.pausedUntil
        row.effectivelyPaused = batch.isPaused
        row.scanning = batch.isScanning
        row.source = RawPath(batch.destination)
        row.path = RawPath(batch.destination).displayed
        if row.counts.total == 1, row.counts.completed == 0 { row.error = try onlyError(of: batch.id) }
        row.priority = batch.priority
        row.limit = shown.limit
        row.notBefore = batch.notBefore
        if batch.session != .default { row.session = batch.session }
        return row
    }

    /// The error of the file of a batch of one file.
    private func onlyError(of batch: BatchID) throws -> TransferError? {
        let text = try database.first(
            """
            SELECT d.error FROM batches b JOIN tasks t ON t.id BETWEEN b.first_task AND b.last_task
            JOIN lanes l ON l.id = t.lane AND l.batch = b.id JOIN task_details d ON d.task = t.id WHERE b.id = ?
            """, .integer(batch.rawValue)
        ) { $0.optionalText(0) }
        return StoredJSON.value(TransferError.self, text ?? nil)
    }

    private struct FolderRow: StoredRow {
        let id: Int64
        let name: RawPath
        /// It or a folder directly below is still to be listed.
        let isScanning: Bool
        let isPaused: Bool
        let sums: FolderSums

        static let columns = list()

        init(_ columns: inout RowColumns) {
            id = columns.integer("id")
            name = RawPath(columns.bytes("name"))
            isScanning = columns.flag(
                "walk > 0 OR EXISTS (SELECT 1 FROM folders c WHERE c.parent = folders.id AND c.walk > 0)")
            isPaused = columns.flag("paused")
            sums = columns.row()
        }
    }

    /// Rows of folders that a condition with two values chooses, and how many it may choose.
    func folderRows(
        _ condition: String, _ first: SQLiteValue, _ second: SQLiteValue, _ batch: BatchRow
    ) throws -> [NodeRow] {
        let found = try database.rows(
            "SELECT \(FolderRow.columns) FROM folders WHERE \(condition)", first, second
        ) { FolderRow($0) }
        return try found.map { folder in
            let place = try paths.place(of: folder.id)
            let counts = shown(folder.sums.files, in: batch)
            let isPaused = batch.isPaused || place?.isPaused == true
            // A folder knows of its own and its children's listing; what lies deeper shows when it is reached.
            let isScanning = folder.isScanning && batch.isScanning
            var row = NodeRow(
                id: .folder(batch.id, FolderID(rawValue: folder.id)), name: folder.name.displayed,
                state: counts.state(scanning: isScanning, paused: isPaused), counts: counts, bytes: folder.sums.bytes)
            row.paused = folder.isPaused
            if row.state == .paused || counts.paused > 0 {
                row.pausedUntil =
                    try isPaused
                    ? pauseEnds(pausedBy(batch, folder.id)) : pauseEnd(below: folder.id, of: batch)
            }
            row.effectivelyPaused = isPaused
            row.scanning = isScanning
            if counts.waiting > 0 {
                row.waitReasons = try waitReasons(
                    of: waitingFiles(below: folder.id), queued: folder.sums.files.queued, in: batch)
            }
            let remote = batch.destination + (place?.remote.displayed ?? "")
            row.source = place?.local?.path ?? RawPath(Array(batch.destination.utf8) + (place?.remote.bytes ?? []))
            row.path = (place?.local.map { $0.path.displayed + " -> " } ?? "") + RawPath(remote).displayed
            row.priority = place?.priority.map { TransferPriority(stored: $0) } ?? batch.priority
            row.limit = try limit(of: .folder(FolderID(rawValue: folder.id)))
            return row
        }
    }

    func nodeRow(_ task: FullTask, in batch: BatchRow) throws -> NodeRow {
        let shown = try shown(task, in: batch)
        var row = NodeRow(
            id: .task(batch.id, task.row.id), name: task.name.displayed, state: shown.state, counts: shown.counts,
            bytes: task.row.tally.bytes(in: task.row.state))
        row.sizeKnown = task.row.size != nil
        row.waitReasons = shown.waitReasons
        row.paused = task.row.flags.contains(.paused)
        row.pausedUntil = shown.pausedUntil
        row.effectivelyPaused = !shown.pausedBy.isEmpty
        row.retryAt = shown.retryAt
        row.error = task.details.failure
        row.skipped = task.row.flags.contains(.skipped)
        let ends = try ends(of: task, in: batch)
        row.source = ends.source
        row.path = ends.source.displayed + " -> " + ends.destination.displayed
        row.priority = task.priority ?? batch.priority
        row.limit = try limit(of: .task(task.row.id))
        if task.details.wait.contains(WaitReasons(.notBefore)) { row.notBefore = row.retryAt }
        if task.wasStarted {
            (row.startedAt, row.attempts) = (task.startedAt, task.attempts)
            row.comparedBy = task.comparedBy
        }
        return row
    }

    // MARK: Sections

    func section(_ request: SectionRequest, moving: MovingRows = MovingRows()) throws -> TreeSection? {
        let limit = min(max(request.limit, 1), Int(SortedRows.most))
        var section: TreeSection
        switch request.parent {
        case nil where request.flat == true: section = try FlatListing(self).section(request, limit)
        case nil: section = try batches(request, limit, moving)
        case .batch(let id):
            guard let batch = try batchRow(id) else { return nil }
            section = try FolderListing(self, batch, batch.root).section(request, limit, moving)
        case .folder(let id, let folder):
            guard let batch = try batchRow(id), try paths.place(of: folder.rawValue)?.batch == id else { return nil }
            section = try FolderListing(self, batch, folder.rawValue).section(request, limit, moving)
        case .group(let id, let folder, let fate):
            guard let batch = try batchRow(id), try paths.place(of: folder.rawValue)?.batch == id else { return nil }
            section = try FolderListing(self, batch, folder.rawValue).page(of: fate, limit, showing: request.showing)
        case .task: return nil
        }
        (section.order, section.flat) = (request.order, request.flat)
        return section
    }

    /// The rows of the root.
    private func batches(_ request: SectionRequest, _ limit: Int, _ moving: MovingRows) throws -> TreeSection {
        var rows = try sortedBatches(request.order ?? TreeOrder(), limit, moving).map { try nodeRow($0) }
        if case .batch(let id) = request.showing, !rows.contains(where: { $0.id == .batch(id) }),
            let batch = try batchRow(id), try isListed(id)
        {
            rows.append(try nodeRow(batch))
        }
        let total = try database.integer("SELECT count(*) FROM batches WHERE \(Self.isListed)") ?? 0
        return TreeSection(parent: nil, rows: rows, total: total)
    }

    private func isListed(_ batch: BatchID) throws -> Bool {
        try database.integer(
            "SELECT 1 FROM batches WHERE id = ? AND \(Self.isListed)", .integer(batch.rawValue)) != nil
    }

    /// The first batches of an order.
    /// - Parameter cleared: with those that a person has put away.
    func sortedBatches(
        _ order: TreeOrder, _ limit: Int, _ moving: MovingRows = MovingRows(), cleared: Bool = false
    ) throws -> [BatchRow] {
        switch order.by {
        case .queue where order.reversed:
            return batchesAtMost(
                try batchRows(session: nil, limit: Self.mostBatches, cleared: cleared).reversed(), limit)
        case .queue: return try batchRows(session: nil, limit: limit, cleared: cleared)
        case .speed, .eta:
            let first = try moving.batches.sorted { $0.rawValue < $1.rawValue }.compactMap { try batchRow($0) }
            let others = try batchRows(
                session: nil, limit: min(Self.mostBatches, limit + first.count), cleared: cleared
            ).filter { !moving.batches.contains($0.id) }
            return batchesAtMost(first + others, limit)
        case .name, .size, .files, .done, .state:
            return try database.rows(
                """
                SELECT \(BatchRow.columns) FROM \(BatchRow.tables) WHERE b.purged_at IS NULL \(cleared ? "" : "AND b.cleared_at IS NULL")
                ORDER BY \(order.ofBatches) LIMIT ?
                """, .integer(Int64(limit))
            ) { BatchRow($0) }
        }
    }

    /// More than anybody keeps in the list.
    static let mostBatches = 10_000

    private func batchesAtMost(_ rows: [BatchRow], _ limit: Int) -> [BatchRow] { Array(rows.prefix(limit)) }
}
