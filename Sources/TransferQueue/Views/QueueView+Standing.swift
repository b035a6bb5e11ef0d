import SQLiteConnection
import TransferModel

extension QueueView {
    func standing(of node: NodeID) throws -> NodeStanding? {
        switch node {
        case .batch(let id):
            guard let batch = try batchRow(id) else { return nil }
            return try standing(in: batch, sums: batch.sums.files, folder: batch.root)
        case .folder(let id, let path):
            guard let batch = try batchRow(id), let folder = try paths.folder(path, in: id) else { return nil }
            let sums = try database.first(
                "SELECT \(FolderSums.list) FROM folders WHERE id = ?", .integer(folder)
            ) { FolderSums($0).files }
            return try standing(in: batch, sums: sums ?? FileCounts(), folder: folder)
        case .task(let id):
            guard let task = try task(id), let batch = try batchRow(task.row.batch) else { return nil }
            return try standing(of: task, in: batch)
        }
    }

    private func standing(in batch: BatchRow, sums: FileCounts, folder: Int64) throws -> NodeStanding {
        let counts = shown(sums, in: batch)
        let pausedBy = try pausedBy(batch, folder)
        let isBatch = folder == batch.root
        let files = isBatch || sums.waiting == 0 ? [] : try waitingFiles(below: folder)
        var standing = NodeStanding(
            state: counts.state(
                scanning: batch.isScanning, paused: !pausedBy.isEmpty, looking: isBatch && batch.isLooking,
                cutShort: isBatch && batch.isCutShort), batch: batch.id,
            counts: counts, scanning: batch.isScanning, isHeld: batch.isHeld, pausedBy: pausedBy,
            notBefore: isEarly(batch) ? batch.notBefore : nil,
            waitReasons: try isBatch ? waitReasons(of: batch) : waitReasons(of: files, queued: sums.queued, in: batch),
            ahead: try ahead(of: batch), isUrgent: batch.isUrgent)
        standing.isDownload = batch.direction == .download
        standing.pauseEnds = try pauseEnds(pausedBy)
        if counts.paused > 0 { standing.pausedBelow = try pausedFolders(below: folder, of: batch) }
        if sums.waiting > 0 {
            // The task that tries again first stands for those that wait for the reason that is told.
            let told = standing.waitReasons.first.map { WaitReasons($0) } ?? []
            let waiting = try isBatch ? nextToTry(in: batch, told) : Self.nextToTry(files, told)
            if let waiting {
                standing.retryAt = nextTry(waiting.retryAt, in: batch, isUrgent: batch.isUrgent)
                standing.since = waiting.since.map { Timestamp(milliseconds: $0) }
                standing.error = waiting.error
                standing.origin = waiting.origin
            }
        }
        if standing.error == nil, counts.failed > 0 {
            standing.error = try isBatch ? firstFailure(of: batch) : failure(below: folder)
        }
        if standing.origin == nil {
            standing.origin = try database.first(
                "SELECT origin FROM lanes WHERE batch = ? ORDER BY id LIMIT 1", .integer(batch.id.rawValue)
            ) { $0.text(0) }
        }
        if standing.state == .cancelled, isBatch {
            standing.since = batch.finishedAt
            standing.isLeftAtServer = try isLeftAtServer("b.id", batch.id.rawValue, batch)
        }
        standing.limits = try limits(batch, folder, nil, standing.origin)
        return standing
    }

    /// Paused folders with paused files that lie below a folder and in no other of them, the first of them.
    private func pausedFolders(below folder: Int64, of batch: BatchRow) throws -> [NodeID] {
        let paused = try database.rows(
            """
            SELECT id FROM folders INDEXED BY folders_paused WHERE batch = ? AND paused = 1 AND stopped > 0
            ORDER BY id LIMIT 100
            """, .integer(batch.id.rawValue)
        ) { $0.integer(0) }
        var outermost: [NodeID] = []
        for id in paused where id != folder {
            guard let place = try paths.place(of: id), place.pausedBy.count == 1,
                place.chain.contains(FolderID(rawValue: folder))
            else { continue }
            outermost.append(.folder(batch.id, path: place.tree))
        }
        return Array(outermost.prefix(5))
    }

    /// The file that tries again first, of those that wait for the reason that is told if there are such.
    private static func nextToTry(_ files: [WaitingFile], _ told: WaitReasons) -> WaitingFile? {
        func place(_ file: WaitingFile) -> (Int, Int64) {
            (file.reasons.isDisjoint(with: told) ? 1 : 0, file.retryAt ?? .max)
        }
        return files.min { place($0) < place($1) }
    }

    private func nextToTry(in batch: BatchRow, _ told: WaitReasons) throws -> WaitingFile? {
        try database.first(
            """
            SELECT d.wait, d.retry_at, d.wait_since, d.error, l.origin FROM task_details d INDEXED BY details_waiting
            CROSS JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
            WHERE d.wait <> 0 AND t.state = \(state: .waiting) AND l.batch = ?
            ORDER BY d.wait & ? = 0, d.retry_at IS NULL, d.retry_at LIMIT 1
            """, .integer(batch.id.rawValue), .integer(Int64(told.rawValue))
        ) { WaitingFile($0) }
    }

    /// The error of the first failed task of a batch; it stands for the others.
    private func firstFailure(of batch: BatchRow) throws -> TransferError? {
        let text = try database.first(
            """
            SELECT d.error FROM lanes l JOIN tasks t INDEXED BY tasks_failed ON t.lane = l.id AND t.state = \(state: .failed)
            JOIN task_details d ON d.task = t.id WHERE l.batch = ? LIMIT 1
            """, .integer(batch.id.rawValue)
        ) { $0.optionalText(0) }
        return StoredJSON.value(TransferError.self, text ?? nil)
    }

