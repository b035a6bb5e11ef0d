import SQLiteConnection
import TransferModel

/// The part that a snapshot, a row of the tree and `why` have in common: stored rows as they are shown.
extension QueueView {
    /// A batch with the sums of everything in it.
    struct ShownBatch {
        let counts: FileCounts
        let state: TransferState
        let waitReasons: [WaitReason]
        /// The time at which its pause, or the first pause of a part of it, ends by itself.
        let pausedUntil: Timestamp?
        let limit: Int64?
    }

    func shown(_ batch: BatchRow) throws -> ShownBatch {
        let counts = shown(batch.sums.files, in: batch)
        let state = counts.state(
            scanning: batch.isScanning, paused: batch.isPaused, looking: batch.isLooking, cutShort: batch.isCutShort)
        return ShownBatch(
            counts: counts, state: state, waitReasons: try waitReasons(of: batch),
            pausedUntil: state == .paused || counts.paused > 0 ? try pauseEnd(of: batch) : nil,
            limit: try limit(of: .batch(batch.id)))
    }

    /// A task with what its batch and folders make of it.
    struct ShownTask {
        let state: TransferState
        let waitReasons: [WaitReason]
        /// The nodes whose own flag pauses it, itself first.
        let pausedBy: [NodeID]
        /// While it is paused: when the last of these pauses ends by itself.
        let pausedUntil: Timestamp?
        /// While it waits: the time of its next try.
        let retryAt: Timestamp?

        /// One file in this state.
        var counts: FileCounts {
            var counts = FileCounts()
            counts[state] = 1
            return counts
        }
    }

    func shown(_ task: FullTask, in batch: BatchRow) throws -> ShownTask {
        let (row, details) = (task.row, task.details)
        let state = shown(row.state, in: batch, isUrgent: task.isUrgent)
        let own: [NodeID] = row.flags.contains(.paused) ? [.task(row.id)] : []
        let pausedBy = own + (try pausedBy(batch, row.folder))
        return ShownTask(
            state: state, waitReasons: waitReasons(of: row, details, in: batch), pausedBy: pausedBy,
            pausedUntil: state == .paused ? try pauseEnds(pausedBy) : nil,
            retryAt: state == .waiting ? nextTry(details.retryAt, in: batch, isUrgent: task.isUrgent) : nil)
    }

    // MARK: States

    /// A batch's flags leave its tasks' rows alone; they show in what a person sees of them.
    /// - Parameter isUrgent: of one task that is wanted now, whatever its batch waits for.
    func shown(_ state: TransferState, in batch: BatchRow, isUrgent: Bool = false) -> TransferState {
        switch state {
        case .queued, .waiting:
            if batch.isPaused { return .paused }
            if state == .waiting { return .waiting }
            if isUrgent { return .queued }
            if batch.isHeld { return .created }
            return isEarly(batch) ? .waiting : .queued
        default: return state
        }
    }

    /// Bytes a second; `nil`: no limit of its own.
    func limit(of scope: LimitScope) throws -> Int64? {
        try database.first("SELECT rate FROM limits WHERE scope = ?", .text(scope.stored)) { $0.count(0) }
    }

    /// The time of a task's next try, which does not come before the time at which its batch may begin.
    func nextTry(_ own: Int64?, in batch: BatchRow, isUrgent: Bool) -> Timestamp? {
        let own = own.map { Timestamp(milliseconds: $0) }
        guard let begin = batch.notBefore, !isUrgent else { return own }
        return own.map { max($0, begin) }
    }

    func isEarly(_ batch: BatchRow) -> Bool { batch.notBefore.map { $0 > now } ?? false }

    func shown(_ counts: FileCounts, in batch: BatchRow) -> FileCounts {
        var shown = FileCounts()
        for state in TransferState.allCases { shown[self.shown(state, in: batch)] += counts[state] }
        return shown
    }

    /// Every reason that some task of a batch waits for.
    func waitReasons(of batch: BatchRow) throws -> [WaitReason] {
        var reasons: WaitReasons = []
        if batch.sums.files.waiting > 0 {
            try database.forEach(
                "SELECT value FROM reasons WHERE batch = ? AND kind = \(reasons: .waiting) AND files > 0",
                .integer(batch.id.rawValue)
            ) { reasons.formUnion(WaitReasons(rawValue: Int32(truncatingIfNeeded: $0.integer(0)))) }
        }
        return waitReasons(reasons, queued: batch.sums.files.queued, in: batch)
    }

    /// The reasons of some files of a batch.
    /// - Parameter queued: those that stand in line.
    func waitReasons(of files: [WaitingFile], queued: Int64, in batch: BatchRow) -> [WaitReason] {
        waitReasons(files.reduce(into: []) { $0.formUnion($1.reasons) }, queued: queued, in: batch)
    }

    private func waitReasons(_ reasons: WaitReasons, queued: Int64, in batch: BatchRow) -> [WaitReason] {
        isEarly(batch) && queued > 0 ? reasons.union(WaitReasons(.notBefore)).reasons : reasons.reasons
    }

    private func waitReasons(of row: TaskRow, _ details: TaskDetails, in batch: BatchRow) -> [WaitReason] {
        guard shown(row.state, in: batch) == .waiting else { return [] }
        return row.state == .waiting ? details.wait.reasons : [.notBefore]
    }

    // MARK: Pauses

    func pausedBy(_ batch: BatchRow, _ folder: Int64) throws -> [NodeID] {
        let folders = try paths.place(of: folder)?.pausedBy ?? []
        return folders.map { .folder(batch.id, path: $0) } + (batch.isPaused ? [.batch(batch.id)] : [])
    }

    /// The time at which a paused batch, or the first of its paused parts, resumes by itself; `nil`: none does.
    func pauseEnd(of batch: BatchRow) throws -> Timestamp? {
        if batch.isPaused { return try pauseEnds([.batch(batch.id)]) }
        let first = try database.integer("SELECT min(at) FROM pause_ends WHERE batch = ?", .integer(batch.id.rawValue))
        return first.map { Timestamp(milliseconds: $0) }
    }

    /// Returns the time at which the first pause below a folder ends by itself. Only the first 100 ends of the batch are looked at.
    func pauseEnd(below folder: Int64, of batch: BatchRow) throws -> Timestamp? {
        let ends = try database.rows(
            "SELECT node, at FROM pause_ends WHERE batch = ? ORDER BY at LIMIT 100", .integer(batch.id.rawValue)
        ) { (node: StoredJSON.value(NodeID.self, $0.text(0)), at: $0.integer(1)) }
        let first = try ends.first { end in
            let nearest: Int64? =
                switch end.node {
                case .folder(let batch, let path): try paths.folder(path, in: batch)
                case .task(let task): try self.task(task)?.row.folder
                case .batch, nil: nil
                }
            let chain = try nearest.flatMap { try paths.place(of: $0)?.chain }
            return chain?.contains(FolderID(rawValue: folder)) ?? false
        }
        return first.map { Timestamp(milliseconds: $0.at) }
    }

    /// When the last of these pauses ends by itself; `nil`: one of them does not.
    func pauseEnds(_ nodes: [NodeID]) throws -> Timestamp? {
        let ends = try nodes.map { node in
            try database.integer("SELECT at FROM pause_ends WHERE node = ?", .text(try StoredJSON.text(node)))
        }
        let known = ends.compactMap(\.self)
        return known.count == nodes.count ? known.max().map { Timestamp(milliseconds: $0) } : nil
    }
}
