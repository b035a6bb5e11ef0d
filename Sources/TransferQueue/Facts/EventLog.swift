import SQLiteConnection
import TransferModel

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
}

extension QueueStore {
    /// Ends a batch whose last task is over and whose folders are walked, or takes its end back when that is no longer so.
    func finishIfOver(_ batch: BatchID) throws {
        struct State {
            let session: Int64
            let isOver: Bool
            let wasOver: Bool
            let isCutShort: Bool
            let sums: FolderSums
        }
        // Its end is told when its folders have been looked at.
        let isLooking = try awaitsLastLook(batch)
        let state = try database.first(
            """
            SELECT b.session, b.scanning, b.finished_at, \(FolderSums.columns.map { "f.\($0)" }.joined(separator: ", "))
            FROM batches b JOIN folders f ON f.id = b.root WHERE b.id = ?
            """, .integer(batch.rawValue)
        ) { row in
            let sums = FolderSums(row, from: 3)
            return State(
                session: row.integer(0),
                isOver: row.integer(1) != ListingState.goesOn.rawValue && sums.files.total == sums.files.terminal
                    && !isLooking,
                wasOver: !row.isNull(2), isCutShort: row.integer(1) == ListingState.cutShort.rawValue,
                sums: sums)
        }
        guard let state, state.isOver != state.wasOver else { return }
        let now = clock()
        try database.run(
            "UPDATE batches SET finished_at = ?, cleared_at = NULL WHERE id = ?",
            SQLiteValue(state.isOver ? now.milliseconds : nil), .integer(batch.rawValue))
        queue.change.batches.insert(batch)
        guard state.isOver else { return }
        var payload = EventPayload()
        payload.filesTotal = state.sums.files.total
        payload.filesFailed = state.sums.files.failed
        payload.state = state.sums.files.state(scanning: false, paused: false, cutShort: state.isCutShort)
        try queue.append(.batchFinished, batch: batch, payload: payload, at: now)
        queue.change.finished.insert(batch)
        let others = try database.integer(
            "SELECT 1 FROM batches WHERE session = ? AND finished_at IS NULL LIMIT 1", .integer(state.session))
        if others == nil { try queue.append(.sessionIdle, batch: nil, session: state.session, at: now) }
    }
}

extension QueueStore {
    /// Moves a consumer's cursor forward; never back, and never beyond what was stored.
    func acknowledge(_ consumer: String, through sequence: EventSequence) throws {
        try database.run(
            """
            INSERT INTO consumers VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq),
            updated_at = excluded.updated_at
            """, .text(consumer), .integer(min(sequence.rawValue, queue.numbers.event - 1)),
            .integer(clock().milliseconds))
    }
}
