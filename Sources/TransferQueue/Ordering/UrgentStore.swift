import SQLiteConnection
import TransferModel

/// Lets nodes run before all others.
struct UrgentStore: QueueSubject {
    let queue: QueueConnection
    let sets: TaskSets
    let finder: NodeFinder
    let undoLog: UndoLog
    let lanes: LaneStore
    let waits: WaitStore

    /// Once, in spite of times and waits; what only a person can mend still waits for them.
    func runNow(_ nodes: [NodeID], joining: Int64? = nil) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        return try finder.forEach(nodes) { node, target, nodeChange in
            switch target {
            case .batch(let batch, let root): try runNow(node, batch, root, page)
            case .folder(let batch, let folder, _): try runNow(node, batch, folder, page, &nodeChange)
            case .task(let row): try runNow(node, row, page, &nodeChange)
            }
        }.asOperation(page.operation)
    }

    private static let allButPersons: WaitReasons = WaitReason.allCases.reduce(into: []) { reasons, reason in
        if !reason.needsPerson { reasons.insert(WaitReasons(reason)) }
    }

    private func runNow(_ node: NodeID, _ batch: BatchID, _ root: Int64, _ page: ChangePage) throws -> NodeResult {
        if try finder.isOver(folder: root, in: batch) {
            return finder.refused(node, "\(node) is over: nothing of it can run")
        }
        let found = try database.first(
            "SELECT held, paused, urgent, not_before FROM batches WHERE id = ?", .integer(batch.rawValue)
        ) { (held: $0.integer(0) != 0, paused: $0.integer(1) != 0, urgent: $0.integer(2) != 0, $0.optionalInteger(3)) }
        guard let found else { return NodeResult(id: node, result: .already) }
        if found.paused { return finder.refused(node, "\(node) is paused: \(quoted: .resume(node))") }
        // It runs before all others, and nothing of it waits for what this takes away.
        let isHeldBack = try found.held || found.3 != nil || waits.isWaiting(for: Self.allButPersons, batch: batch)
        if found.urgent, !isHeldBack { return NodeResult(id: node, result: .already) }
        var before = UndoBefore()
        before.held = found.held
        before.paused = false
        before.urgent = found.urgent
        before.notBefore = UndoBefore.Was(found.3)
        try undoLog.rememberTimes(.folder(root), page)
        try database.run(
            "UPDATE batches SET urgent = 1, held = 0, not_before = NULL WHERE id = ?", .integer(batch.rawValue))
        try waits.clearWait(Self.allButPersons, batch: batch, origin: nil, tellsAgain: true)
        try undoLog.note(.runNow, node, batch: batch, before, page: page)
        if found.held { try queue.appendEvent(.resumed, batch: batch) }
        queue.noteSettings(batch)
        return NodeResult(id: node, result: .done)
    }

    private func runNow(
        _ node: NodeID, _ batch: BatchID, _ folder: Int64, _ page: ChangePage, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if try finder.isOver(folder: folder, in: batch) {
            return finder.refused(node, "\(node) is over: nothing of it can run")
        }
        if let refusal = try pauseAbove(node, folder, batch) { return refusal }
        try lanes.setLane(LanePriority.now, below: folder, in: batch, page)
        try undoLog.rememberTimes(.folder(folder), page)
        let waiting = try database.rows(
            """
            SELECT d.task FROM tasks t CROSS JOIN task_details d ON d.task = t.id
            WHERE t.folder IN (\(TaskSets.below("?"))) AND t.state IN (\(states: [.waiting, .paused])) AND d.wait <> 0
            """, .integer(folder)
        ) { TaskID(rawValue: $0.integer(0)) }
        for task in waiting { try waits.clearWait(Self.allButPersons, of: task, tellsAgain: true) }
        try undoLog.note(.runNow, node, batch: batch, Self.notPaused, page: page)
        nodeChange.reordered.insert(batch)
        queue.noteSettings(batch)
        return NodeResult(id: node, result: .done)
    }

    private func runNow(
        _ node: NodeID, _ row: TaskRow, _ page: ChangePage, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if row.state == .completed { return finder.refused(node, "\(node) is over: nothing of it can run") }
        if row.state.isTerminal {
            return finder.refused(node, "\(node) is over: \(quoted: .retry(node)) starts it anew")
        }
        if row.state.isActive { return NodeResult(id: node, result: .already) }
        if row.flags.contains(.paused) { return finder.refused(node, "\(node) is paused: \(quoted: .resume(node))") }
        if let refusal = try pauseAbove(node, row.folder, row.batch) { return refusal }
        try lanes.setLane(LanePriority.now, of: row, page)
        try undoLog.rememberTimes(.tasks([row.id]), page)
        try waits.clearWait(Self.allButPersons, of: row.id, tellsAgain: true)
        try undoLog.note(.runNow, node, batch: row.batch, Self.notPaused, page: page)
        nodeChange.reordered.insert(row.batch)
        queue.noteSettings(row.batch)
        return NodeResult(id: node, result: .done)
    }

    /// The state before a run-now of a folder or a file. Nothing that is paused can run: an older resume, when it is taken back, pauses nothing
    /// that is wanted now.
    private static var notPaused: UndoBefore {
        var before = UndoBefore()
        before.paused = false
        return before
    }

    /// Refuses to run a node while something above it is paused; `nil`: nothing is.
    private func pauseAbove(_ node: NodeID, _ folder: Int64, _ batch: BatchID) throws -> NodeResult? {
        let isPaused = try database.integer("SELECT paused FROM batches WHERE id = ?", .integer(batch.rawValue))
        if isPaused == 1 {
            return finder.refused(node, "its batch \(batch) is paused: \(quoted: .resume(.batch(batch)))")
        }
        guard let path = try paths.place(of: folder)?.pausedBy.first else { return nil }
        let above = NodeID.folder(batch, path: path)
        return finder.refused(node, "\(above) is paused: \(quoted: .resume(above))")
    }
}
