import SQLiteConnection
import TransferModel

/// The log of events, and how far its readers have come.
extension QueueConnection {
    /// Appends an event in the open transaction.
    /// - Parameter payload: `nil` when empty, and for completed tasks, whose rows say it.
    @discardableResult
    func appendEvent(
        _ type: TransferEventType, batch: BatchID?, task: TaskID? = nil, session: Int64? = nil,
        payload: EventPayload? = nil, at time: Timestamp? = nil
    ) throws -> EventSequence {
        try appendEvent(
            type, batch: batch, task: task, session: session, text: payload.map { try StoredJSON.text($0) }, at: time)
    }

    /// Appends the event of a task that is completed. Its row says the rest, as long as it is of that run.
    func appendCompletion(of row: TaskRow, at time: Timestamp) throws {
        let text = row.run == 0 ? nil : try StoredJSON.text(CompletedRun(run: row.run))
        _ = try appendEvent(.taskCompleted, batch: row.batch, task: row.id, session: nil, text: text, at: time)
    }

    private func appendEvent(
        _ type: TransferEventType, batch: BatchID?, task: TaskID?, session: Int64?, text: String?, at time: Timestamp?
    ) throws -> EventSequence {
        let sequence = EventSequence(rawValue: numbers.event)
        numbers.event += 1
        try database.run(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", .integer(sequence.rawValue),
            .integer((time ?? clock()).milliseconds), .integer(type.stored), SQLiteValue(batch?.rawValue),
            SQLiteValue(task?.rawValue), SQLiteValue(batch == nil ? session : nil),
            SQLiteValue(text))
        change.lastEvent = sequence
        return sequence
    }

    /// Consumers that are remembered. Who is forgotten gets the events from the first one that is kept: twice perhaps, and none is missed.
    private static let mostConsumers: Int64 = 10_000

    /// Moves a consumer's cursor forward; never back, and never beyond what was stored. Those that have been silent longest make room for
    /// new ones.
    func acknowledge(_ consumer: String, through sequence: EventSequence) throws {
        if try database.integer("SELECT 1 FROM consumers WHERE name = ?", .text(consumer)) == nil {
            try database.run(
                """
                DELETE FROM consumers WHERE name IN
                (SELECT name FROM consumers ORDER BY updated_at DESC, name LIMIT -1 OFFSET ?)
                """, .integer(Self.mostConsumers - 1))
        }
        try database.run(
            """
            INSERT INTO consumers VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq),
            updated_at = excluded.updated_at
            """, .text(consumer), .integer(min(sequence.rawValue, numbers.event - 1)),
            .integer(clock().milliseconds))
    }
}

/// The stored payload of a `taskCompleted` event: the run of the task that it ends, where that is not its first.
struct CompletedRun: Codable, Hashable {
    let run: Int64
}
