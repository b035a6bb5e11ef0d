import SQLiteConnection
package import TransferModel

/// A search for a name through the whole queue: the rows whose names have it, as far as it has come.
///
/// It is gone on with a stretch at a time (`QueueReader.goOn`), so that nothing waits long behind one; its size follows
/// what was found, up to a bound.
package struct NameSearch: Sendable {
    /// Part of a name; case matters only with capitals.
    package let text: String
    /// Only files that match this; `nil`: everything.
    package let filter: TransferFilter?
    let wanted: FilterText
    /// Files by their folders, and which folders and batches have something in them.
    var found = FilterMatches()
    /// Those whose own names have it.
    var folders: Set<FolderID> = []
    var batches: Set<BatchID> = []
    fileprivate var next = Next.batches
    /// The highest IDs and the number of batches when it began; once they differ, the search is of no use any more.
    fileprivate var standing: [Int64] = []

    /// The part of the queue to look through next.
    fileprivate enum Next: Hashable {
        case batches
        case folders(after: Int64)
        case files(after: TaskID)
        case nothing
    }

    /// - Parameter text: empty: nothing is looked for, only the way to a row.
    package init(_ text: String, filter: TransferFilter? = nil) {
        if text.isEmpty { next = .nothing }
        self.text = text
        self.filter = filter
        wanted = FilterText(text, isQuoted: true)
    }

    package var isComplete: Bool { next == .nothing }
    /// Rows that were found.
    package var count: Int64 { found.count + Int64(folders.count + batches.count) }

    /// Files whose names have it, and that match the filter.
    var ofFiles: TransferFilter {
        let name = TransferFilter(.test(.text(.name, .contains, wanted)))
        return filter.map { name.and($0) } ?? name
    }
}

extension QueueView {
    /// Returns true when nothing came or went since a search began.
    func isCurrent(_ search: NameSearch) throws -> Bool { search.standing == (try standing()) }

    private func standing() throws -> [Int64] {
        try ["SELECT max(id) FROM tasks", "SELECT max(id) FROM folders", "SELECT max(id) FROM batches"].map {
            try database.integer($0) ?? 0
        } + [database.integer("SELECT count(*) FROM batches WHERE \(Self.isListed)") ?? 0]
    }

    private var listed: Set<BatchID> {
        get throws {
            Set(
                try database.rows("SELECT id FROM batches WHERE \(Self.isListed)") {
                    BatchID(rawValue: $0.integer(0))
                })
        }
    }

    /// The next stretch.
    func goOn(_ search: inout NameSearch, motion: [TaskID: FilterMotion]) throws {
        switch search.next {
        case .nothing: return
        case .batches:
            search.standing = try standing()
            search.next = search.filter == nil ? .folders(after: 0) : .files(after: TaskID(rawValue: 0))
            guard search.filter == nil else { return }
            try database.forEach("SELECT id, name FROM batches WHERE \(Self.isListed)") { row in
                guard search.wanted.isFound(in: Array(row.text(1).utf8)) else { return }
                search.batches.insert(BatchID(rawValue: row.integer(0)))
                search.found.add(batch: BatchID(rawValue: row.integer(0)))
            }
        case .folders(let after): try findFolders(&search, after)
        case .files(let after):
            var slice = try self.search(search.ofFiles, after: after, motion: motion)
            if search.filter == nil {
                let listed = try listed
                slice.hits = slice.hits.filter { listed.contains($0.value.place.batch) }
            }
            search.found.add(slice)
            search.next = slice.next.map { .files(after: $0) } ?? .nothing
        }
    }

    private func findFolders(_ search: inout NameSearch, _ after: Int64) throws {
        let stretch: Int64 = 20_000
        let listed = try listed
        var (last, seen): (Int64, Int64) = (after, 0)
        var hits: [Int64] = []
        try database.forEach(
            "SELECT id, name, parent FROM folders WHERE id > ? ORDER BY id LIMIT ?", .integer(after), .integer(stretch)
        ) { row in
            (last, seen) = (row.integer(0), seen + 1)
            // A batch's root has no name of its own.
            if row.optionalInteger(2) != nil, search.wanted.isFound(in: row.bytes(1)) { hits.append(last) }
        }
        for folder in hits {
            guard let place = try paths.place(of: folder), listed.contains(place.batch) else { continue }
            search.folders.insert(FolderID(rawValue: folder))
            search.found.add(folder: place.chain, of: place.batch)
        }
        search.next = seen < stretch ? .files(after: TaskID(rawValue: 0)) : .folders(after: last)
    }
}

extension QueueReader {
    /// Goes on with a search; anew when something came or went since it began.
    /// - Parameter motion: what moves; needed only when its filter's `needs` say so.
    package func goOn(_ search: NameSearch, motion: [TaskID: FilterMotion] = [:]) throws(QueueError) -> NameSearch {
        try view { view in
            var search = search
            if search.isComplete, !search.text.isEmpty, try !view.isCurrent(search) {
                search = NameSearch(search.text, filter: search.filter)
            }
            try view.goOn(&search, motion: motion)
            return search
        }
    }

    /// The next row of a search behind a row, or the previous one before it, and the rows above it, the batch first.
    /// - Parameters:
    ///   - row: where to begin; `nil`: at the first.
    ///   - here: whether that row counts, too.
    /// - Returns: an empty way when there is none.
    package func found(
        _ search: NameSearch, after row: RowID?, here: Bool, backwards: Bool, order: TreeOrder, flat: Bool
    ) throws(QueueError) -> FoundRow {
        try view { view in
            let walk = FoundWalk(view, search, order, isBackwards: backwards)
            return try flat ? walk.inFlatList(after: row, here: here) : walk.inTree(after: row, here: here)
        }
    }
}
