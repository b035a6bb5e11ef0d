import SQLiteConnection
package import TransferModel

/// A completed upload whose bytes are to be read at its server.
package struct FileToReadBack: Sendable, Hashable {
    package var sent: SentRun
    package var task: TaskID { sent.task }
    /// In the batch, for a person.
    package var path: String
    package var source: SourcePlace
    /// Below the batch's destination; empty: exactly there.
    package var remote: RawPath
    /// Identity of the source as it was sent.
    package var identity: SourceIdentity
    /// Nothing was sent: a file was there already.
    package var isSkipped: Bool
    /// The rule left that in its place, whatever its bytes are.
    package var isSpared: Bool
    /// Digest of the whole file; `nil`: not known.
    package var digest: TransferDigest?
}

extension QueueReader {
    /// Completed uploads directly in a folder, in the order of their numbers.
    package func filesToReadBack(
        in folder: FolderID, only task: TaskID?, after: TaskID?, limit: Int
    ) throws(QueueError) -> [FileToReadBack] {
        try view { view in
            guard let place = try view.paths.place(of: folder.rawValue) else { return [] }
            let database = view.database
            return try database.rows(
                """
                SELECT t.id, t.name, t.source, t.size, t.mtime, t.inode, t.flags, t.finished_at, d.digest, t.run
                FROM tasks t LEFT JOIN task_details d ON d.task = t.id
                WHERE t.folder = ?1 AND t.state = \(state: .completed) AND t.id > ?2 AND (?3 IS NULL OR t.id = ?3) ORDER BY t.id LIMIT ?4
                """, .integer(folder.rawValue), .integer(after?.rawValue ?? 0), SQLiteValue(task?.rawValue),
                .integer(Int64(limit))
            ) { row in
                let name = RawPath(row.bytes(1))
                let flags = TaskFlags(rawValue: row.integer(6))
                let lies = try TaskPlace(database, source: row.optionalInteger(2), name: name, folder: place)
                return FileToReadBack(
                    sent: SentRun(
                        TaskID(rawValue: row.integer(0)), run: row.integer(9),
                        finishedAt: Timestamp(milliseconds: row.integer(7))),
                    path: place.tree.appending(name).displayed,
                    source: lies.source, remote: lies.remote,
                    identity: SourceIdentity(
                        size: row.count(3), modifiedNanoseconds: row.integer(4),
                        inode: UInt64(bitPattern: row.integer(5))),
                    isSkipped: flags.contains(.skipped), isSpared: flags.contains(.spared),
                    digest: StoredJSON.value(TransferDigest.self, row.optionalText(8)))
            }
        }
    }
}

extension QueueWriter {
    /// Marks a completed task as verified by this digest of the bytes at its server; a task that has changed since is left alone.
    package func markVerified(_ file: FileToReadBack, _ digest: TransferDigest) throws(QueueError) {
        try change { try store.arrival.markVerified(file, digest) }
    }
}

extension ArrivalStore {
    func markVerified(_ file: FileToReadBack, _ digest: TransferDigest) throws {
        guard let old = try completed(file.sent) else { return }
        var row = old
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        row.flags.verification = .digest
        details.digest = try StoredJSON.text(digest)
        try tasks.save(&row, was: old, details, was: oldDetails)
    }
}
