import SQLiteConnection
import TransferModel

/// Attempts that were broken off, by a kill of the engine or by a person, and of which not all is recorded: the table `interrupted`
/// (`AttemptStore.noteInterrupted`); and downloads that a kill has met at their last step.
extension RemainsStore {
    /// Uploads that an engine was killed in, or that were taken from it before, and of which nothing says what it has left there.
    /// - Parameter origin: how `LaneSummary.origin` begins.
    func interruptedUploads(to origin: String) throws -> [Remains] {
        try remains(
            """
            FROM interrupted i CROSS JOIN tasks t ON t.id = i.task JOIN lanes l ON l.id = t.lane
            JOIN batches b ON b.id = l.batch WHERE b.direction = \(direction: .upload) AND t.claimed = 0 AND substr(l.origin, 1, length(?1)) = ?1
            AND NOT EXISTS (SELECT 1 FROM task_details d WHERE d.task = t.id AND d.resume_point IS NOT NULL)
            LIMIT ?2
            """, .text(origin), .integer(10_000))
    }

    /// The same of downloads, whichever server they come from.
    func interruptedDownloads() throws -> [Remains] {
        try remains(
            """
            FROM interrupted i CROSS JOIN tasks t ON t.id = i.task JOIN lanes l ON l.id = t.lane
            JOIN batches b ON b.id = l.batch WHERE b.direction = \(direction: .download) AND t.claimed = 0
            AND NOT EXISTS (SELECT 1 FROM task_details d WHERE d.task = t.id AND d.resume_point IS NOT NULL)
            LIMIT ?1
            """, .integer(10_000))
    }

    func hasInterrupted() throws -> Bool { try database.integer("SELECT 1 FROM interrupted LIMIT 1") != nil }

    func forgetInterrupted(besides tasks: [TaskID]) throws {
        let kept = SQLiteValue.text(try StoredJSON.text(tasks.map(\.rawValue)))
        try database.run("DELETE FROM interrupted WHERE task NOT IN (SELECT value FROM json_each(?))", kept)
    }

    /// Forgets attempts that were broken off, but not those that have begun since.
    func forgetInterrupted(_ claims: [TaskClaim]) throws {
        for claim in claims {
            try database.run(
                "DELETE FROM interrupted WHERE task = ?1 AND (SELECT claims FROM tasks WHERE id = ?1) = ?2",
                .integer(claim.task.rawValue), .integer(claim.generation))
        }
    }

    /// Downloads that were getting their final names when the last engine was killed, and are still claimed for that.
    func publishingDownloads() throws -> [ClaimedTask] {
        try remains(
            """
            FROM tasks t INDEXED BY tasks_claimed JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
            WHERE t.claimed = 1 AND t.flags & ?1 <> 0 ORDER BY t.id LIMIT ?2
            """, .integer(TaskFlags.publishing.rawValue), .integer(10_000)
        ).map(\.task)
    }
}
