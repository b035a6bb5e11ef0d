import SQLiteConnection
import TransferModel

/// Goes through what a search has found, in the order in which the rows stand on the screen: each batch and folder
/// before what is in it, folders before files.
struct FoundWalk {
    private let view: QueueView
    private let search: NameSearch
    private let order: TreeOrder
    private let isBackwards: Bool

    init(_ view: QueueView, _ search: NameSearch, _ order: TreeOrder, isBackwards: Bool) {
        self.view = view
        self.search = search
        self.order = order
        self.isBackwards = isBackwards
    }

    func inTree(after row: RowID?, here: Bool) throws -> FoundRow {
        let start = try row.flatMap { try way(to: $0) }
        if search.text.isEmpty { return try answer(start ?? []) }
        if let start {
            if here, isFound(start.last) { return try answer(start) }
            if let next = try next(from: start) { return try answer(next) }
        }
        let round = try edge(below: [])
        return try answer(round ?? [], wrapped: start != nil)
    }

    private func answer(_ way: [RowID], wrapped: Bool = false) throws -> FoundRow {
        var way = way
        // A file that is folded away is in its group.
        if search.filter == nil, !order.listsFiles, case .task(let batch, let task) = way.last,
            let row = try view.task(task), let batch = try view.batchRow(batch),
            let group = try FolderListing(view, batch, row.row.folder).group(holding: row)
        {
            way.insert(group, at: way.count - 1)
        }
        return FoundRow(way: way, matches: search.count, complete: search.isComplete, wrapped: wrapped && !way.isEmpty)
    }

    // MARK: The tree

    /// The rows from the batch to a row; `nil`: it is gone.
    private func way(to row: RowID) throws -> [RowID]? {
        func way(_ batch: BatchID, _ folder: Int64) throws -> [RowID]? {
            guard let chain = try view.paths.place(of: folder)?.chain else { return nil }
            return [.batch(batch)] + chain.dropLast().reversed().map { .folder(batch, $0) }
        }
        switch row {
        case .batch: return [row]
        case .folder(let batch, let folder): return try way(batch, folder.rawValue)
        case .group(let batch, let folder, _): return try way(batch, folder.rawValue).map { $0 + [row] }
        case .task(let batch, let task):
            guard let task = try view.task(task) else { return nil }
            return try way(batch, task.row.folder).map { $0 + [row] }
        }
    }

    private func isFound(_ row: RowID?) -> Bool {
        switch row {
        case .batch(let batch): search.batches.contains(batch)
        case .folder(_, let folder): search.folders.contains(folder)
        case .task(_, let task): search.found.folders.values.contains { $0.first.contains(task) }
        case .group, nil: false
        }
    }

    private func next(from start: [RowID]) throws -> [RowID]? {
        if !isBackwards, let below = try edge(below: start) { return below }
        for level in start.indices.reversed() {
            let above = Array(start[..<level])
            let rows = try children(of: above, with: start[level])
            guard let place = rows.firstIndex(of: start[level]) else { continue }
            let others = isBackwards ? Array(rows[..<place].reversed()) : Array(rows[(place + 1)...])
            for row in others { if let hit = try edge(in: above + [row]) { return hit } }
            if isBackwards, isFound(above.last) { return above }
        }
        return nil
    }

    /// The first one at or below a row, or the last.
    private func edge(in way: [RowID]) throws -> [RowID]? {
        if !isBackwards, isFound(way.last) { return way }
        if let below = try edge(below: way) { return below }
        return isBackwards && isFound(way.last) ? way : nil
    }

    private func edge(below way: [RowID]) throws -> [RowID]? {
        let rows = try children(of: way)
        for row in isBackwards ? rows.reversed() : rows {
            if let hit = try edge(in: way + [row]) { return hit }
        }
        return nil
    }

