import DisplayText
import SQLiteConnection
package import TransferModel

/// A completed file of a folder, and what its server lists under its name.
package struct ComparedFile: Sendable, Hashable {
    package var sent: SentRun
    package var task: TaskID { sent.task }
    package var name: RawPath
    package var size: Int64
    /// Modification time of the source as it was sent, in nanoseconds since 1970.
    package var modifiedNanoseconds: Int64
    /// The rule said so: another one's file was left as it was.
    package var isSpared: Bool
    /// Nothing was sent: a file of its name stood there.
    package var isSkipped = false
    /// Digest of the whole file; `nil`: not known.
    package var digest: TransferDigest?
    /// The server's ETag of the version that it stored; `nil`: not known.
    package var etag: String?
    /// `nil`: nothing of that name is listed.
    package var entry: RemoteEntry?
    /// Nothing is listed under exactly its name, but another file of ours under one that a server may take for the same.
    package var nameIsTaken = false
    /// The file of another task that may lie under its name since; `nil`: none.
    package var later: LaterFile?

    package init(
        _ sent: SentRun, name: RawPath, size: Int64, modifiedNanoseconds: Int64, isSpared: Bool,
        digest: TransferDigest?, etag: String?, entry: RemoteEntry? = nil
    ) {
        self.sent = sent
        self.name = name
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
        self.isSpared = isSpared
        self.digest = digest
        self.etag = etag
        self.entry = entry
    }
}

/// A later file of this queue under the same name.
package struct LaterFile: Sendable, Hashable {
    /// A file as it was sent.
    package struct Version: Sendable, Hashable {
        package var size: Int64
        /// Digest of the whole file; `nil`: not known.
        package var digest: TransferDigest?

        package init(size: Int64, digest: TransferDigest? = nil) { (self.size, self.digest) = (size, digest) }
    }

    /// A task may be writing the name, or nobody knows whether one has: what lies there now proves nothing.
    package var isOpen: Bool
    /// The last one that was completed; `nil`: none was.
    package var completed: Version?

    package init(isOpen: Bool, completed: Version?) { (self.isOpen, self.completed) = (isOpen, completed) }
}

/// Compares a server's listing of folders with the files sent there. Lies in tables of this connection alone, which spill to files: a
/// folder of a million names needs no more memory than one of a thousand. On the reader's thread.
///
/// Names are compared as bytes. What has no equal is looked for once more as a server may have changed it: with the same letters in
/// another normal form of Unicode, or in another case. Each name that is listed stands for one file only.
struct FolderComparisons {
    private var isReady = false
    private var last: Int64 = 0

    static let tables = """
        CREATE TEMP TABLE listed (
            listing INTEGER NOT NULL,
            key INTEGER NOT NULL,            -- of the name without case and normal form
            name BLOB NOT NULL,
            size INTEGER,                    -- NULL: not told; -1: no size at all
            folder INTEGER NOT NULL,
            modified INTEGER,
            etag TEXT,
            digests TEXT,                    -- JSON
            taken INTEGER NOT NULL DEFAULT 0, -- it is the file of a task
            PRIMARY KEY (listing, key, name)
        ) WITHOUT ROWID;
        CREATE TEMP TABLE sent (             -- what was completed before the server was asked
            listing INTEGER NOT NULL,
            task INTEGER NOT NULL,
            run INTEGER NOT NULL,                -- of the task: what it sends later is not compared
            PRIMARY KEY (listing, task)
        ) WITHOUT ROWID;
        CREATE TEMP TABLE unmatched (
            listing INTEGER NOT NULL,
            task INTEGER NOT NULL,
            PRIMARY KEY (listing, task)
        ) WITHOUT ROWID;
        CREATE TEMP TABLE rewritten (
            listing INTEGER NOT NULL,
            name BLOB NOT NULL,
            open_until INTEGER NOT NULL,     -- until then a task may have written it of which nobody knows; 0: none
            completed_at INTEGER NOT NULL,   -- when the last other file of the name was completed; 0: none was
            size INTEGER,                    -- of that file
            digest TEXT,                     -- of that file, JSON; NULL: not known
            PRIMARY KEY (listing, name)
        ) WITHOUT ROWID;
        """

    mutating func begin(_ database: SQLiteConnection) throws -> Int64 {
        if !isReady { try database.execute(script: Self.tables) }
        isReady = true
        last += 1
        return last
    }

    /// The same for names that a server may take for one. Only of this process.
    static func key(_ name: RawPath) -> Int64 {
        var hasher = Hasher()
        // Equal strings are canonically equivalent ones, and hash alike.
        if let text = compared(name) { hasher.combine(text.lowercased()) } else { hasher.combine(name) }
        return Int64(hasher.finalize())
    }

    /// Returns true when a server may list one name for the other.
    static func mayBe(_ one: RawPath, _ other: RawPath) -> Bool {
        guard let one = compared(one), let other = compared(other) else { return one == other }
        return one == other || one.lowercased() == other.lowercased()
    }

