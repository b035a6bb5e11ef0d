import SQLiteConnection
import TransferModel

/// Directory walks: what they find becomes folders and tasks, once, however often a walk begins again.
struct WalkStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let attempts: AttemptStore
    let lanes: LaneStore

    init(_ queue: QueueConnection, tasks: TaskStore, attempts: AttemptStore, lanes: LaneStore) {
        self.queue = queue
        self.tasks = tasks
        self.attempts = attempts
        self.lanes = lanes
    }

    func unscannedSources(of batch: BatchID?) throws -> [WalkState] {
        var options: [Int64: TransferOptions] = [:]
        let rows = try database.rows(
            """
            SELECT s.id, s.batch, s.path, s.placement, s.name, s.progress, b.options
            FROM sources s INDEXED BY sources_unscanned JOIN batches b ON b.id = s.batch
            WHERE s.progress < \(progress: .done) AND (?1 IS NULL OR s.batch = ?1) ORDER BY s.id
            """, SQLiteValue(batch?.rawValue)
        ) { row in
            let batch = row.integer(1)
            let known = options[batch] ?? StoredJSON.value(TransferOptions.self, row.text(6)) ?? TransferOptions()
            options[batch] = known
            return WalkState(
                source: SourceID(rawValue: row.integer(0)), batch: BatchID(rawValue: batch),
                path: RawPath(row.bytes(2)),
                placement: UploadSource.Placement(stored: row.integer(3), name: row.bytes(4)),
                isBegun: row.integer(5) == SourceProgress.walking.rawValue,
                include: known.include, exclude: known.exclude, followLinks: known.followLinks)
        }
        return rows
    }

    /// Batches whose sources are all walked, though nobody wrote that down.
    func walkedBatches() throws -> [BatchID] {
        try database.rows(
            """
            SELECT id FROM batches b WHERE scanning = 1
            AND NOT EXISTS (SELECT 1 FROM sources WHERE batch = b.id AND progress < \(progress: .done)) ORDER BY id
            """
        ) { BatchID(rawValue: $0.integer(0)) }
    }

    func begin(_ sources: [FoundSource]) throws {
        let firstTask = queue.numbers.task
        var batches: Set<BatchID> = []
        var names = FreeNames(database)
        for found in sources {
            let source = try database.first(
                """
                SELECT s.batch, s.path, s.placement, s.name, b.root, s.progress, l.id, b.shares_names,
                NOT EXISTS (SELECT 1 FROM sources WHERE batch = s.batch AND id <> s.id)
                FROM sources s JOIN batches b ON b.id = s.batch JOIN lanes l ON l.batch = b.id
                AND l.priority = \(LanePriority.ofBatch) WHERE s.id = ?
                """, .integer(found.source.rawValue)
            ) { row in
                OpenSource(
                    id: found.source.rawValue, batch: BatchID(rawValue: row.integer(0)), path: RawPath(row.bytes(1)),
                    placement: StoredPlacement(rawValue: row.integer(2)) ?? .named, name: row.bytes(3),
                    root: row.integer(4), progress: SourceProgress(rawValue: row.integer(5)), lane: row.integer(6),
                    sharesNames: row.integer(7) != 0, isOnly: row.integer(8) == 1)
            }
            guard let source, source.progress == .new else { continue }
            try begin(source, found.kind, &names)
            batches.insert(source.batch)
        }
        for batch in batches { try noteTasks(batch, first: firstTask) }
    }

    private struct OpenSource {
        let id: Int64
        let batch: BatchID
        let path: RawPath
        let placement: StoredPlacement
        let name: [UInt8]
        let root: Int64
        /// `nil`: a cancel stopped it.
        let progress: SourceProgress?
        let lane: Int64
        let sharesNames: Bool
        /// The batch has no other source.
        let isOnly: Bool

        /// The name that a person sees, and that the other end gets unless it is given another one.
        var shownName: [UInt8] { placement == .named ? name : path.lastComponent.bytes }
    }

    private func begin(_ source: OpenSource, _ kind: FoundSource.Kind, _ names: inout FreeNames) throws {
        switch kind {
        case .leftOut:
            try setProgress(source.id, .done)
        case .file(let identity):
            try insertTask(
                name: source.shownName, folder: source.root, lane: source.lane, source: source.id, batch: source.batch,
                identity: identity, sharesName: source.sharesNames)
            try setProgress(source.id, .done)
        case .unreadable(let error):
            try insertFailure(
                name: source.shownName, folder: source.root, lane: source.lane, source: source.id, batch: source.batch,
                error: error, flags: source.sharesNames ? .sharesName : [])
            try setProgress(source.id, .done)
        case .directory(let identity) where source.placement == .contents && source.isOnly:
            // The root itself is the directory.
            try database.run(
                "UPDATE folders SET source = ?1, walk = ?1 WHERE id = ?2", .integer(source.id), .integer(source.root))
            try note(identity, of: source.root, in: source.id)
            try setProgress(source.id, .walking)
        case .directory(let identity):
            // The contents of one directory among several sources keep a folder of their own here, so that each file's
            // local place follows from its folder; at the other end they lie in the destination itself.
            let isHidden = source.placement == .contents
            let name = source.shownName
            let folder = try insertFolder(
                batch: source.batch, parent: source.root,
                name: isHidden ? try names.name(like: name, below: source.root, in: source.batch) : name,
                source: source.id, hidden: isHidden, walk: source.id)
            try note(identity, of: folder, in: source.id)
            try setProgress(source.id, .walking)
        }
        queue.change.note(wholly: source.batch)
    }

    private func setProgress(_ source: Int64, _ progress: SourceProgress) throws {
        try database.run("UPDATE sources SET progress = ? WHERE id = ?", .integer(progress.rawValue), .integer(source))
    }

    func foldersToWalk(of source: SourceID, limit: Int) throws -> [FolderToWalk] {
        let folders = try database.rows(
            """
            SELECT f.id, w.file_system, w.inode FROM folders f LEFT JOIN walked_folders w ON w.source = f.walk AND w.folder = f.id
            WHERE f.walk = ? ORDER BY f.id LIMIT ?
            """, .integer(source.rawValue), .integer(Int64(limit))
        ) { (id: $0.integer(0), fileSystem: $0.optionalInteger(1), inode: $0.integer(2)) }
        return try folders.compactMap { folder in
            guard let place = try paths.place(of: folder.id)?.local else { return nil }
            let identity = folder.fileSystem.map {
                FolderIdentity(fileSystem: UInt32(truncatingIfNeeded: $0), inode: UInt64(bitPattern: folder.inode))
            }
            return FolderToWalk(
                folder: FolderID(rawValue: folder.id), source: source, place: place, identity: identity)
        }
    }

    // MARK: Marks of directories

    /// Has no other directory listed in a folder's place: the marks that were found first hold until all of it is listed.
    func note(_ identity: FolderIdentity?, of folder: Int64, in source: Int64) throws {
        guard let identity else { return }
        try database.run(
            "INSERT OR IGNORE INTO walked_folders VALUES (?, ?, ?, ?)", .integer(source), .integer(folder),
            .integer(Int64(identity.fileSystem)), .integer(Int64(bitPattern: identity.inode)))
    }

    func forgetIdentity(of folder: Int64, in source: Int64) throws {
        try database.run(
            "DELETE FROM walked_folders WHERE source = ? AND folder = ?", .integer(source), .integer(folder))
    }

    /// - Returns: those that have a path, and the last that was looked at; `nil`: there are no more.
    func linkedFolders(
        of source: SourceID, after: FolderID?, limit: Int
    ) throws -> (links: [LinkedFolder], last: FolderID?) {
        let links = try database.rows(
            """
            SELECT f.id, f.parent, f.name FROM linked_folders k JOIN folders f ON f.id = k.folder
            WHERE k.source = ? AND f.parent IS NOT NULL AND k.folder > ? ORDER BY k.folder LIMIT ?
            """, .integer(source.rawValue), .integer(after?.rawValue ?? 0), .integer(Int64(limit))
        ) { (id: $0.integer(0), parent: FolderID(rawValue: $0.integer(1)), name: RawPath($0.bytes(2))) }
        let found = try links.compactMap { link -> LinkedFolder? in
            guard let place = try paths.place(of: link.id)?.local else { return nil }
            return LinkedFolder(folder: FolderID(rawValue: link.id), parent: link.parent, name: link.name, place: place)
        }
        return (found, links.last.map { FolderID(rawValue: $0.id) })
    }

    /// Ends a batch's scanning when nothing is left to be walked.
    func finishScan(_ batch: BatchID) throws -> Bool {
        let isScanning = try database.integer("SELECT scanning FROM batches WHERE id = ?", .integer(batch.rawValue))
        guard isScanning == 1 else { return isScanning != nil }
        try database.run(
            """
            UPDATE sources SET progress = \(progress: .done) WHERE batch = ? AND progress = \(progress: .walking)
            AND NOT EXISTS (SELECT 1 FROM folders WHERE walk = sources.id)
            """, .integer(batch.rawValue))
        let open = try database.integer(
            "SELECT 1 FROM sources WHERE batch = ? AND progress < \(progress: .done) LIMIT 1", .integer(batch.rawValue))
        if open != nil { return false }
        let stopped = try database.integer(
            """
            SELECT EXISTS (SELECT 1 FROM folders WHERE \(Self.isUnlisted) AND batch = ?1)
            OR EXISTS (SELECT 1 FROM sources WHERE batch = ?1 AND progress > \(progress: .done))
            """, .integer(batch.rawValue))
        try database.run(
            "UPDATE batches SET scanning = ? WHERE id = ?",
            .integer((stopped == 1 ? ListingState.cutShort : .ended).rawValue), .integer(batch.rawValue))
        var payload = EventPayload()
        payload.filesTotal = try filesTotal(of: batch)
        try queue.appendEvent(.batchScanned, batch: batch, payload: payload)
        queue.touched.insert(batch)
        queue.change.looksAreDue = true
        queue.change.note(wholly: batch)
        return true
    }

    private func filesTotal(of batch: BatchID) throws -> Int64? {
        try database.first(
            "SELECT \(FolderSums.list) FROM folders f JOIN batches b ON b.root = f.id WHERE b.id = ?",
            .integer(batch.rawValue)
        ) { FolderSums($0).files.total }
    }
}
