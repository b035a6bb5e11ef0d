import SQLiteConnection
import TransferModel

/// Pauses nodes, and lets them go on. A pause is stored in three ways, by what it is said of:
///
/// - A batch: its flag `paused` alone. Its tasks keep their states and stay queued; nobody claims them, because a claim asks for the flag.
/// - A folder: its flag, and the tasks below that are not over are in the state `paused`, so that lists and counters show it.
/// - A task: its flag and its state. The flag says that the pause is its own: when its folder is resumed it stays paused.
///
/// Tasks that the engine has in hand are taken from it in the same transaction (`AttemptStore.stop`); `NodeChange.stopped` names those claims.
/// A download that has leave to publish is left alone. The listing of a paused folder goes on, and new files below it are `paused` from the
/// beginning (`WalkStore.insert`).
struct PauseStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let sets: TaskSets
    let attempts: AttemptStore
    let finder: NodeFinder
    let undoLog: UndoLog

    // MARK: Pause

    /// - Parameters:
    ///   - until: they go on by themselves then.
    ///   - changesEnds: what is paused already has this end from now on.
    ///   - joining: this is more of the last change, to be taken back with it; so for all that follow.
    func pause(
        _ nodes: [NodeID], until: Timestamp? = nil, changesEnds: Bool = true, joining: Int64? = nil
    ) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        let end = until?.milliseconds
        return try finder.forEach(nodes) { node, target, nodeChange in
            var result = try pauseWithoutNote(node, target, &nodeChange)
            if result.result == .refused { return result }
            var before = UndoBefore()
            before.paused = false
            if result.result == .already {
                let known = try pauseEnd(of: target)
                if known == end || !changesEnds { return result }
                (before.paused, before.pauseEnd) = (true, UndoBefore.Was(known))
                result = NodeResult(id: node, result: .done)
            }
            try setPauseEnd(end, of: target)
            try undoLog.note(.pause, node, batch: target.batch, before, page: page)
            return result
        }.asOperation(page.operation)
    }

    func pauseWithoutNote(_ node: NodeID, _ target: NodeTarget, _ nodeChange: inout NodeChange) throws -> NodeResult {
        switch target {
        case .batch(let batch, let root): try pause(node, batch, root, &nodeChange)
        case .folder(let batch, let folder, let path): try pause(node, batch, folder, path, &nodeChange)
        case .task(let row): try pause(node, row, &nodeChange)
        }
    }

    private func pause(_ node: NodeID, _ batch: BatchID, _ root: Int64, _ nodeChange: inout NodeChange) throws
        -> NodeResult
    {
        let isPaused = try database.integer("SELECT paused FROM batches WHERE id = ?", .integer(batch.rawValue))
        if isPaused == 1 { return NodeResult(id: node, result: .already) }
        if try finder.isOver(folder: root, in: batch) {
            return finder.refused(node, "\(node) is over: nothing is left to pause")
        }
        try database.run("UPDATE batches SET paused = 1 WHERE id = ?", .integer(batch.rawValue))
        // The tasks keep their states; only what the engine has in hand is taken from it.
        for row in try sets.claimed(in: Set(sets.subtree(of: root))) {
            try attempts.stop(row, as: .queued, .paused, &nodeChange)
        }
        try queue.appendEvent(.paused, batch: batch)
        queue.change.batches.insert(batch)
        queue.change.note(wholly: batch)
        return NodeResult(id: node, result: .done)
    }

    private func pause(
        _ node: NodeID, _ batch: BatchID, _ folder: Int64, _ path: RawPath, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        let isPaused = try database.integer("SELECT paused FROM folders WHERE id = ?", .integer(folder))
        if isPaused == 1 { return NodeResult(id: node, result: .already) }
        if try finder.isOver(folder: folder, in: batch) {
            return finder.refused(node, "\(node) is over: nothing is left to pause")
        }
        try database.run("UPDATE folders SET paused = 1 WHERE id = ?", .integer(folder))
        queue.forgetPaths()
        let below = try sets.subtree(of: folder)
        for row in try sets.claimed(in: Set(below)) { try attempts.stop(row, as: .paused, .paused, &nodeChange) }
        for folder in try sets.withTasks(below, states: [.queued, .waiting]) {
            try sets.move(.directly(in: folder, states: [.queued, .waiting]), to: "\(state: .paused)")
        }
        sets.noteMoves(in: batch)
        var payload = EventPayload()
        payload.message = path.displayed
        try queue.appendEvent(.paused, batch: batch, payload: payload)
        return NodeResult(id: node, result: .done)
    }

    private func pause(_ node: NodeID, _ old: TaskRow, _ nodeChange: inout NodeChange) throws -> NodeResult {
        if old.state.isTerminal { return finder.refused(node, "\(node) is over: nothing is left to pause") }
        if old.flags.contains(.paused) { return NodeResult(id: node, result: .already) }
        if old.flags.contains(.publishing) { return finder.tooLate(node) }
        var row = old
        row.flags.insert(.paused)
        try queue.appendEvent(.paused, batch: row.batch, task: row.id)
        if row.claimed {
            try tasks.save(row, was: old)
            try attempts.stop(row, as: .paused, .paused, &nodeChange)
        } else {
            try setState(&row, .paused, was: old)
        }
        return NodeResult(id: node, result: .done)
    }

    /// Moves one task that the engine does not have.
    private func setState(_ row: inout TaskRow, _ state: TransferState, was old: TaskRow) throws {
        let details = try tasks.details(row)
        row.state = state
        try tasks.save(&row, was: old, details, was: details)
    }

    // MARK: Resume

    func resume(_ nodes: [NodeID], joining: Int64? = nil) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        return try finder.forEach(nodes) { node, target, nodeChange in
            var before = UndoBefore()
            before.paused = true
            if case .batch(let batch, _) = target {
                let flags = try database.first(
                    "SELECT held, paused FROM batches WHERE id = ?", .integer(batch.rawValue)
                ) { ($0.integer(0) != 0, $0.integer(1) != 0) }
                (before.held, before.paused) = (flags?.0, flags?.1)
            }
            before.pauseEnd = try pauseEnd(of: target).map { UndoBefore.Was($0) }
            let result = try resumeWithoutNote(node, target)
            if result.result == .done {
                try undoLog.note(.resume, node, batch: target.batch, before, page: page)
            } else if result.result == .already, let folder = target.folder,
                try resumeBelow(folder, in: target.batch, page)
            {
                return NodeResult(id: node, result: .done)
            }
            return result
        }.asOperation(page.operation)
    }

    /// Resumes everything that is paused by itself below a folder that is not paused as a whole. False: there was nothing.
    private func resumeBelow(_ folder: Int64, in batch: BatchID, _ page: ChangePage) throws -> Bool {
        let subtree = try sets.subtree(of: folder)
        let below = Set(subtree)
        let folders = try database.rows(
            "SELECT id FROM folders INDEXED BY folders_paused WHERE batch = ? AND paused = 1", .integer(batch.rawValue)
        ) { $0.integer(0) }
        var nodes = try folders.filter(below.contains).compactMap { folder in
            try paths.place(of: folder).map { NodeID.folder(batch, path: $0.tree) }
        }
        for folder in try sets.withTasks(subtree, states: [.paused]) {
            nodes += try database.rows(
                "SELECT id FROM tasks WHERE folder = ? AND state = \(state: .paused) AND flags & \(flags: .paused)",
                .integer(folder)
            ) { .task(TaskID(rawValue: $0.integer(0))) }
        }
        var isDone = false
        for node in nodes {
            guard let target = try finder.target(node) else { continue }
            var before = UndoBefore()
            before.paused = true
            before.pauseEnd = try pauseEnd(of: target).map { UndoBefore.Was($0) }
            guard try resumeWithoutNote(node, target).result == .done else { continue }
            try undoLog.note(.resume, node, batch: batch, before, page: page)
            isDone = true
        }
        return isDone
    }

    func resumeWithoutNote(_ node: NodeID, _ target: NodeTarget) throws -> NodeResult {
        let result =
            switch target {
            case .batch(let batch, _): try resume(node, batch)
            case .folder(let batch, let folder, let path): try resume(node, batch, folder, path)
            case .task(let row): try resume(node, row)
            }
        if result.result == .done {
            try setPauseEnd(nil, of: target)
            try letGo(target.batch)
        }
        return result
    }

    /// Somebody let something of a batch go on: waiting for that person does not count towards giving up.
    func letGo(_ batch: BatchID) throws {
        try database.run(
            "UPDATE batches SET let_go_at = ? WHERE id = ?", .integer(clock().milliseconds), .integer(batch.rawValue))
    }

    private func resume(_ node: NodeID, _ batch: BatchID) throws -> NodeResult {
        let isStopped = try database.integer(
            "SELECT held OR paused FROM batches WHERE id = ?", .integer(batch.rawValue))
        if isStopped != 1 { return NodeResult(id: node, result: .already) }
        try database.run("UPDATE batches SET held = 0, paused = 0 WHERE id = ?", .integer(batch.rawValue))
        try queue.appendEvent(.resumed, batch: batch)
        queue.change.note(wholly: batch)
        queue.change.mayRun = true
        return NodeResult(id: node, result: .done)
    }

    private func resume(_ node: NodeID, _ batch: BatchID, _ folder: Int64, _ path: RawPath) throws -> NodeResult {
        let isPaused = try database.integer("SELECT paused FROM folders WHERE id = ?", .integer(folder))
        guard isPaused == 1 else {
            return try stoppedAbove(node, folder, batch) ?? NodeResult(id: node, result: .already)
        }
        try database.run("UPDATE folders SET paused = 0 WHERE id = ?", .integer(folder))
        queue.forgetPaths()
        if try !paths.isPaused(folder) {
            for folder in try sets.withTasks(sets.subtree(of: folder, pruned: true), states: [.paused]) {
                try sets.move(
                    .directly(in: folder, states: [.paused], and: "flags & \(flags: .paused) = 0"),
                    to: Self.resumedState)
            }
        }
        sets.noteMoves(in: batch)
        var payload = EventPayload()
        payload.message = path.displayed
        try queue.appendEvent(.resumed, batch: batch, payload: payload)
        return NodeResult(id: node, result: .done)
    }

    /// SQL for the state of a resumed task: a task that waited for something waits on.
    private static let resumedState = """
        CASE WHEN flags & \(flags: .details) AND EXISTS (SELECT 1 FROM task_details WHERE task = tasks.id AND wait <> 0)
        THEN \(state: .waiting) ELSE \(state: .queued) END
        """

    private func resume(_ node: NodeID, _ old: TaskRow) throws -> NodeResult {
        guard old.flags.contains(.paused) else {
            // After `martlet run-now` a file runs although its batch is held.
            let isNow = try database.integer(
                "SELECT 1 FROM lanes WHERE id = ? AND priority = \(LanePriority.now)", .integer(old.lane))
            let isHeldBack = !old.claimed && !old.state.isTerminal && isNow == nil
            return try stoppedAbove(node, old.folder, old.batch, isHeldBack: isHeldBack)
                ?? NodeResult(id: node, result: .already)
        }
        var row = old
        row.flags.remove(.paused)
        try queue.appendEvent(.resumed, batch: row.batch, task: row.id)
        if try row.state == .paused && !paths.isPaused(row.folder) {
            try setState(&row, tasks.details(row).wait.isEmpty ? .queued : .waiting, was: old)
        } else {
            try tasks.save(row, was: old)
        }
        return NodeResult(id: node, result: .done)
    }

    /// Refuses to resume a node without a flag of its own while something above it is held or paused; `nil` when nothing above it is.
    private func stoppedAbove(
        _ node: NodeID, _ folder: Int64, _ batch: BatchID, isHeldBack: Bool = true
    ) throws -> NodeResult? {
        let stop = try database.first("SELECT paused, held FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            (isPaused: $0.integer(0) != 0, isHeld: $0.integer(1) != 0)
        }
        if let stop, stop.isPaused || stop.isHeld && isHeldBack {
            let how: Advice = stop.isPaused ? "paused" : "held"
            return finder.refused(node, "its batch \(batch) is \(how): \(quoted: .resume(.batch(batch)))")
        }
        guard let path = try paths.place(of: folder)?.pausedBy.first else { return nil }
        let above = NodeID.folder(batch, path: path)
        return finder.refused(node, "its folder \(above) is paused: \(quoted: .resume(above))")
    }

    /// A batch that was held stands still again.
    func hold(_ batch: BatchID, _ root: Int64, _ nodeChange: inout NodeChange) throws {
        try database.run("UPDATE batches SET held = 1 WHERE id = ?", .integer(batch.rawValue))
        try attempts.stopEarly(sets.claimed(below: root), of: batch, &nodeChange)
        queue.change.note(wholly: batch)
    }
}
