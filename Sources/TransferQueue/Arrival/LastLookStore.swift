import SQLiteConnection
import TransferModel

/// When folders at servers are listed once more after their last file, and what a look has found.
struct LastLookStore: QueueSubject {
    let queue: QueueConnection

    init(_ queue: QueueConnection) { self.queue = queue }

    // MARK: What is due

    /// Files were completed or are over: their folders may be due.
    func note(_ changed: [CounterLedger.Key: Tally]) throws {
        // Not by what the sums gained: another file of the folder may have failed in the same commit.
        let completed = queue.notes.completedFolders
        queue.notes.completedFolders = []
        for folder in completed {
            guard let batch = try paths.place(of: folder)?.batch, try looksAtLast(batch) else { continue }
            try database.run(
                """
                INSERT INTO last_looks (folder, batch, due, listed, files) VALUES (?, ?, 1, 0, 0)
                ON CONFLICT DO UPDATE SET due = abs(due) + 1, dropped = 0
                """, .integer(folder), .integer(batch.rawValue))
        }
        if queue.change.looksAreDue { return }
        for folder in Set(changed.keys.map(\.folder)) {
            let isDue = try database.integer(
                "SELECT 1 FROM last_looks k WHERE folder = ? AND due > 0 AND \(Self.isSettled)", .integer(folder))
            if isDue == nil { continue }
            queue.change.looksAreDue = true
            return
        }
    }

    /// SQL: all files directly in the folder of row `k` are over.
    private static let isSettled = """
        NOT EXISTS (SELECT 1 FROM own_counts o WHERE o.folder = k.folder AND o.state < \(state: .completed) AND o.files > 0)
        """

    /// Returns true when its folders are listed once their files are there: uploads to a server that can list, unless `verify` is `none`.
    private func looksAtLast(_ batch: BatchID) throws -> Bool {
        if let known = queue.notes.lookingBatches[batch] { return known }
        let found = try database.first(
            "SELECT direction, destination, options FROM batches WHERE id = ?", .integer(batch.rawValue)
        ) { row in
            TransferDirection(stored: row.integer(0)) == .upload
                && TransferScheme(of: row.text(1))?.lists == true
                && StoredJSON.value(TransferOptions.self, row.text(2))?.verify != VerificationWish.none
        }
        if queue.notes.lookingBatches.count > 1000 { queue.notes.lookingBatches = [:] }
        queue.notes.lookingBatches[batch] = found ?? false
        return found ?? false
    }

    /// Returns true when the batch cannot end before its last looks.
    func awaitsLastLook(_ batch: BatchID) throws -> Bool {
        try database.integer(
            "SELECT 1 FROM last_looks INDEXED BY last_looks_due WHERE batch = ? AND due > 0 LIMIT 1",
            .integer(batch.rawValue)) != nil
    }

    /// The batches come first, which are few: so a look costs the same whatever the number of folders.
    func dueLooks(besides: LooksNotNow, limit: Int, now: Timestamp) throws -> [DueLook] {
        let batches = try database.rows(
            """
            SELECT b.id, (SELECT origin FROM lanes WHERE batch = b.id LIMIT 1) AS server
            FROM batches b INDEXED BY batches_unfinished
            WHERE b.finished_at IS NULL AND b.scanning <> 1 AND b.paused = 0 AND b.held = 0
            AND ifnull(b.not_before, 0) <= ?1 AND b.purged_at IS NULL
            AND EXISTS (SELECT 1 FROM last_looks k INDEXED BY last_looks_due WHERE k.batch = b.id AND k.due > 0)
            AND b.id NOT IN (SELECT value FROM json_each(?2)) AND server NOT IN (SELECT value FROM json_each(?3))
            ORDER BY b.urgent DESC, b.priority DESC, b.position
            """, .integer(now.milliseconds), .text(try StoredJSON.text(besides.batches.map(\.rawValue).sorted())),
            .text(try StoredJSON.text(besides.origins.sorted()))
        ) { (id: BatchID(rawValue: $0.integer(0)), origin: $0.text(1)) }
        let folders = SQLiteValue.text(try StoredJSON.text(besides.folders.map(\.rawValue).sorted()))
        var due: [DueLook] = []
        for batch in batches where due.count < limit {
            let found = try database.rows(
                """
                SELECT k.folder, k.due,
                EXISTS (SELECT 1 FROM sources WHERE batch = k.batch AND placement = \(placement: .exactly))
                FROM last_looks k INDEXED BY last_looks_due WHERE k.batch = ?1 AND k.due > 0 AND \(Self.isSettled)
                AND k.folder NOT IN (SELECT value FROM json_each(?2)) ORDER BY k.folder LIMIT ?3
                """, .integer(batch.id.rawValue), folders, .integer(Int64(limit - due.count))
            ) { (folder: $0.integer(0), due: $0.integer(1), isExact: $0.integer(2) != 0) }
            due += try found.compactMap { row in
                try paths.place(of: row.folder).map { place in
                    DueLook(
                        folder: FolderID(rawValue: row.folder), batch: batch.id, origin: batch.origin,
                        remote: place.remote, isExact: row.isExact, due: row.due)
                }
            }
        }
        return due
    }

