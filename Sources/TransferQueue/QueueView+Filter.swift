import SQLiteConnection
import TransferModel

/// Filters over the whole queue, a stretch at a time so that nothing waits long behind one.
extension QueueView {
    /// Task numbers looked at in one visit: some milliseconds.
    private static let stretch: Int64 = 20_000

    private static let error = ["message", "code", "httpStatus"].map { "json_extract(d.error, '$.\($0)')" }
        .joined(separator: ", ")

    func search(_ filter: TransferFilter, after: TaskID, motion: [TaskID: FilterMotion]) throws -> FilterSlice {
        var slice = FilterSlice()
        slice.total = try filesTotal()
        let last = try database.integer("SELECT max(id) FROM tasks") ?? 0
        let first = try database.integer("SELECT min(id) FROM tasks WHERE id > ?", .integer(after.rawValue)) ?? last
        let end = first + Self.stretch
        let needs = filter.needs
        let details = needs.contains(.details)
        var places: [Int64: FilterPlace?] = [:]
        var batches: [BatchID: BatchRow] = [:]
        try database.forEach(
            """
            SELECT t.id, t.folder, t.state, t.flags, t.size, t.accepted, \(needs.contains(.name) ? "t.name" : "NULL"),
            \(details ? "d.wait, d.attempts" : "0, 0"), \(needs.contains(.error) ? Self.error : "NULL, NULL, NULL") FROM tasks t
            \(details ? "LEFT JOIN task_details d ON d.task = t.id" : "") WHERE t.id >= ?1 AND t.id < ?2 ORDER BY t.id
            """, .integer(first), .integer(end)
        ) { row in
            slice.examined += 1
            let folder = row.integer(1)
            if places[folder] == nil { places[folder] = .some(try place(folder, &batches)) }
            guard let found = places[folder], let place = found, let batch = batches[place.batch] else { return }
            let id = TaskID(rawValue: row.integer(0))
            let stored = TransferState(stored: row.integer(2)) ?? .failed
            var subject = FilterSubject(place: place, id: id, state: shown(stored, in: batch), now: now)
            subject.isSkipped = TaskFlags(rawValue: row.integer(3)).contains(.skipped)
            subject.size = row.optionalInteger(4)
            subject.sent = min(row.integer(5), subject.size ?? .max)
            if needs.contains(.name) { subject.name = row.bytes(6) }
            if details {
                subject.waitReasons = WaitReasons(rawValue: Int32(truncatingIfNeeded: row.integer(7)))
                subject.tries = row.integer(8) + (stored.isActive || stored == .completed ? 1 : 0)
            }
            if needs.contains(.error), !row.isNull(9) { subject.error = [row.bytes(9), row.bytes(10), row.bytes(11)] }
            if let moving = motion[id] {
                subject.state = moving.state
                subject.sent = moving.sent
                subject.bytesPerSecond = moving.bytesPerSecond
                subject.secondsLeft = moving.secondsLeft
            }
            guard filter.matches(subject) else { return }
            slice.hits[FolderID(rawValue: folder), default: FilterSlice.Hits(place: place, tasks: [])].tasks.append(id)
        }
        slice.next = end <= last ? TaskID(rawValue: end - 1) : nil
        return slice
    }

    private func filesTotal() throws -> Int64 {
        let states = ["queued", "waiting", "running", "finishing", "stopped", "completed", "failed", "cancelled"]
        return try database.integer(
            "SELECT sum(\(states.map { "f.\($0)" }.joined(separator: " + "))) FROM batches b JOIN folders f ON f.id = b.root WHERE b.purged_at IS NULL"
        )
            ?? 0
    }

    private func place(_ folder: Int64, _ batches: inout [BatchID: BatchRow]) throws -> FilterPlace? {
        guard let place = try paths.place(of: folder) else { return nil }
        if batches[place.batch] == nil { batches[place.batch] = try batchRow(place.batch) }
        guard let batch = batches[place.batch] else { return nil }
        return FilterPlace(
            batch: batch.id, name: batch.name, chain: place.chain, folder: place.tree, destination: batch.destination,
            direction: batch.direction == .upload ? .upload : .download, priority: batch.priority,
            createdAt: batch.createdAt)
    }

    // MARK: The tree of what matched

    func section(_ request: SectionRequest, of matches: FilterMatches) throws -> TreeSection? {
        let limit = min(max(request.limit, 1), 1000)
        switch request.parent {
        case nil:
            let rows = try batchRows(session: nil, limit: 10_000).filter { matches.batches.contains($0.id) }
            return TreeSection(
                parent: nil, rows: try rows.prefix(limit).compactMap { try nodeRow(.batch($0.id)) },
                total: Int64(rows.count))
        case .batch(let id):
            guard let batch = try batchRow(id) else { return nil }
            return try section(of: batch.root, in: batch, limit, matches, parent: .batch(id))
        case .folder(let id, let folder):
            guard let batch = try batchRow(id), try paths.place(of: folder.rawValue)?.batch == id else { return nil }
            return try section(of: folder.rawValue, in: batch, limit, matches, parent: .folder(id, folder))
        case .group, .task: return nil
        }
    }

    private func section(
        of folder: Int64, in batch: BatchRow, _ limit: Int, _ matches: FilterMatches, parent: RowID
    ) throws -> TreeSection {
        let found = matches.folders[FolderID(rawValue: folder)] ?? FilterMatches.Folder()
        // Folders come first, but neither kind pushes the other out of sight.
        let forFolders = min(found.folders.count, max(limit - found.first.count, limit / 2))
        let folders = try folderRows(
            "id IN (SELECT value FROM json_each(?)) AND 0 = ? ORDER BY name",
            .text(try StoredJSON.text(found.folders.prefix(forFolders).map(\.rawValue))), .integer(0), batch)
        let tasks = try database.rows(
            """
            SELECT \(FullTask.columns) FROM tasks t JOIN lanes l ON l.id = t.lane \(FullTask.details)
            WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.id
            """, .text(try StoredJSON.text(found.first.prefix(limit - folders.count).map(\.rawValue)))
        ) { FullTask($0) }.map { try nodeRow($0, in: batch) }
        let order = FolderListing.order
        let sorted = tasks.enumerated().sorted { one, other in
            let (first, second) = (
                order.firstIndex(of: one.element.state) ?? 9, order.firstIndex(of: other.element.state) ?? 9
            )
            return (first, one.offset) < (second, other.offset)
        }
        return TreeSection(
            parent: parent, rows: folders + sorted.map(\.element), total: Int64(found.folders.count) + found.count)
    }
}
