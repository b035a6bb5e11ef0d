import SQLiteConnection
import TransferModel

extension QueueView {
    func events(after sequence: EventSequence, limit: Int) throws -> [TransferEvent] {
        try database.rows(
            """
            SELECT e.seq, e.at, e.type, e.batch, e.task, s.name, e.payload, t.size, t.flags, d.digest, d.final_path, t.finished_at, t.run
            FROM events e LEFT JOIN batches b ON b.id = e.batch LEFT JOIN sessions s ON s.id = ifnull(e.session, b.session)
            LEFT JOIN tasks t ON t.id = e.task AND e.type = \(event: .taskCompleted) LEFT JOIN task_details d ON d.task = t.id
            WHERE e.seq > ? ORDER BY e.seq LIMIT ?
            """, .integer(sequence.rawValue), .integer(Int64(limit))
        ) { row in
            let type = TransferEventType(stored: row.integer(2)) ?? .waiting
            return TransferEvent(
                seq: EventSequence(rawValue: row.integer(0)), at: Timestamp(milliseconds: row.integer(1)),
                session: row.optionalText(5).flatMap { SessionName(rawValue: $0) },
                batch: row.optionalInteger(3).map { BatchID(rawValue: $0) },
                task: row.optionalInteger(4).map { TaskID(rawValue: $0) }, type: type,
                payload: type == .taskCompleted
                    ? Self.completion(row) : StoredJSON.value(EventPayload.self, row.optionalText(6)) ?? EventPayload())
        }
    }

    /// Reads the payload of a `taskCompleted` event from the task's row, which describes the last run alone; the event of an earlier run has
    /// none. The event stores its run from the second run on. Events of older engines store none: their time is compared instead.
    private static func completion(_ row: SQLiteStatement) -> EventPayload {
        var payload = EventPayload()
        let told = StoredJSON.value(CompletedRun.self, row.optionalText(6))
        guard
            told.map({ $0.run == row.integer(12) })
                ?? (row.integer(12) == 0 || row.optionalInteger(11) == row.integer(1))
        else { return payload }
        let flags = TaskFlags(rawValue: row.integer(8))
        payload.bytes = row.optionalInteger(7).flatMap(FileSize.told)
        payload.verified = flags.verification
        if flags.contains(.skipped) { payload.skipped = true }
        payload.digest = StoredJSON.value(TransferDigest.self, row.optionalText(9))
        if let final = row.optionalBytes(10) { (payload.finalPath, payload.finalPathBase64) = RawPath(final).shown }
        return payload
    }

    /// The last number that was given. Its event, and those before it, may have been purged: the number never runs backwards.
    func lastEvent() throws -> EventSequence {
        let next = try database.integer("SELECT value FROM meta WHERE name = 'next_event'") ?? 1
        return EventSequence(rawValue: max(next, 1) - 1)
    }

    func cursor(of consumer: String) throws -> EventSequence {
        EventSequence(
            rawValue: try database.integer("SELECT seq FROM consumers WHERE name = ?", .text(consumer)) ?? 0)
    }
}