    /// A server may list anything: names that are not text are compared as bytes, and no name by more marks than text has.
    private static func compared(_ name: RawPath) -> String? { name.text.map { String(peer: $0.utf8) } }
}

extension QueueReader {
    /// A new comparison of the files of a folder that are completed now: what is completed later may not have been there yet when the
    /// server makes its list. Call it before that is asked for; `endComparison` ends it. Others ask the queue between its pages.
    package func beginComparison(
        of folder: FolderID, rows: Int = 5000, isolation: isolated (any Actor)? = #isolation
    ) async throws(QueueError) -> Int64 {
        let comparison = try await newComparison()
        var last: Int64? = 0
        while let after = last { last = try await noteSent(in: folder, after: after, limit: rows, comparison) }
        return comparison
    }

    func newComparison() throws(QueueError) -> Int64 { try compare { try comparisons.begin(database) } }

    /// - Returns: the last task noted; `nil`: that was all.
    private func noteSent(
        in folder: FolderID, after: Int64, limit: Int, _ comparison: Int64
    ) throws(QueueError) -> Int64? {
        try compare {
            try database.run(
                """
                INSERT INTO sent SELECT ?1, id, run FROM tasks
                WHERE folder = ?2 AND state = \(state: .completed) AND id > ?3 ORDER BY id LIMIT ?4
                """, .integer(comparison), .integer(folder.rawValue), .integer(after), .integer(Int64(limit)))
            guard database.changes == limit else { return nil }
            return try database.integer("SELECT max(task) FROM sent WHERE listing = ?", .integer(comparison))
        }
    }

    /// Adds names that the server lists. One that comes twice counts once.
    /// - Returns: how many of them are new.
    @discardableResult
    package func add(_ entries: [RemoteEntry], to comparison: Int64) throws(QueueError) -> Int {
        try compare {
            var new = 0
            for entry in entries {
                let size: Int64? =
                    switch entry.size {
                    case .unknown: nil
                    case .bytes(let bytes): bytes
                    case .impossible: -1
                    }
                try database.run(
                    "INSERT OR IGNORE INTO listed VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", .integer(comparison),
                    .integer(FolderComparisons.key(entry.name)), .blob(entry.name.bytes), SQLiteValue(size),
                    .integer(entry.isFolder ? 1 : 0), SQLiteValue(entry.modified?.milliseconds),
                    SQLiteValue(entry.etag),
                    SQLiteValue(entry.digests.isEmpty ? nil : try StoredJSON.text(entry.digests)))
                if database.changes > 0 { new += 1 }
            }
            return new
        }
    }

    /// The files of a comparison in the order of their numbers, with what is listed under exactly their names. Those of which nothing is are
    /// left out, and come with `unmatched` when all have been gone through. What was retried since is left out, too.
    /// - Parameter exact: the name of the batch's only file, where that is not the source's.
    /// - Returns: the files, and the last task gone through; `nil`: that was all.
    package func matched(
        comparison: Int64, exact: RawPath?, after: TaskID?, limit: Int
    ) throws(QueueError) -> (files: [ComparedFile], last: TaskID?) {
        try compare {
            let files = try database.rows(
                """
                SELECT \(Self.comparedColumns) FROM sent s CROSS JOIN tasks t ON t.id = s.task \(Self.comparedDetails)
                WHERE s.listing = ?1 AND s.task > ?2 AND t.state = \(state: .completed) AND t.run = s.run
                ORDER BY s.task LIMIT ?3
                """, .integer(comparison), .integer(after?.rawValue ?? 0), .integer(Int64(limit))
            ) { Self.compared($0, exact) }
            var matched: [ComparedFile] = []
            for var file in files {
                guard let entry = try entry(named: file.name, in: comparison) else {
                    try database.run(
                        "INSERT OR IGNORE INTO unmatched VALUES (?, ?)", .integer(comparison),
                        .integer(file.task.rawValue))
                    continue
                }
                try take(file.name, of: comparison)
                file.entry = entry
                file.later = try later(than: file.name, finishedAt: file.sent.finishedAt, in: comparison)
                matched.append(file)
            }
            return (matched, files.count < limit ? nil : files.last?.task)
        }
    }

