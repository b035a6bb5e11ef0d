import SQLiteConnection
import TransferModel

/// Entries that a walk finds in folders.
extension WalkStore {
    /// Returns true when chunks hold something whose loss in a power cut would be noticed: a failure has an event.
    static func needsDurability(_ chunks: [WalkedChunk]) -> Bool {
        chunks.contains { !$0.failures.isEmpty || $0.unreadable != nil }
    }

    /// - Returns: the source that the last chunk belongs to, and whether all of it was taken: what was cancelled meanwhile takes nothing.
    func insert(walked chunks: [WalkedChunk]) throws -> (source: SourceID?, isWhole: Bool) {
        var last: SourceID?
        var isWhole = true
        for chunk in chunks {
            let folder = try database.first(
                """
                SELECT f.batch, f.parent, f.name, f.walk, f.begun, l.id, l.origin, b.shares_names FROM folders f
                JOIN batches b ON b.id = f.batch
                JOIN lanes l ON l.batch = f.batch AND l.priority = \(LanePriority.ofBatch) WHERE f.id = ? AND f.walk > 0
                """, .integer(chunk.folder.rawValue)
            ) { row in
                OpenFolder(
                    id: chunk.folder.rawValue, batch: BatchID(rawValue: row.integer(0)),
                    parent: row.optionalInteger(1), name: row.bytes(2), source: row.integer(3),
                    isBegun: row.integer(4) != 0, lane: row.integer(5), origin: row.text(6),
                    sharesNames: row.integer(7) != 0)
            }
            // Cancelled or purged meanwhile.
            guard let folder else {
                isWhole = false
                continue
            }
            try insert(chunk, into: folder)
            last = SourceID(rawValue: folder.source)
        }
        return (last, isWhole)
    }

    struct OpenFolder {
        let id: Int64
        let batch: BatchID
        let parent: Int64?
        let name: [UInt8]
        let source: Int64
        let isBegun: Bool
        /// Its batch's, with the batch's own priority.
        let lane: Int64
        let origin: String
        let sharesNames: Bool

        /// Those that its files get.
        var flags: TaskFlags { sharesNames ? .sharesName : [] }
    }

    func insert(_ chunk: WalkedChunk, into folder: OpenFolder) throws {
        let firstTask = queue.numbers.task
        let known = try knownNames(of: folder)
        try insertFiles(chunk.files, folder, known)
        for name in chunk.folders where try known?.takes(name.bytes) != false {
            let inserted = try insertFolder(
                batch: folder.batch, parent: folder.id, name: name.bytes, source: nil, hidden: false,
                walk: folder.source)
            try note(chunk.mounted[name], of: inserted, in: folder.source)
            guard chunk.links.contains(name) else { continue }
            try database.run(
                "INSERT INTO linked_folders VALUES (?, ?)", .integer(folder.source), .integer(inserted))
        }
        for failure in chunk.failures where try known?.takes(failure.name.bytes) != false {
            try insertFailure(
                name: failure.name.bytes, folder: folder.id, lane: folder.lane, source: nil, batch: folder.batch,
                error: failure.error, flags: folder.flags)
        }
        if let error = chunk.unreadable {
            try insertFailure(
                name: folder.name, folder: folder.parent ?? folder.id, lane: folder.lane, source: folder.source,
                batch: folder.batch, error: error, flags: .directory)
        }
        let isDone = chunk.isLast || chunk.unreadable != nil
        if isDone || !folder.isBegun {
            try database.run(
                "UPDATE folders SET begun = 1, walk = ? WHERE id = ?", SQLiteValue(isDone ? nil : folder.source),
                .integer(folder.id))
        }
        if chunk.leftOut != LeftOut() {
            try database.run(
                """
                UPDATE batches SET left_links = left_links + ?, left_special = left_special + ?, left_empty = left_empty + ?
                WHERE id = ?
                """, .integer(chunk.leftOut.links), .integer(chunk.leftOut.special),
                .integer(chunk.leftOut.emptyFolders),
                .integer(folder.batch.rawValue))
        }
        if isDone, chunk.unreadable == nil {
            try forgetIdentity(of: folder.id, in: folder.source)
        } else {
            try note(chunk.identity, of: folder.id, in: folder.source)
        }
        if isDone {
            queue.notes.walkedHere.remove(folder.id)
            try known?.forget()
        } else if known == nil {
            queue.notes.walkedHere.insert(folder.id)
        }
        try noteTasks(folder.batch, first: firstTask)
        queue.change.note(wholly: folder.batch)
    }

    /// `nil` when nothing of the folder can be there yet but what this process put there itself.
    private func knownNames(of folder: OpenFolder) throws -> KnownNames? {
        if !folder.isBegun || queue.notes.walkedHere.contains(folder.id) { return nil }
        return try KnownNames(database, folder: folder.id)
    }

