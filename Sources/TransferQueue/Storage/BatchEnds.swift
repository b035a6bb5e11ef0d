import SQLiteConnection
import TransferModel

/// Ends batches when everything in them is over.
struct BatchEnds: QueueSubject {
    let queue: QueueConnection
    let looks: LastLookStore

    /// Ends a batch whose last task is over and whose folders are walked, or takes its end back when that is no longer so.
    func finishIfOver(_ batch: BatchID) throws {
        struct State {
            let session: Int64
            let isOver: Bool
            let wasOver: Bool
            let isCutShort: Bool
            let isCleared: Bool
            let sums: FolderSums

            /// It was put away as over and without a failure.
            var mustBeSeen: Bool { isCleared && (!isOver || sums.files.failed > 0) }
        }
        // Its end is told when its folders have been looked at.
        let isLooking = try looks.awaitsLastLook(batch)
        let state = try database.first(
            """
            SELECT b.session, b.scanning, b.finished_at, b.cleared_at, \(FolderSums.list(of: "f."))
            FROM batches b JOIN folders f ON f.id = b.root WHERE b.id = ?
            """, .integer(batch.rawValue)
        ) { row in
            let sums = FolderSums(row, from: 4)
            return State(
                session: row.integer(0),
                isOver: row.integer(1) != ListingState.goesOn.rawValue && sums.files.total == sums.files.terminal
                    && !isLooking,
                wasOver: !row.isNull(2), isCutShort: row.integer(1) == ListingState.cutShort.rawValue,
                isCleared: !row.isNull(3), sums: sums)
        }
        guard let state else { return }
        if state.mustBeSeen {
            try database.run("UPDATE batches SET cleared_at = NULL WHERE id = ?", .integer(batch.rawValue))
            queue.change.note(wholly: batch)
        }
        guard state.isOver != state.wasOver else { return }
        let now = clock()
        try database.run(
            "UPDATE batches SET finished_at = ? WHERE id = ?",
            SQLiteValue(state.isOver ? now.milliseconds : nil), .integer(batch.rawValue))
        queue.change.batches.insert(batch)
        guard state.isOver else { return }
        var payload = EventPayload()
        payload.filesTotal = state.sums.files.total
        payload.filesFailed = state.sums.files.failed
        payload.state = state.sums.files.state(scanning: false, paused: false, cutShort: state.isCutShort)
        try queue.appendEvent(.batchFinished, batch: batch, payload: payload, at: now)
        queue.change.finished.insert(batch)
        let others = try database.integer(
            "SELECT 1 FROM batches WHERE session = ? AND finished_at IS NULL LIMIT 1", .integer(state.session))
        if others == nil { try queue.appendEvent(.sessionIdle, batch: nil, session: state.session, at: now) }
    }
}