    /// Those of which nothing was listed under exactly their names, with what the server may have made of them: whoever can asks the server
    /// for the name itself. Those that were sent again since are left out.
    /// - Parameter otherNames: it may keep them in another case or normal form; false: to it those are other names.
    package func unmatched(
        comparison: Int64, exact: RawPath?, otherNames: Bool = true, after: TaskID?, limit: Int
    ) throws(QueueError) -> (files: [ComparedFile], last: TaskID?) {
        try compare {
            var files = try database.rows(
                """
                SELECT \(Self.comparedColumns) FROM unmatched u JOIN sent s ON s.listing = u.listing AND s.task = u.task
                JOIN tasks t ON t.id = u.task \(Self.comparedDetails) WHERE u.listing = ? AND u.task > ?
                AND t.state = \(state: .completed) AND t.run = s.run ORDER BY u.task LIMIT ?
                """, .integer(comparison), .integer(after?.rawValue ?? 0), .integer(Int64(limit))
            ) { Self.compared($0, exact) }
            for index in files.indices {
                files[index].later = try later(
                    than: files[index].name, finishedAt: files[index].sent.finishedAt, in: comparison)
                guard otherNames else { continue }
                let others = try others(for: files[index].name, in: comparison)
                if let free = others.first(where: { !$0.isTaken }) {
                    try take(free.entry.name, of: comparison)
                    files[index].entry = free.entry
                } else {
                    files[index].nameIsTaken = !others.isEmpty
                }
            }
            return (files, files.count < limit ? nil : files.last?.task)
        }
    }

    package func endComparison(_ comparison: Int64) throws(QueueError) {
        try compare {
            try database.run("DELETE FROM listed WHERE listing = ?", .integer(comparison))
            try database.run("DELETE FROM sent WHERE listing = ?", .integer(comparison))
            try database.run("DELETE FROM unmatched WHERE listing = ?", .integer(comparison))
            try database.run("DELETE FROM rewritten WHERE listing = ?", .integer(comparison))
        }
    }

    /// The common beginning of the names of the files of a comparison.
    package func commonBeginning(of comparison: Int64) throws(QueueError) -> RawPath {
        try compare {
            let ends = try database.first(
                "SELECT min(t.name), max(t.name) FROM sent s JOIN tasks t ON t.id = s.task WHERE s.listing = ?",
                .integer(comparison)
            ) { ($0.bytes(0), $0.bytes(1)) }
            guard let ends else { return RawPath("") }
            return RawPath(zip(ends.0, ends.1).prefix { $0 == $1 }.map(\.0))
        }
    }

    func compare<Result>(_ body: () throws -> Result) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        do {
            // The tables of a comparison are this connection's own: a transaction for reading may write them.
            return try database.transaction(.read, body)
        } catch {
            throw QueueError(error)
        }
    }

    private static let comparedColumns =
        "t.id, t.name, t.size, t.mtime, t.flags, t.finished_at, d.digest, v.etag, t.run"
    private static let comparedDetails =
        "LEFT JOIN task_details d ON d.task = t.id LEFT JOIN remote_versions v ON v.task = t.id"

    private static func compared(_ row: SQLiteStatement, _ exact: RawPath?) -> ComparedFile {
        let flags = TaskFlags(rawValue: row.integer(4))
        var file = ComparedFile(
            SentRun(
                TaskID(rawValue: row.integer(0)), run: row.integer(8),
                finishedAt: Timestamp(milliseconds: row.integer(5))), name: exact ?? RawPath(row.bytes(1)),
            size: row.count(2),
            modifiedNanoseconds: row.integer(3),
            isSpared: flags.contains(.spared),
            digest: StoredJSON.value(TransferDigest.self, row.optionalText(6)), etag: row.optionalText(7))
        file.isSkipped = flags.contains(.skipped)
        return file
    }

    private static let entryColumns = "name, size, folder, modified, etag, digests"

    private func entry(named name: RawPath, in comparison: Int64) throws -> RemoteEntry? {
        try database.first(
            "SELECT \(Self.entryColumns) FROM listed WHERE listing = ? AND key = ? AND name = ?",
            .integer(comparison), .integer(FolderComparisons.key(name)), .blob(name.bytes)
        ) { Self.entry($0) }
    }

    /// Entries listed under names that a server may have made of this one; `isTaken`: the entry is another task's.
    private func others(for name: RawPath, in comparison: Int64) throws -> [(entry: RemoteEntry, isTaken: Bool)] {
        let found = try database.rows(
            "SELECT \(Self.entryColumns), taken FROM listed WHERE listing = ? AND key = ? ORDER BY taken LIMIT 100",
            .integer(comparison), .integer(FolderComparisons.key(name))
        ) { (entry: Self.entry($0), isTaken: $0.integer(6) != 0) }
        return found.filter { FolderComparisons.mayBe($0.entry.name, name) }
    }

    private func take(_ name: RawPath, of comparison: Int64) throws {
        try database.run(
            "UPDATE listed SET taken = 1 WHERE listing = ? AND key = ? AND name = ?", .integer(comparison),
            .integer(FolderComparisons.key(name)), .blob(name.bytes))
    }

    private static func entry(_ row: SQLiteStatement) -> RemoteEntry {
        var entry = RemoteEntry(RawPath(row.bytes(0)), size: .unknown, isFolder: row.integer(2) != 0)
        if let size = row.optionalInteger(1) { entry.size = size < 0 ? .impossible : .bytes(size) }
        entry.modified = row.optionalInteger(3).map { Timestamp(milliseconds: $0) }
        entry.etag = row.optionalText(4)
        entry.digests = StoredJSON.value([TransferDigest].self, row.optionalText(5)) ?? []
        return entry
    }
}
