import SQLiteConnection
import TransferModel

/// The tree of what matched a filter: nothing is folded.
extension QueueView {
    func section(
        _ request: SectionRequest, of matches: FilterMatches, moving: MovingRows = MovingRows()
    ) throws -> TreeSection? {
        let limit = min(max(request.limit, 1), Int(SortedRows.most))
        let order = request.order ?? TreeOrder()
        var section: TreeSection
        switch request.parent {
        case nil where request.flat == true:
            section = TreeSection(
                parent: nil, rows: try files(matches.someFiles, order, limit, request.showing), total: matches.count)
        case nil:
            let rows = try sortedBatches(order, Self.mostBatches, moving, cleared: true).filter {
                matches.batches.contains($0.id)
            }
            section = TreeSection(
                parent: nil, rows: try rows.prefix(limit).map { try nodeRow($0) }, total: Int64(rows.count))
            if case .batch(let id) = request.showing, let row = rows.dropFirst(limit).first(where: { $0.id == id }) {
                section.rows.append(try nodeRow(row))
            }
        case .batch(let id):
            guard let batch = try batchRow(id) else { return nil }
            section = try self.section(of: batch.root, in: batch, request, limit, matches)
        case .folder(let id, let folder):
            guard let batch = try batchRow(id), try paths.place(of: folder.rawValue)?.batch == id else { return nil }
            section = try self.section(of: folder.rawValue, in: batch, request, limit, matches)
        case .group, .task: return nil
        }
        (section.order, section.flat) = (request.order, request.flat)
        return section
    }

    private func section(
        of folder: Int64, in batch: BatchRow, _ request: SectionRequest, _ limit: Int, _ matches: FilterMatches
    ) throws -> TreeSection {
        let order = request.order ?? TreeOrder()
        let found = matches.folders[FolderID(rawValue: folder)] ?? FilterMatches.Folder()
        // Folders come first, but neither kind pushes the other out of sight.
        let forFolders = max(limit - found.first.count, limit / 2)
        var folders = try folderRows(
            "id IN (SELECT value FROM json_each(?)) ORDER BY \(order.ofFolders) LIMIT ?",
            .text(try StoredJSON.text(found.folders.map(\.rawValue))), .integer(Int64(forFolders)), batch)
        if case .folder(_, let id) = request.showing, found.folders.contains(id),
            !folders.contains(where: { $0.id == request.showing })
        {
            folders += try folderRows("id = ? AND parent = ?", .integer(id.rawValue), .integer(folder), batch)
        }
        let rows = folders + (try files(found.first, order, max(0, limit - folders.count), request.showing))
        return TreeSection(parent: request.parent, rows: rows, total: Int64(found.folders.count) + found.count)
    }

    /// The first of these files in an order, and one that is there in any case.
    private func files(_ ids: [TaskID], _ order: TreeOrder, _ limit: Int, _ showing: RowID?) throws -> [NodeRow] {
        var first = try database.rows(
            "SELECT t.id FROM tasks t WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY \(order.ofFiles) LIMIT ?",
            .text(try StoredJSON.text(ids.map(\.rawValue))), .integer(Int64(limit))
        ) { $0.integer(0) }
        if case .task(_, let id) = showing, !first.contains(id.rawValue), ids.contains(id) { first.append(id.rawValue) }
        var batches: [BatchID: BatchRow?] = [:]
        return try nodeRows(first) { task in
            if batches[task.row.batch] == nil { batches[task.row.batch] = .some(try batchRow(task.row.batch)) }
            return batches[task.row.batch] ?? nil
        }
    }
}
