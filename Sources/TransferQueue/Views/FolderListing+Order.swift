import SQLiteConnection
import TransferModel

/// A folder's section in the order that was asked for.
extension FolderListing {
    func section(_ request: SectionRequest, _ limit: Int, _ moving: MovingRows) throws -> TreeSection {
        let order = request.order ?? TreeOrder()
        let reverses = order.reversed && (order.by == .queue || order.by == .state)
        let files = try order.listsFiles ? sortedFiles(order, limit) : folded(reversed: reverses)
        // Folders come first, but neither kind pushes the other out of sight.
        let folders = try folderRows(order, max(limit - files.count, limit / 2), moving)
        let all = order.listsFiles ? ByteSum.of(own.values.lazy.map(\.files)) : Int64(files.count)
        var section = TreeSection(
            parent: request.parent, rows: Array((folders + files).prefix(limit)), total: try folderCount() + all)
        switch request.showing {
        case .folder(_, let id):
            let row = try view.folderRows("id = ? AND parent = ?", .integer(id.rawValue), .integer(folder), batch)
            if let row = row.first, !section.rows.contains(where: { $0.id == row.id }) { section.rows.append(row) }
        case .task(_, let id):
            if let task = try view.task(id), try order.listsFiles || group(holding: task) == nil {
                try show(task, in: &section)
            }
        case .group(_, _, let fate) where !order.listsFiles:
            if let row = try group(of: fate), !section.rows.contains(where: { $0.id == row.id }) {
                section.rows.append(row)
            }
        case .batch, .group, nil: break
        }
        return section
    }

    /// Behind the others, when it is of this folder and not there.
    func show(_ task: QueueView.FullTask, in section: inout TreeSection) throws {
        let id = RowID.task(batch.id, task.row.id)
        guard task.row.folder == folder, !section.rows.contains(where: { $0.id == id }) else { return }
        section.rows.append(try view.nodeRow(task, in: batch))
    }

    private func folderCount() throws -> Int64 {
        try view.database.integer("SELECT count(*) FROM folders WHERE parent = ?", .integer(folder)) ?? 0
    }

    // MARK: Folders

    private func folderRows(_ order: TreeOrder, _ limit: Int, _ moving: MovingRows) throws -> [NodeRow] {
        if order.beginsWithMoving, !moving.folders.isEmpty { return try movingFirst(order, limit, moving.folders) }
        guard !order.isIndexedForFolders else {
            return try view.folderRows(
                "parent = ? ORDER BY \(order.ofFolders) LIMIT ?", .integer(folder), .integer(Int64(limit)), batch)
        }
        let sums = try view.database.first(
            "SELECT \(FolderSums.list) FROM folders WHERE id = ?", .integer(folder)
        ) { FolderSums($0, from: 0) }
        let count = try folderCount()
        let ids = try view.sorted.ids(
            SortedRows.Key(of: .folders(in: folder), order: order), token: [count] + (sums?.values ?? []), rows: count
        ) {
            try view.database.rows(
                "SELECT id FROM folders WHERE parent = ? ORDER BY \(order.ofFolders) LIMIT ?", .integer(folder),
                .integer(SortedRows.most)
            ) { $0.integer(0) }
        }
        return try folderRows(ids.prefix(limit))
    }

    private func movingFirst(_ order: TreeOrder, _ limit: Int, _ moving: Set<FolderID>) throws -> [NodeRow] {
        let ids = try StoredJSON.text(moving.map(\.rawValue))
        let first = try view.folderRows(
            "parent = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY name", .integer(folder), .text(ids), batch)
        let found = Set(first.map(\.id))
        let others = try view.folderRows(
            "parent = ? ORDER BY name LIMIT ?", .integer(folder), .integer(Int64(limit + first.count)), batch)
        return Array((first + others.filter { !found.contains($0.id) }).prefix(limit))
    }

    /// The rows of these folders, in this order.
    private func folderRows(_ ids: some Collection<Int64>) throws -> [NodeRow] {
        let rows = try view.folderRows(
            "id IN (SELECT value FROM json_each(?)) AND parent = ?", .text(try StoredJSON.text(Array(ids))),
            .integer(folder), batch)
        let byID = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        return ids.compactMap { byID[.folder(batch.id, FolderID(rawValue: $0))] }
    }

    // MARK: Files

    private func sortedFiles(_ order: TreeOrder, _ limit: Int) throws -> [NodeRow] {
        let all = own.values.reduce(into: Tally()) { $0 += $1 }
        let ids = try view.sorted.ids(
            SortedRows.Key(of: .files(in: folder), order: order), token: [all.files, all.total], rows: all.files
        ) {
            try view.database.rows(
                """
                SELECT t.id FROM tasks t INDEXED BY tasks_of_folder WHERE t.folder = ? ORDER BY \(order.ofFiles) LIMIT ?
                """, .integer(folder), .integer(SortedRows.most)
            ) { $0.integer(0) }
        }
        return try view.nodeRows(ids.prefix(limit)) { $0.row.folder == folder ? batch : nil }
    }
}

extension QueueView {
    /// The rows of these tasks, in this order.
    /// - Parameter batch: of a task; `nil`: it is not wanted.
    func nodeRows(_ ids: some Collection<Int64>, batch: (FullTask) throws -> BatchRow?) throws -> [NodeRow] {
        let tasks = try database.rows(
            """
            SELECT \(FullTask.columns) FROM tasks t JOIN lanes l ON l.id = t.lane \(FullTask.details)
            WHERE t.id IN (SELECT value FROM json_each(?))
            """, .text(try StoredJSON.text(Array(ids)))
        ) { FullTask($0) }
        let byID = Dictionary(tasks.map { ($0.row.id.rawValue, $0) }) { first, _ in first }
        return try ids.compactMap { byID[$0] }.compactMap { task in
            try batch(task).map { try nodeRow(task, in: $0) }
        }
    }
}
