import SQLiteConnection
import TransferModel

/// Taking changes back within the grace time, whoever made them.
extension QueueStore {
    /// The number of a change that begins, or of one that goes on. None is given twice: a screen may offer to take back the change that
    /// it knows by its number, whatever others did meanwhile.
    func operation(joining: Int64? = nil) throws -> Int64 {
        if let joining { return joining }
        // What is long past the grace time is of no use to anyone.
        let now = clock()
        let last = now.advanced(by: .zero - max(graceTime, .seconds(3600)))
        try database.run(
            "DELETE FROM undo WHERE at < ? AND (kind <> ? OR at < ?)", .integer(last.milliseconds),
            .integer(UndoneDeed.cancel.stored), .integer(endOfLateUndo(now).milliseconds))
        try database.run("DELETE FROM undo_tasks WHERE operation NOT IN (SELECT operation FROM undo)")
        defer { queue.numbers.operation += 1 }
        return queue.numbers.operation
    }

    /// Writes down what was so before a change of one node, or of none. The grace time begins now.
    func note(
        _ deed: UndoneDeed, _ node: NodeID?, batch: BatchID?, _ before: UndoBefore = UndoBefore(),
        events: (Int64, Int64) = (0, 0), operation: Int64
    ) throws {
        try database.run(
            "INSERT INTO undo (operation, node, batch, at, first_event, last_event, kind, before) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(operation), .text(try node.map { try StoredJSON.text($0) } ?? ""),
            .integer(batch?.rawValue ?? 0), .integer(clock().milliseconds), .integer(events.0), .integer(events.1),
            .integer(deed.stored), .text(try StoredJSON.text(before)))
    }

    /// Writes down where tasks stand.
    func remember(_ unit: TaskSets.Unit, _ operation: Int64) throws {
        let insert =
            "INSERT OR IGNORE INTO undo_tasks (operation, task, lane, rank) SELECT ?1, id, lane, rank FROM tasks WHERE "
        switch unit {
        case .tasks(let ids):
            for id in ids { try database.run(insert + "id = ?2", .integer(operation), .integer(id.rawValue)) }
        case .folder(let top):
            for folder in try sets.subtree(of: top) {
                try database.run(
                    insert + "folder = ?2 AND state < \(state: .completed)", .integer(operation), .integer(folder))
            }
        }
    }

    /// Writes down the times that tasks have of their own, which a cancel takes away.
    func rememberTimes(_ unit: TaskSets.Unit, _ operation: Int64) throws {
        let remember = """
            INSERT OR IGNORE INTO undo_tasks (operation, task, lane, rank, not_before)
            SELECT ?1, t.id, t.lane, t.rank, d.retry_at
            FROM task_details d INDEXED BY details_waiting CROSS JOIN tasks t ON t.id = d.task
            WHERE d.wait <> 0 AND d.wait & ?2 AND
            """
        let reason = SQLiteValue.integer(Int64(WaitReasons(.notBefore).rawValue))
        switch unit {
        case .tasks(let ids):
            for id in ids {
                try database.run(remember + " t.id = ?3", .integer(operation), reason, .integer(id.rawValue))
            }
        case .folder(let top):
            try database.run(
                remember + " t.folder IN (\(TaskSets.below("?3")))", .integer(operation), reason, .integer(top))
        }
    }

    /// One node's part of a change.
    struct UndoneStep {
        let row: Int64
        let operation: Int64
        let node: NodeID?
        let batch: BatchID
        let events: (Int64, Int64)
        let deed: UndoneDeed
        let before: UndoBefore
        let at: Timestamp
        /// The grace time is over: what had arrived in part is gone, and files begin anew.
        let isLate: Bool
    }

    /// The time before which a cancel can no longer be undone, not even with its files starting over.
    private func endOfLateUndo(_ now: Timestamp) -> Timestamp {
        now.advanced(by: .zero - max(graceTime, .seconds(86_400)))
    }