    /// Nothing of a batch is looked at any more. - Returns: whether anything was due.
    func dropLastLooks(_ batch: BatchID) throws -> Bool {
        guard try awaitsLastLook(batch) else { return false }
        try database.run(
            "UPDATE last_looks SET due = -due, dropped = 1 WHERE batch = ? AND due > 0", .integer(batch.rawValue))
        queue.touched.insert(batch)
        queue.change.note(wholly: batch)
        return true
    }

    /// The cancel of a whole batch is taken back: its folders are looked at when their files are over.
    func takeUpLastLooks(_ batch: BatchID) throws {
        try database.run(
            "UPDATE last_looks SET due = -due, dropped = 0 WHERE batch = ? AND dropped", .integer(batch.rawValue))
    }

    // MARK: Versions at servers

    /// Keeps what a server called the version that it stored; what an earlier run was told is forgotten.
    func note(etag: String?, of row: TaskRow) throws {
        if let etag = etag.flatMap(RemoteEntry.plainTag) {
            try database.run(
                "INSERT OR REPLACE INTO remote_versions VALUES (?, ?)", .integer(row.id.rawValue), .text(etag))
        } else if row.run > 0 {
            try database.run("DELETE FROM remote_versions WHERE task = ?", .integer(row.id.rawValue))
        }
    }

    // MARK: What was found

    func end(looks: [EndedLook]) throws {
        for ended in looks {
            let look = ended.look
            // Forgotten meanwhile.
            guard try database.integer("SELECT 1 FROM batches WHERE id = ?", .integer(look.batch.rawValue)) != nil
            else {
                continue
            }
            let (folder, due) = (SQLiteValue.integer(look.folder.rawValue), SQLiteValue.integer(look.due))
            switch ended.outcome {
            case .looked(let time, let listed, let files):
                try database.run(
                    """
                    INSERT INTO last_looks (folder, batch, due, looked_at, listed, files) VALUES (?1, ?6, 0, ?3, ?4, ?5)
                    ON CONFLICT DO UPDATE SET looked_at = ?3, listed = ?4, files = ?5, error = NULL,
                    due = CASE WHEN due > 0 AND due = ?2 THEN -due ELSE due END
                    """, folder, due, .integer(time.milliseconds), .integer(listed), .integer(files),
                    .integer(look.batch.rawValue))
            case .unlisted(let error):
                try database.run(
                    """
                    INSERT INTO last_looks (folder, batch, due, listed, files, error) VALUES (?1, ?4, 0, 0, 0, ?3)
                    ON CONFLICT DO UPDATE SET error = ?3,
                    due = CASE WHEN due > 0 AND due = ?2 THEN -due ELSE due END
                    """, folder, due, .text(try StoredJSON.text(error)), .integer(look.batch.rawValue))
            }
            queue.touched.insert(look.batch)
            queue.change.batches.insert(look.batch)
            queue.change.note(folder: look.folder)
        }
    }
}
