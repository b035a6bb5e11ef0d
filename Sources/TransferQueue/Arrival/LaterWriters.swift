import SQLiteConnection
package import TransferModel

/// Files of other batches that went to the names of a folder that is compared: a person sends a folder again while the first batch is not
/// over yet, or batches meet in one folder. What the server lists under such a name may be the later file.
extension QueueReader {
    /// Notes, for a comparison, the names that other batches may have written in a look's folder, and when. Call it when the server has
    /// listed the folder: what was written before that had been begun by then. Others ask the queue between its pages: batches of three
    /// months may lead to one folder.
    package func noteLaterWriters(
        in look: DueLook, comparison: Int64, rows: Int = 2000, isolation: isolated (any Actor)? = #isolation
    ) async throws(QueueError) {
        guard let since = try await page({ try $0.earliestEnd(in: look.folder) }) else { return }
        guard let address = try await page({ try $0.folderAddress(of: look) }) else { return }
        var last: Int64 = 0
        while true {
            let after = last
            let batches = try await page {
                try $0.writingBatches(at: look.origin, since: since, besides: look.batch, after: after, limit: 100)
            }
            for batch in batches {
                last = batch.id
                for writer in try await page({ try $0.writers(batch, to: address) }) {
                    let numbers = try await page { try $0.files(in: writer.folder) }
                    for start in stride(from: 0, to: numbers.count, by: rows) {
                        let range = numbers[start]...numbers[min(start + rows, numbers.count) - 1]
                        let isLater = batch.id > look.batch.rawValue
                        try await page {
                            try $0.note(range, of: writer, since: since, isLater: isLater, comparison)
                        }
                    }
                }
            }
            if batches.count < 100 { return }
        }
    }

    /// One turn of the reader's thread.
    private func page<Result: Sendable>(
        _ body: @Sendable (isolated QueueReader) throws -> Result
    ) throws(QueueError) -> Result {
        try compare { try body(self) }
    }

    /// When the first completed file of a folder was: nothing that ended before is ever asked for. `nil`: there is none.
    private func earliestEnd(in folder: FolderID) throws -> Int64? {
        let end = try database.first(
            "SELECT min(finished_at) FROM tasks WHERE folder = ? AND state = \(state: .completed)",
            .integer(folder.rawValue)
        ) { $0.optionalInteger(0) }
        return (end ?? nil).map { Timestamp(milliseconds: $0).milliseconds }
    }

    /// Numbers of a folder's files, in their order.
    private func files(in folder: Int64) throws -> [Int64] {
        try database.rows("SELECT id FROM tasks WHERE folder = ?", .integer(folder)) { $0.integer(0) }.sorted()
    }

    /// Notes the names of some of a folder's files.
    /// - Parameter isLater: their batch was queued after the one that is compared: they count as later ones, whatever a clock that was set
    ///   back meanwhile says of them.
    private func note(
        _ files: ClosedRange<Int64>, of writer: (folder: Int64, exact: [UInt8]?), since: Int64, isLater: Bool,
        _ comparison: Int64
    ) throws {
        // A file under way may be written at any time, and one that ended otherwise than completed may have been written until then. Of a
        // cancelled one nobody expects that any more: its earlier version is the last that was wanted.
        try database.run(
            """
            INSERT INTO rewritten (listing, name, open_until, completed_at, size, digest)
            SELECT ?1, ifnull(?2, t.name),
                iif(t.state = \(state: .completed), 0, ifnull(t.finished_at, \(Int64.max))),
                iif(t.state = \(state: .completed), t.finished_at + ?7, 0),
                iif(t.state = \(state: .completed), t.size, NULL), iif(t.state = \(state: .completed), d.digest, NULL)
            FROM tasks t LEFT JOIN task_details d ON d.task = t.id
            WHERE t.id BETWEEN ?4 AND ?5 AND +t.folder = ?3 AND (t.finished_at IS NULL OR t.finished_at + ?7 >= ?6)
            AND (t.begun_at IS NOT NULL OR d.cause = \(cause: .notThere) OR t.finished_at IS NULL AND d.first_tried_at IS NOT NULL)
            AND NOT t.flags & \(flags: .skipped)
            AND NOT (t.state = \(state: .cancelled) AND t.finished_at < ?8)
            AND (t.state = \(state: .completed) OR t.finished_at IS NULL OR d.cause IS NULL OR d.restarts > 0
                OR d.cause = \(cause: .notThere)
                OR d.attempts > \(AttemptStore.mostKept) OR EXISTS (SELECT 1 FROM attempts a
                    WHERE a.task = t.id AND (a.cause IS NULL OR a.cause IN (\(causes: TransferErrorCode.writing))
                        OR a.cause = \(cause: .http) AND a.outcome = '\(AttemptOutcome.waiting.rawValue)')))
            ON CONFLICT (listing, name) DO UPDATE SET open_until = max(open_until, excluded.open_until),
                size = iif(excluded.completed_at > completed_at, excluded.size, size),
                digest = iif(excluded.completed_at > completed_at, excluded.digest, digest),
                completed_at = max(completed_at, excluded.completed_at)
            """, .integer(comparison), SQLiteValue(writer.exact), .integer(writer.folder),
            .integer(files.lowerBound), .integer(files.upperBound), .integer(since),
            .integer(isLater ? Self.afterAll : 0), .integer(clock().milliseconds - Self.afterCancel))
    }

