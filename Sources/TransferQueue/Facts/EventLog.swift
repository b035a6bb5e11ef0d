import SQLiteConnection
import TransferModel

/// The log of events, and how far its readers have come.
extension QueueConnection {
    /// Appends an event in the open transaction.
    /// - Parameter payload: `nil` when empty, and for completed tasks, whose rows say it.
    @discardableResult
    func append(
        _ type: TransferEventType, batch: BatchID?, task: TaskID? = nil, session: Int64? = nil,
        payload: EventPayload? = nil, at time: Timestamp? = nil
    ) throws -> EventSequence {
        let sequence = EventSequence(rawValue: numbers.event)
        numbers.event += 1
        try database.run(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", .integer(sequence.rawValue),
            .integer((time ?? clock()).milliseconds), .integer(type.stored), SQLiteValue(batch?.rawValue),
            SQLiteValue(task?.rawValue), SQLiteValue(batch == nil ? session : nil),
            SQLiteValue(try payload.map { try StoredJSON.text($0) }))
        change.lastEvent = sequence
        return sequence
    }

    /// Moves a consumer's cursor forward; never back, and never beyond what was stored.
    func acknowledge(_ consumer: String, through sequence: EventSequence) throws {
        try database.run(
            """
            INSERT INTO consumers VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq),
            updated_at = excluded.updated_at
            """, .text(consumer), .integer(min(sequence.rawValue, numbers.event - 1)),
            .integer(clock().milliseconds))
    }
}
