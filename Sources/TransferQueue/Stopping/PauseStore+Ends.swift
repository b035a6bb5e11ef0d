import SQLiteConnection
import TransferModel

/// Pauses that end by themselves.
extension PauseStore {
    /// Milliseconds since 1970; `nil`: it is not paused, or until somebody resumes it.
    func pauseEnd(of target: NodeTarget) throws -> Int64? {
        try database.integer("SELECT at FROM pause_ends WHERE node = ?", try key(of: target))
    }

    /// - Parameter end: `nil`: it does not end by itself.
    func setPauseEnd(_ end: Int64?, of target: NodeTarget) throws {
        if let end {
            try database.run(
                "INSERT OR REPLACE INTO pause_ends (node, batch, at) VALUES (?, ?, ?)", try key(of: target),
                .integer(target.batch.rawValue), .integer(end))
        } else {
            try database.run("DELETE FROM pause_ends WHERE node = ?", try key(of: target))
        }
    }

    /// A folder's path is the one that readers know it by, however it was typed.
    private func key(of target: NodeTarget) throws -> SQLiteValue {
        let node: NodeID =
            switch target {
            case .batch(let batch, _): .batch(batch)
            case .folder(let batch, let folder, let path):
                .folder(batch, path: try paths.place(of: folder)?.tree ?? path)
            case .task(let row): .task(row.id)
            }
        return .text(try StoredJSON.text(node))
    }

    /// Lets go on what was paused until now: a page of it, for a person may have paused a million files.
    func endPauses(now: Timestamp) throws {
        let due = try database.rows(
            "SELECT node FROM pause_ends INDEXED BY pause_ends_due WHERE at <= ? ORDER BY at LIMIT 1000",
            .integer(now.milliseconds)
        ) { $0.text(0) }
        for text in due {
            if let node = StoredJSON.value(NodeID.self, text), let target = try finder.target(node) {
                if try isOver(target) { try clearFlag(of: target) } else { try endPause(of: node, target) }
                try letGo(target.batch)
            }
            try database.run("DELETE FROM pause_ends WHERE node = ?", .text(text))
        }
    }

    /// Takes a pause away, and nothing else: what was held is held.
    func endPause(of node: NodeID, _ target: NodeTarget) throws {
        guard case .batch(let batch, _) = target else {
            _ = try resumeWithoutNote(node, target)
            return
        }
        try setPauseEnd(nil, of: target)
        try database.run("UPDATE batches SET paused = 0 WHERE id = ? AND paused = 1", .integer(batch.rawValue))
        if database.changes == 0 { return }
        try queue.appendEvent(.resumed, batch: batch)
        queue.change.note(wholly: batch)
        queue.change.mayRun = true
    }

    /// Clears the pause flag of what is over, for whoever brings it back later.
    private func clearFlag(of target: NodeTarget) throws {
        switch target {
        case .batch(let batch, _):
            try database.run("UPDATE batches SET paused = 0 WHERE id = ?", .integer(batch.rawValue))
        case .folder(_, let folder, _):
            try database.run("UPDATE folders SET paused = 0 WHERE id = ?", .integer(folder))
            queue.forgetPaths()
        case .task(let old):
            var row = old
            row.flags.remove(.paused)
            try tasks.save(row, was: old)
        }
        queue.change.note(wholly: target.batch)
    }

    func nextPauseEnd() throws -> Int64? {
        try database.integer("SELECT min(at) FROM pause_ends INDEXED BY pause_ends_due")
    }

    private func isOver(_ target: NodeTarget) throws -> Bool {
        switch target {
        case .batch(let batch, let folder), .folder(let batch, let folder, _):
            try finder.isOver(folder: folder, in: batch)
        case .task(let row): row.state.isTerminal
        }
    }
}