    private func steps(now: Timestamp) throws -> [UndoneStep] {
        let end = endOfUndo(now)
        return try database.rows(
            """
            SELECT rowid, operation, node, batch, first_event, last_event, kind, before, at FROM undo
            WHERE at >= ?1 OR (kind = ?2 AND at >= ?3) ORDER BY rowid DESC
            """, .integer(end.milliseconds), .integer(UndoneDeed.cancel.stored),
            .integer(endOfLateUndo(now).milliseconds)
        ) { row -> UndoneStep? in
            guard let deed = UndoneDeed(stored: row.integer(6)) else { return nil }
            let at = Timestamp(milliseconds: row.integer(8))
            return UndoneStep(
                row: row.integer(0), operation: row.integer(1), node: StoredJSON.value(NodeID.self, row.text(2)),
                batch: BatchID(rawValue: row.integer(3)), events: (row.integer(4), row.integer(5)), deed: deed,
                before: StoredJSON.value(UndoBefore.self, row.optionalText(7)) ?? UndoBefore(), at: at,
                isLate: at < end)
        }.compactMap { $0 }
    }

    /// Changes that can be undone, the last one first.
    func undoSteps(now: Timestamp) throws -> [UndoStep] {
        var found: [UndoStep] = []
        for step in try steps(now: now) where try step.batch.rawValue == 0 || !isGone(step.batch) {
            if let index = found.firstIndex(where: { $0.operation == step.operation }) {
                found[index].nodes += 1
                continue
            }
            let name = try database.first(
                "SELECT name FROM batches WHERE id = ?", .integer(step.batch.rawValue)
            ) { $0.text(0) }
            found.append(
                UndoStep(
                    operation: step.operation, deed: step.deed, at: step.at, node: step.node,
                    name: name ?? step.before.scope ?? "the engine",
                    startsAgain: step.isLate))
        }
        return found
    }

    private func isGone(_ batch: BatchID) throws -> Bool {
        try database.integer("SELECT 1 FROM batches WHERE id = ?", .integer(batch.rawValue)) == nil
    }

    func undo(_ choice: UndoChoice, now: Timestamp) throws -> NodeChange {
        let recent = try steps(now: now)
        let chosen: [UndoneStep] =
            switch choice {
            case .last:
                // Long ago, it has to be named: nobody means it by "the last".
                recent.first { !$0.isLate }.map { last in recent.filter { $0.operation == last.operation } } ?? []
            case .operation(let number): recent.filter { $0.operation == number }
            case .nodes(let nodes): nodes.compactMap { node in recent.first { $0.node == node } }
            }
        var change = NodeChange()
        var cancels: [UndoneStep] = []
        for step in chosen {
            if step.deed != .purge, try isHidden(step.batch) {
                let message = "\(step.batch) was cleared from the list since: take that back first, with 'martlet undo'"
                change.results.append(finder.refused(step.node ?? .batch(step.batch), message))
                continue
            }
            let isWhole = !recent.contains { other in
                other.operation == step.operation && !chosen.contains { $0.row == other.row }
            }
            try takeBack(step, whole: isWhole, &change)
            try database.run("DELETE FROM undo WHERE rowid = ?", .integer(step.row))
            change.undone = step.deed
            if step.isLate { change.startsAgain = true }
            if let node = step.node { change.results.append(taken(step, of: node)) }
            if step.deed == .cancel { cancels.append(step) }
        }
        try tellOfCancels(cancels)
        if case .nodes(let nodes) = choice {
            for node in nodes where !chosen.contains(where: { $0.node == node }) {
                // It was a part of what has just been taken back.
                if let now = try cancelled(node), !now.isCancelled, chosen.contains(where: { $0.batch == now.batch }) {
                    change.results.append(NodeResult(id: node, result: .already))
                    continue
                }
                change.results.append(
                    try finder.target(node) == nil
                        ? NodeResult(id: node, result: .refused, code: .noSuchObject, message: "there is no \(node)")
                        : finder.refused(
                            node,
                            "nothing that was done to \(node) can be taken back any more: 'martlet retry \(node)' starts a cancelled one anew"
                        ))
            }
        }
        return change
    }

