import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Forgetting what is over. Never touches a user's file.
extension QueueStore {
    func purge(_ nodes: [NodeID]) throws -> NodeChange {
        try forEach(nodes) { node, target, _ in
            switch target {
            case .batch(let batch, let root):
                guard try isOver(folder: root, in: batch) else {
                    return refused(node, "\(node) is not over: cancel it first")
                }
                try forget(batch, root)
            case .folder(let batch, _, _):
                return refused(node, "a folder is forgotten with its batch: 'martlet purge \(batch)'")
            case .task(let row):
                guard row.state.isTerminal else { return refused(node, "\(node) is not over: cancel it first") }
                try forget(row)
            }
            return NodeResult(id: node, result: .done)
        }
    }

    /// - Parameter time: `nil`: all that are finished.
    func purge(finishedBefore time: Timestamp?) throws -> NodeChange {
        let batches = try database.rows(
            "SELECT id FROM batches WHERE finished_at IS NOT NULL AND (?1 IS NULL OR finished_at < ?1) ORDER BY id",
            SQLiteValue(time?.milliseconds)
        ) { NodeID.batch(BatchID(rawValue: $0.integer(0))) }
        if let time {
            // Events of no batch: sessions that fell idle, starts of the engine.
            try database.run("DELETE FROM events WHERE batch IS NULL AND at < ?", .integer(time.milliseconds))
        }
        return try purge(batches)
    }

    private func forget(_ batch: BatchID, _ root: Int64) throws {
        let id = SQLiteValue.integer(batch.rawValue)
        // Leaves first: a parent's row outlives its children's.
        for folder in try subtree(of: root).reversed().map({ SQLiteValue.integer($0) }) {
            let withDetails = "(SELECT id FROM tasks WHERE folder = ? AND flags & 32)"
            try database.run("DELETE FROM attempts WHERE task IN \(withDetails)", folder)
            try database.run("DELETE FROM task_details WHERE task IN \(withDetails)", folder)
            try database.run("DELETE FROM tasks WHERE folder = ?", folder)
            try database.run("DELETE FROM own_counts WHERE folder = ?", folder)
            try database.run("DELETE FROM folders WHERE id = ?", folder)
        }
        try database.run("DELETE FROM lanes WHERE batch = ?", id)
        try database.run("DELETE FROM sources WHERE batch = ?", id)
        try database.run("DELETE FROM reasons WHERE batch = ?", id)
        try database.run("DELETE FROM undo WHERE batch = ?", id)
        try database.run(
            "DELETE FROM events WHERE batch = ?1 AND seq >= (SELECT first_event FROM batches WHERE id = ?1)", id)
        let uuid = try database.first("SELECT uuid FROM batches WHERE id = ?", id) { UUID(bytes: $0.bytes(0)) }
        if case let uuid?? = uuid { orphanedSecrets.append(.batch(uuid)) }
        try database.run("DELETE FROM batches WHERE id = ?", id)
        change.removed.insert(batch)
    }

    private func forget(_ row: TaskRow) throws {
        let id = SQLiteValue.integer(row.id.rawValue)
        let details = try details(row)
        try count(reasonOf: row, details, by: -1)
        ledger.add(-row.tally, folder: row.folder, state: row.state)
        if let uuid = try uuid(of: row.batch) { orphanedSecrets.append(.task(row.id, uuid)) }
        try database.run("DELETE FROM attempts WHERE task = ?", id)
        try database.run("DELETE FROM task_details WHERE task = ?", id)
        try database.run("DELETE FROM tasks WHERE id = ?", id)
        try database.run(
            "DELETE FROM events WHERE task = ?1 AND seq >= (SELECT first_event FROM batches WHERE id = ?2)", id,
            .integer(row.batch.rawValue))
        change.note(wholly: row.batch)
    }

    /// Secrets that nothing refers to any more: removed after the commit, because rows may not refer to what is gone.
    enum OrphanedSecret: Equatable {
        case batch(UUID)
        case task(TaskID, UUID)
        /// What its resume point kept.
        case handle(TaskID, UUID)
    }

    func uuid(of batch: BatchID) throws -> UUID? {
        try database.first("SELECT uuid FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            UUID(bytes: $0.bytes(0))
        } ?? nil
    }

    /// After a commit. What is left by a crash in between goes at the next start.
    func removeOrphanedSecrets() throws(QueueError) {
        do {
            let orphans = orphanedSecrets
            orphanedSecrets = []
            try secrets.remove(orphans)
        } catch {
            throw QueueError(error)
        }
    }
}