    private func standing(of task: FullTask, in batch: BatchRow) throws -> NodeStanding {
        let shown = try shown(task, in: batch)
        let state = shown.state
        var standing = NodeStanding(
            state: state, batch: batch.id, counts: shown.counts, scanning: false, isHeld: batch.isHeld,
            pausedBy: shown.pausedBy, notBefore: isEarly(batch) ? batch.notBefore : nil, waitReasons: shown.waitReasons,
            ahead: try ahead(of: batch, task.priority), isUrgent: batch.isUrgent || task.isUrgent)
        standing.isDownload = batch.direction == .download
        standing.pauseEnds = try pauseEnds(standing.pausedBy)
        if state == .queued { standing.aheadInBatch = try aheadInBatch(of: task.row) }
        if state == .waiting {
            standing.retryAt = nextTry(task.details.retryAt, in: batch, isUrgent: standing.isUrgent)
        }
        let begun = state.isActive ? task.row.begunAt : task.details.waitSince
        standing.since = (task.row.finishedAt ?? begun).map { Timestamp(milliseconds: $0) }
        standing.error = task.details.failure
        standing.origin = try database.first("SELECT origin FROM lanes WHERE id = ?", .integer(task.row.lane)) {
            $0.text(0)
        }
        if state == .cancelled { standing.isLeftAtServer = try isLeftAtServer("t.id", task.row.id.rawValue, batch) }
        standing.limits = try limits(batch, task.row.folder, task.row.id, standing.origin)
        return standing
    }

    func waitingTasks(of batch: BatchID) throws -> [String: Int64] {
        let counts = try database.rows(
            """
            SELECT l.origin, count(*) FROM batches b CROSS JOIN task_details d INDEXED BY details_waiting
            CROSS JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
            WHERE b.id = ?1 AND d.wait <> 0 AND d.task BETWEEN b.first_task AND b.last_task AND t.state = \(state: .waiting)
            AND l.batch = b.id GROUP BY l.origin
            """, .integer(batch.rawValue)
        ) { ($0.text(0), $0.integer(1)) }
        return Dictionary(counts) { $1 }
    }

    private func isLeftAtServer(_ column: String, _ id: Int64, _ batch: BatchRow) throws -> Bool? {
        guard batch.direction == .upload else { return nil }
        return try database.integer("SELECT 1 \(RemainsStore.left) AND \(column) = ? LIMIT 1", .integer(id)) != nil
    }

    /// Tasks that the scheduler takes before this batch's.
    private func ahead(of batch: BatchRow, _ own: TransferPriority? = nil) throws -> Int64 {
        try database.integer(
            """
            SELECT ifnull(sum(l.ready), 0) FROM batches b INDEXED BY batches_unfinished JOIN lanes l ON l.batch = b.id
            WHERE b.finished_at IS NULL AND b.held = 0 AND b.paused = 0 AND ifnull(b.not_before, 0) <= ?1
            AND (b.priority > ?2 OR (b.priority = ?2 AND b.position < ?3))
            """, .integer(now.milliseconds), .integer(Int64((own ?? batch.priority).level)), .integer(batch.position))
            ?? 0
    }

    /// Tasks that its batch's line has before it.
    private func aheadInBatch(of row: TaskRow) throws -> Int64 {
        let ready = "lane = ?1 AND state = \(state: .queued) AND claimed = 0"
        let place = "(SELECT \(TaskPlaces.sql) FROM tasks WHERE id = ?2)"
        return try database.integer(
            """
            SELECT (SELECT count(*) FROM tasks INDEXED BY tasks_ready
            WHERE \(ready) AND \(TaskTurn.found(.before, place, "?2")))
            + (SELECT count(*) FROM tasks INDEXED BY tasks_ranked
            WHERE \(ready) AND \(TaskTurn.moved(.before, place, "?2")))
            """, .integer(row.lane), .integer(row.id.rawValue)) ?? 0
    }

    /// The limits on its speed, besides the whole engine's.
    private func limits(
        _ batch: BatchRow, _ folder: Int64, _ task: TaskID?, _ origin: String?
    ) throws -> [NodeStanding.Limit] {
        var limits: [NodeStanding.Limit] = []
        func take(_ scope: LimitScope, _ name: String, _ remedy: AdvisedCommand) throws {
            if let rate = try limit(of: scope) {
                limits.append(NodeStanding.Limit(rate: rate, name: name, remedy: remedy))
            }
        }
        for scope in origin.map(LimitScope.hosts) ?? [] {
            if case .host(let name) = scope { try take(scope, "host \(name)", .limit("off", "--host", name)) }
        }
        let session = batch.session
        try take(
            .session(session), "session \(session)",
            AdvisedCommand("session set", [], ["\(session)", "--limit", "off"]))
        try take(.batch(batch.id), "\(batch.id)", .set(.batch(batch.id), "--limit", "off"))
        for above in try paths.place(of: folder)?.chain ?? [] {
            guard let path = try paths.place(of: above.rawValue)?.tree, !path.bytes.isEmpty else { continue }
            let node = NodeID.folder(batch.id, path: path)
            try take(.folder(above), "\(node)", .set(node, "--limit", "off"))
        }
        if let task { try take(.task(task), "\(task)", .set(.task(task), "--limit", "off")) }
        return limits
    }
}
