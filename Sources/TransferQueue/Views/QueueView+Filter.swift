import SQLiteConnection
import TransferModel

/// Filters over the whole queue, a stretch at a time so that nothing waits long behind one.
extension QueueView {
    /// Task numbers looked at in one visit: some milliseconds.
    private static let stretch: Int64 = 20_000

    /// Fewer for a filter that compares more: it is one client's, and all others wait for the end of a visit.
    static func stretch(of filter: TransferFilter) -> Int64 {
        max(16, stretch / Int64(1 + filter.effort / 4))
    }

    private static let error = ["message", "code", "httpStatus"].map { "\(StoredJSON.sql("d.error")) ->> '\($0)'" }
        .joined(separator: ", ")

    func search(_ filter: TransferFilter, after: TaskID, motion: [TaskID: FilterMotion]) throws -> FilterSlice {
        var slice = FilterSlice()
        slice.total = try filesTotal()
        let last = try database.integer("SELECT max(id) FROM tasks") ?? 0
        guard let first = try database.integer("SELECT min(id) FROM tasks WHERE id > ?", .integer(after.rawValue))
        else { return slice }
        let (end, isBeyond) = first.addingReportingOverflow(Self.stretch(of: filter))
        // No number of ours is so large: it is damage.
        if isBeyond { return slice }
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
            subject.size = row.optionalInteger(4).flatMap(FileSize.told)
            let isThere = stored == .completed
            subject.sent = isThere ? subject.size ?? row.count(5) : min(row.count(5), subject.size ?? .max)
            if needs.contains(.name) { subject.name = row.bytes(6) }
            if details {
                subject.waitReasons = WaitReasons(rawValue: Int32(truncatingIfNeeded: row.integer(7)))
                subject.tries = row.count(8) + (stored.isActive || stored == .completed ? 1 : 0)
            }
            if needs.contains(.error), !row.isNull(9) { subject.error = [row.bytes(9), row.bytes(10), row.bytes(11)] }
            if let moving = motion[id] {
                subject.state = moving.state
                subject.sent = moving.sent
                subject.bytesPerSecond = moving.bytesPerSecond
                subject.secondsLeft = moving.secondsLeft
                subject.isStalled = moving.isStalled
            }
            guard filter.matches(subject) else { return }
            slice.hits[FolderID(rawValue: folder), default: FilterSlice.Hits(place: place, tasks: [])].tasks.append(id)
        }
        slice.next = end <= last ? TaskID(rawValue: end - 1) : nil
        return slice
    }

    private func filesTotal() throws -> Int64 {
        return try database.integer(
            "SELECT sum(\(FolderSums.filesSQL(of: "f."))) FROM batches b JOIN folders f ON f.id = b.root WHERE b.purged_at IS NULL"
        )
            ?? 0
    }

    private func place(_ folder: Int64, _ batches: inout [BatchID: BatchRow]) throws -> FilterPlace? {
        guard let place = try paths.place(of: folder) else { return nil }
        if batches[place.batch] == nil { batches[place.batch] = try batchRow(place.batch) }
        guard let batch = batches[place.batch] else { return nil }
        return FilterPlace(
            batch: batch.id, name: batch.name, session: batch.session, chain: place.chain, folder: place.tree,
            destination: batch.destination,
            direction: batch.direction == .upload ? .upload : .download, priority: batch.priority,
            createdAt: batch.createdAt, isScanning: batch.isScanning)
    }
}
