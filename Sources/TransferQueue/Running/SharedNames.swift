import SQLiteConnection
import TransferModel

/// Names at the server that several files of an upload batch would get: the contents of one source lie there beside other sources, so
/// `2025/IMG_1.jpg` and `2026/IMG_1.jpg` may meet. One file of the batch gets a name, and no other takes it from that one, whatever the rule
/// for files that are there already says: both would count as arrived.
struct SharedNames: QueueSubject {
    let queue: QueueConnection
    private let tasks: TaskStore
    private let attempts: AttemptStore
    private let root: Int64
    /// The rule for files that are there already. Under another one than this, two files of one size and second count as the same, of which
    /// the server keeps the first.
    private let replaces: Bool
    /// Folders that lie in the same folder of the server as the one of the number, and that one.
    private var beside: [Int64: [Int64]] = [:]

    init?(_ queue: QueueConnection, _ tasks: TaskStore, _ attempts: AttemptStore, batch: BatchID) throws {
        let found = try queue.database.first(
            "SELECT root, options FROM batches WHERE id = ?", .integer(batch.rawValue)
        ) { (root: $0.integer(0), options: StoredJSON.value(TransferOptions.self, $0.text(1))) }
        guard let found else { return nil }
        (self.queue, self.tasks, self.attempts, root) = (queue, tasks, attempts, found.root)
        replaces = found.options?.ifExists == .replace
    }

    /// Fails a task that is about to be tried, when its name is another file's.
    /// - Returns: true when it failed.
    mutating func refuses(_ row: RunningStore.ClaimRow) throws -> Bool {
        guard row.flags.contains(.sharesName), let place = try place(of: row.folder, row.source, row.name),
            let holder = try holder(of: row, at: place), let old = try tasks.task(row.id)
        else { return false }
        var task = old
        let oldDetails = try tasks.details(task)
        var details = oldDetails
        let error = TransferError(
            .duplicateName, of: place.source.path,
            "has the name of another file of this batch at the server, \(holder.displayed)",
            .queued("rename one of them, then queue it again"))
        try attempts.fail(&task, &details, error, at: clock())
        try tasks.save(&task, was: old, details, was: oldDetails)
        // Less than was asked for is claimed, though there may be more.
        queue.change.mayRun = true
        return true
    }

    /// The source of the file that keeps the name; `nil`: nothing is in the way.
    private mutating func holder(of row: RunningStore.ClaimRow, at place: TaskPlace) throws -> RawPath? {
        let folders =
            try beside[row.folder] ?? paths.folders(remote: place.remote.components.dropLast(), below: root)
        beside[row.folder] = folders
        for folder in folders {
            // Whoever was found first has a name until it is over; who has got it, or is getting it just now, keeps it.
            let found = try database.first(
                """
                SELECT source FROM tasks INDEXED BY tasks_sharing
                WHERE folder = ?1 AND name = ?2 AND flags & \(flags: .sharesName) AND id <> ?3
                AND (state = \(state: .completed) OR claimed = 1
                    OR id < ?3 AND state NOT IN (\(state: .failed), \(state: .cancelled)))
                AND (?4 OR size IS NOT ?5 OR mtime / 1000000000 IS NOT ?6 / 1000000000) LIMIT 1
                """, .integer(folder), .blob(row.name.bytes), .integer(row.id.rawValue), .integer(replaces ? 1 : 0),
                SQLiteValue(row.size), .integer(row.identity.modifiedNanoseconds)
            ) { (source: $0.optionalInteger(0), ()) }
            guard let found else { continue }
            return try self.place(of: folder, found.source, row.name)?.source.path
        }
        return nil
    }

    private func place(of folder: Int64, _ source: Int64?, _ name: RawPath) throws -> TaskPlace? {
        try paths.place(of: folder).map { try TaskPlace(database, source: source, name: name, folder: $0) }
    }
}