    private func insertFiles(_ files: [WalkedFile], _ folder: OpenFolder, _ known: KnownNames?) throws {
        if files.isEmpty { return }
        let place = try paths.place(of: folder.id)
        let state: TransferState = place?.isPaused == true ? .paused : .queued
        let lane =
            try place?.priority.map { try lanes.lane(batch: folder.batch, origin: folder.origin, priority: $0) }
            ?? folder.lane
        var tally = Tally()
        let insert = try database.statement(
            """
            INSERT INTO tasks (id, folder, lane, state, claimed, flags, run, size, accepted, mtime, inode, name, rank)
            VALUES (?, ?, ?, ?, 0, \(folder.flags.rawValue), 0, ?, 0, ?, ?, ?, ?)
            """)
        try insert.bind(2, folder.id)
        try insert.bind(3, lane)
        try insert.bind(4, state.stored)
        try insert.bind(9, place?.rank)
        for file in files where try known?.takes(file.name.bytes) != false {
            try insert.bind(1, queue.numbers.task)
            try insert.bind(5, file.identity.size)
            try insert.bind(6, file.identity.modifiedNanoseconds)
            try insert.bind(7, Int64(bitPattern: file.identity.inode))
            try insert.bind(8, file.name.bytes)
            try insert.run()
            queue.numbers.task += 1
            tally.files += 1
            ByteSum.add(min(file.identity.size, FileSize.largest), to: &tally.total)
        }
        queue.ledger.add(tally, folder: folder.id, state: state)
        if state == .queued { queue.ledger.addReady(tally.files, lane: lane) }
    }

    func insertTask(
        name: [UInt8], folder: Int64, lane: Int64, source: Int64, batch: BatchID, identity: SourceIdentity,
        sharesName: Bool
    ) throws {
        try database.run(
            """
            INSERT INTO tasks (id, folder, lane, source, state, claimed, flags, run, size, accepted, mtime, inode, name)
            VALUES (?, ?, ?, ?, \(state: .queued), 0, \(sharesName ? TaskFlags.sharesName.rawValue : 0), 0, ?, 0, ?, ?, ?)
            """, .integer(queue.numbers.task), .integer(folder), .integer(lane), .integer(source),
            .integer(identity.size),
            .integer(identity.modifiedNanoseconds), .integer(Int64(bitPattern: identity.inode)), .blob(name))
        queue.numbers.task += 1
        queue.ledger.add(Tally(files: 1, total: min(identity.size, FileSize.largest)), folder: folder, state: .queued)
        queue.ledger.addReady(1, lane: lane)
    }

    /// A task that is over before it began.
    func insertFailure(
        name: [UInt8], folder: Int64, lane: Int64, source: Int64?, batch: BatchID, error: TransferError,
        flags: TaskFlags
    ) throws {
        let id = TaskID(rawValue: queue.numbers.task)
        queue.numbers.task += 1
        try database.run(
            """
            INSERT INTO tasks (id, folder, lane, source, state, claimed, flags, run, accepted, name)
            VALUES (?, ?, ?, ?, \(state: .queued), 0, ?, 0, 0, ?)
            """, .integer(id.rawValue), .integer(folder), .integer(lane), SQLiteValue(source),
            .integer(flags.rawValue), .blob(name))
        queue.ledger.add(Tally(files: 1), folder: folder, state: .queued)
        queue.ledger.addReady(1, lane: lane)
        guard let old = try tasks.task(id) else { return }
        var row = old
        var details = TaskDetails()
        try attempts.fail(&row, &details, error, at: clock())
        try tasks.save(&row, was: old, details, was: TaskDetails())
    }

    @discardableResult
    func insertFolder(
        batch: BatchID, parent: Int64?, name: [UInt8], source: Int64?, hidden: Bool, walk: Int64?
    ) throws -> Int64 {
        let folder = queue.numbers.folder
        queue.numbers.folder += 1
        try database.run(
            """
            INSERT INTO folders (id, batch, parent, name, source, hidden, walk, begun, paused)
            VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)
            """, .integer(folder), .integer(batch.rawValue), SQLiteValue(parent), .blob(name), SQLiteValue(source),
            .integer(hidden ? 1 : 0), SQLiteValue(walk))
        return folder
    }

    /// Keeps the span of numbers that a batch's tasks lie in.
    func noteTasks(_ batch: BatchID, first: Int64) throws {
        guard queue.numbers.task > first else { return }
        try database.run(
            "UPDATE batches SET first_task = ifnull(first_task, ?), last_task = ? WHERE id = ?", .integer(first),
            .integer(queue.numbers.task - 1), .integer(batch.rawValue))
        queue.change.note(wholly: batch)
    }
}