    /// Milliseconds after which what a cancelled upload had under way has arrived.
    private static let afterCancel: Int64 = 60_000

    /// Milliseconds that no clock shows.
    private static let afterAll: Int64 = 1 << 60

    /// The files that other tasks may have put under a name since a file of it was completed; `nil`: none.
    func later(than name: RawPath, finishedAt: Timestamp, in comparison: Int64) throws -> LaterFile? {
        try database.first(
            """
            SELECT open_until >= ?3, completed_at >= ?3, size, digest FROM rewritten
            WHERE listing = ?1 AND name = ?2 AND (open_until >= ?3 OR completed_at >= ?3)
            """, .integer(comparison), .blob(name.bytes), .integer(finishedAt.milliseconds)
        ) { row in
            let version = LaterFile.Version(
                size: row.count(2), digest: StoredJSON.value(TransferDigest.self, row.optionalText(3)))
            return LaterFile(isOpen: row.integer(0) != 0, completed: row.integer(1) != 0 ? version : nil)
        }
    }

    /// The same of one file that was read at its server.
    /// - Parameter name: at the server.
    package func later(
        than name: RawPath, finishedAt: Timestamp, in look: DueLook, isolation: isolated (any Actor)? = #isolation
    ) async throws(QueueError) -> LaterFile? {
        let comparison = try await newComparison()
        do {
            try await noteLaterWriters(in: look, comparison: comparison)
            let later = try await page { try $0.later(than: name, finishedAt: finishedAt, in: comparison) }
            try await endComparison(comparison)
            return later
        } catch {
            try? await endComparison(comparison)
            throw error
        }
    }

    /// The URL of a look's folder, with a slash at its end.
    private func folderAddress(of look: DueLook) throws -> String? {
        let destination = try database.first(
            "SELECT destination FROM batches WHERE id = ?", .integer(look.batch.rawValue)
        ) { $0.text(0) }
        guard let destination else { return nil }
        if look.isExact { return Self.folder(of: destination) }
        let below = PercentEncoding.encode(look.remote.bytes, keepingSlashes: true)
        return Self.asFolder(Self.asFolder(destination) + below)
    }

    private typealias WritingBatch = (id: Int64, root: Int64, destination: String, isExact: Bool)

    /// Other uploads to a server, which were not over long before a time or were queued after a batch, in the order of their numbers. A batch
    /// gives each name to one of its own files (`SharedNames`).
    private func writingBatches(
        at origin: String, since: Int64, besides batch: BatchID, after: Int64, limit: Int64
    ) throws -> [WritingBatch] {
        // A clock may have been set back between the end of a file and that of its batch.
        let day: Int64 = 86_400_000
        return try database.rows(
            """
            SELECT b.id, b.root, b.destination,
            EXISTS (SELECT 1 FROM sources WHERE batch = b.id AND placement = \(placement: .exactly))
            FROM batches b WHERE b.direction = 0 AND b.id > ?1
            AND b.id <> ?5 AND (b.id > ?5 OR b.finished_at IS NULL OR b.finished_at >= ?2)
            AND b.id IN (SELECT batch FROM lanes WHERE origin = ?3) ORDER BY b.id LIMIT ?4
            """, .integer(after), .integer(since - day), .text(origin), .integer(limit), .integer(batch.rawValue)
        ) { (id: $0.integer(0), root: $0.integer(1), destination: $0.text(2), isExact: $0.integer(3) != 0) }
    }

    /// Folders of a batch whose files lie in that folder of the server; `exact`: the name that the one file gets there.
    private func writers(_ batch: WritingBatch, to address: String) throws -> [(folder: Int64, exact: [UInt8]?)] {
        if batch.isExact {
            guard Self.folder(of: batch.destination) == address else { return [] }
            return [(batch.root, PercentEncoding.decode(batch.destination.dropFirst(address.count)))]
        }
        let base = Self.asFolder(batch.destination)
        guard address.hasPrefix(base) else { return [] }
        let names = address.dropFirst(base.count).split(separator: "/").map { RawPath(PercentEncoding.decode($0)) }
        return try FolderPaths(database).folders(remote: names, below: batch.root).map { ($0, nil) }
    }

    private static func asFolder(_ address: String) -> String { address.hasSuffix("/") ? address : address + "/" }

    private static func folder(of address: String) -> String {
        String(address[..<(address.lastIndex(of: "/").map { address.index(after: $0) } ?? address.endIndex)])
    }
}

extension TransferErrorCode {
    /// The ends of an attempt that may have put something under the final name.
    fileprivate static let writing = allCases.filter(\.mayHaveWritten)

    private var mayHaveWritten: Bool {
        switch self {
        case .sourceMissing, .sourceChanged, .sourceUnreadable, .networkConnectionLost, .timedOut, .badServerResponse,
            .integrity, .unknownOutcome, .gaveUp, .internal, .notThere, .tooManyOpenFiles, .cancelledByUser, .diskFull:
            true
        // The server, or this machine, did not let it. After a 5xx, which is waited for, it may have all the same: the statement asks.
        case .sessionRemoved, .dependencyFailed, .destinationExists, .duplicateName, .destinationUnwritable,
            .notConnectedToInternet,
            .cannotFindHost, .cannotConnectToHost, .tooManyRedirects, .tlsFailure, .pinMismatch, .permissionDenied,
            .http, .unsupported:
            false
        }
    }
}
