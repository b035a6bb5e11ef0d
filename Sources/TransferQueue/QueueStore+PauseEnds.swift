import SQLiteConnection
import TransferModel

/// Pauses that end by themselves.
extension QueueStore {
    /// Milliseconds since 1970; `nil`: it is not paused, or until somebody resumes it.
    func pauseEnd(of node: NodeID) throws -> Int64? {
        try database.integer("SELECT at FROM pause_ends WHERE node = ?", .text(try StoredJSON.text(node)))
    }

    /// - Parameter end: `nil`: it does not end by itself.
    func setPauseEnd(_ end: Int64?, of node: NodeID, in batch: BatchID) throws {
        let key = SQLiteValue.text(try StoredJSON.text(node))
        if let end {
            try database.run(
                "INSERT OR REPLACE INTO pause_ends (node, batch, at) VALUES (?, ?, ?)", key, .integer(batch.rawValue),
                .integer(end))
        } else {
            try database.run("DELETE FROM pause_ends WHERE node = ?", key)
        }
    }

    /// Lets go on what was paused until now: a page of it, for a person may have paused a million files.
    func endPauses(now: Timestamp) throws {
        let due = try database.rows(
            "SELECT node, batch FROM pause_ends INDEXED BY pause_ends_due WHERE at <= ? ORDER BY at LIMIT 1000",
            .integer(now.milliseconds)
        ) { (node: $0.text(0), batch: BatchID(rawValue: $0.integer(1))) }
        for (text, _) in due {
            if let node = StoredJSON.value(NodeID.self, text), let target = try target(node), try !isOver(target) {
                _ = try resumeWithoutNote(node, target)
            }
            try database.run("DELETE FROM pause_ends WHERE node = ?", .text(text))
        }
    }

    func nextPauseEnd() throws -> Int64? {
        try database.integer("SELECT min(at) FROM pause_ends INDEXED BY pause_ends_due")
    }

    private func isOver(_ target: Target) throws -> Bool {
        switch target {
        case .batch(let batch, let folder), .folder(let batch, let folder, _): try isOver(folder: folder, in: batch)
        case .task(let row): row.state.isTerminal
        }
    }
}