    private func isHidden(_ batch: BatchID) throws -> Bool {
        try database.integer(
            "SELECT 1 FROM batches WHERE id = ? AND purged_at IS NOT NULL", .integer(batch.rawValue)) != nil
    }

    /// The node's batch, and whether anything of the node is cancelled.
    private func cancelled(_ node: NodeID) throws -> (batch: BatchID, isCancelled: Bool)? {
        switch try finder.target(node) {
        case .batch(let batch, let folder), .folder(let batch, let folder, _):
            try counters.write()
            let count = try database.integer("SELECT cancelled FROM folders WHERE id = ?", .integer(folder)) ?? 0
            return (batch, count > 0)
        case .task(let row): return (row.batch, row.state == .cancelled)
        case nil: return nil
        }
    }

    private func takeBack(_ step: UndoneStep, whole: Bool, _ change: inout NodeChange) throws {
        switch step.deed {
        case .cancel: try takeBackCancel(step, &change)
        case .pause: try takeBackPause(step, &change)
        case .resume: try takeBackResume(step, &change)
        case .move, .set, .runNow:
            try takeBackOrder(step, whole: whole, &change)
            try takeBackSettings(step, &change)
        case .purge: try takeBackPurge(of: step.batch)
        case .clear: try show(step.batch)
        case .limit:
            if let before = step.before.limits {
                let limits = try step.before.limitsSet.map { try storedLimits().putBack($0, to: before) } ?? before
                try store(limits)
                change.limits = limits
            }
            try putBackLimit(step.before)
        }
    }

    func putBackLimit(_ before: UndoBefore) throws {
        guard let rate = before.rate, let scope = before.scope.flatMap(LimitScope.init(stored:)) else { return }
        if let set = before.rateSet, try limit(of: scope) ?? 0 != set { return }
        try setLimit(rate.value, of: scope)
    }

    // MARK: Pauses

    private func taken(_ step: UndoneStep, of node: NodeID) -> NodeResult {
        var result = NodeResult(id: node, result: .done)
        guard step.deed == .pause, step.before.paused == true else { return result }
        result.pausedAgain = true
        result.pausedUntil = step.before.pauseEnd?.value.map { Timestamp(milliseconds: $0) }
        return result
    }

    private func takeBackPause(_ step: UndoneStep, _ change: inout NodeChange) throws {
        guard let node = step.node, let target = try finder.target(node) else { return }
        guard step.before.paused == true else { return try endPause(of: node, target) }
        // Only when it ends was another.
        try pauseAgain(node, target, step, &change)
    }

    private func takeBackResume(_ step: UndoneStep, _ change: inout NodeChange) throws {
        guard let node = step.node, let target = try finder.target(node) else { return }
        if step.before.paused != false { try pauseAgain(node, target, step, &change) }
        guard step.before.held == true, case .batch(let batch, let root) = target else { return }
        try hold(batch, root, &change)
    }

    private func pauseAgain(
        _ node: NodeID, _ target: NodeTarget, _ step: UndoneStep, _ change: inout NodeChange
    ) throws {
        if try pauseWithoutNote(node, target, &change).result == .refused { return }
        try setPauseEnd(step.before.pauseEnd?.value, of: target)
    }

    /// A batch that was held stands still again.
    func hold(_ batch: BatchID, _ root: Int64, _ change: inout NodeChange) throws {
        try database.run("UPDATE batches SET held = 1 WHERE id = ?", .integer(batch.rawValue))
        for row in try sets.claimed(in: Set(sets.subtree(of: root))) {
            try attempts.stop(row, as: .queued, "paused", &change)
        }
        queue.change.note(wholly: batch)
    }
}
