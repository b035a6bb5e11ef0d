import SQLiteConnection
import TransferModel

/// Undoing a cancel: its tasks are queued again.
extension UndoStore {
    func takeBackCancel(_ step: UndoneStep, _ undoing: inout Undoing) throws {
        let batch = step.batch
        guard let node = step.node, let target = try finder.target(node) else { return }
        let place = TaskSets.Place(target)
        try pauses.letGo(batch)
        try counters.write()
        // Those that this brings back: who was retried since has no time any more.
        let ended = TaskSets.Selection.cancelled(by: step)
        let times = try takeTimes(
            UndoRecords(
                condition: "page = ?4 AND task IN (SELECT id FROM tasks WHERE \(ended.condition))",
                values: ended.values))
        try sets.move(
            ended, to: TransferState.queuedOrPausedSQL, also: "finished_at = NULL, run = run + 1")
        try sets.move(
            .cancelledLater(by: step, in: place), to: TransferState.queuedOrPausedSQL,
            also: "finished_at = NULL, run = run + 1, flags = flags & ~\(flags: .cancelled)")
        try database.run(
            """
            UPDATE tasks SET flags = flags & ~\(flags: .cancelled)
            WHERE \(place.condition) AND id IN (SELECT task FROM undo_tasks WHERE page = ?2)
            """, .integer(place.value), .integer(step.page.number))
        if step.node == .batch(batch) { try looks.takeUpLastLooks(batch) }
        if try takeUpWalks(stoppedBy: step) { undoing.nodeChange.walked.insert(batch) }
        sets.noteMoves(in: batch)
        try putBack(times, &undoing)
    }

    /// Once for each batch, however many of its nodes were cancelled one by one: tells of it, and pauses what is below paused folders.
    func finishCancels(_ steps: [UndoneStep]) throws {
        for (batch, steps) in Dictionary(grouping: steps, by: \.batch).sorted(by: { $0.key < $1.key }) {
            try pauseBelowPausedFolders(batch)
            let nodes = steps.compactMap(\.node)
            let files = nodes.count { if case .task = $0 { true } else { false } }
            let what =
                switch nodes.count {
                case 1: nodes[0] == .batch(batch) ? "" : " of \(nodes[0])"
                case files: " of \(files) files"
                default: " of \(nodes.count) files and folders"
                }
            var payload = EventPayload()
            payload.message = "the cancel\(what) was taken back"
            try queue.appendEvent(.resumed, batch: batch, payload: payload)
        }
    }

    /// - Returns: whether anything is to be listed again.
    private func takeUpWalks(stoppedBy step: UndoneStep) throws -> Bool {
        var mark: Int64 = 0
        if let walks = step.before.walks {
            guard let own = walks.value else { return false }
            mark = own
        }
        guard let node = step.node, let target = try finder.target(node) else { return false }
        switch target {
        case .batch(let batch, let root): return try walks.takeUpWalks(batch, below: root, isWhole: true, mark: mark)
        case .folder(let batch, let folder, _):
            return try walks.takeUpWalks(batch, below: folder, isWhole: false, mark: mark)
        case .task: return false
        }
    }

    private func pauseBelowPausedFolders(_ batch: BatchID) throws {
        let paused = try database.rows(
            "SELECT id FROM folders INDEXED BY folders_paused WHERE batch = ? AND paused = 1", .integer(batch.rawValue)
        ) { $0.integer(0) }
        for top in paused {
            // Files with a start time of their own wait for it again.
            for folder in try sets.withTasks(sets.subtree(of: top), states: [.queued, .waiting]) {
                try sets.move(.directly(in: folder, states: [.queued, .waiting]), to: "\(state: .paused)")
            }
        }
    }
}