    /// The rows below one that were found or have something found in them, and one more, in the order of the screen.
    private func children(of way: [RowID], with other: RowID? = nil) throws -> [RowID] {
        switch way.last {
        case nil:
            return try view.sortedBatches(order, QueueView.mostBatches, cleared: search.filter != nil).map {
                .batch($0.id)
            }.filter { row in row == other || search.found.batches.contains(row.batch) }
        case .batch(let batch):
            guard let root = try view.batchRow(batch)?.root else { return [] }
            return try children(of: root, in: batch, with: other)
        case .folder(let batch, let folder): return try children(of: folder.rawValue, in: batch, with: other)
        case .task, .group: return []
        }
    }

    private func children(of folder: Int64, in batch: BatchID, with other: RowID?) throws -> [RowID] {
        let found = search.found.folders[FolderID(rawValue: folder)] ?? FilterMatches.Folder()
        var folders = found.folders.map(\.rawValue)
        if case .folder(_, let id) = other, !found.folders.contains(id) { folders.append(id.rawValue) }
        var rows: [RowID] =
            folders.isEmpty
            ? []
            : try view.database.rows(
                "SELECT id FROM folders WHERE id IN (SELECT value FROM json_each(?)) ORDER BY \(order.ofFolders)",
                .text(try StoredJSON.text(folders))
            ) { .folder(batch, FolderID(rawValue: $0.integer(0))) }
        var files = found.first
        if case .task(_, let id) = other, !files.contains(id) { files.append(id) }
        if files.isEmpty, case .group = other { return rows + [other].compactMap(\.self) }
        guard !files.isEmpty else { return rows }
        let sorted = try sortedFiles(files)
        guard case .group(_, _, let fate) = other else { return rows + sorted.map { .task(batch, $0.id) } }
        // A group stands before the first of its own.
        let rank = { (state: TransferState) in FolderListing.order.firstIndex(of: state) ?? FolderListing.order.count }
        let before = sorted.prefix { rank($0.state) < rank(fate.state) }
        rows += before.map { .task(batch, $0.id) } + [.group(batch, FolderID(rawValue: folder), fate)]
        return rows + sorted.dropFirst(before.count).map { .task(batch, $0.id) }
    }

    private func sortedFiles(_ ids: [TaskID]) throws -> [(id: TaskID, state: TransferState, batch: BatchID)] {
        try view.database.rows(
            """
            SELECT t.id, t.state, l.batch FROM tasks t JOIN lanes l ON l.id = t.lane
            WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY \(order.ofFiles)
            """, .text(try StoredJSON.text(ids.map(\.rawValue)))
        ) {
            (
                id: TaskID(rawValue: $0.integer(0)), state: TransferState(stored: $0.integer(1)) ?? .failed,
                batch: BatchID(rawValue: $0.integer(2))
            )
        }
    }

    // MARK: The flat list

    func inFlatList(after row: RowID?, here: Bool) throws -> FoundRow {
        if search.text.isEmpty {
            guard case .task(_, let id) = row, try view.task(id) != nil else { return answer(flat: nil, 0) }
            return answer(flat: row, 0)
        }
        var ids = search.found.someFiles
        let isThere: Bool
        if case .task(_, let id) = row { isThere = ids.contains(id) } else { isThere = true }
        if case .task(_, let id) = row, !isThere { ids.append(id) }
        let rows: [RowID] = try sortedFiles(ids).map { .task($0.batch, $0.id) }
        let hits = isThere ? rows : rows.filter { $0 != row }
        guard let place = row.flatMap({ rows.firstIndex(of: $0) }) else {
            return answer(flat: isBackwards ? hits.last : hits.first, hits.count)
        }
        if here, isThere { return answer(flat: rows[place], hits.count) }
        let next = isBackwards ? rows[..<place].last : rows[(place + 1)...].first
        if let next { return answer(flat: next, hits.count) }
        return answer(flat: isBackwards ? hits.last : hits.first, hits.count, wrapped: true)
    }

    private func answer(flat row: RowID?, _ count: Int, wrapped: Bool = false) -> FoundRow {
        FoundRow(
            way: row.map { [$0] } ?? [], matches: search.found.count, complete: search.isComplete,
            wrapped: wrapped && row != nil)
    }
}
