import SQLiteConnection
import TransferModel

/// Takes changes back within the grace time, whoever made them.
struct UndoStore: QueueSubject {
    let queue: QueueConnection
    let counters: CounterStore
    let sets: TaskSets
    let attempts: AttemptStore
    let finder: NodeFinder
    let undoLog: UndoLog
    let pauses: PauseStore
    let limits: LimitStore
    let settings: SettingsStore
    let looks: LastLookStore
    let walks: WalkStore
    let purging: PurgingStore

    /// An undo that goes on.
    struct Undoing {
        let standing = StandingSteps()
        let parts = OperationParts()
        var nodeChange = NodeChange()
        /// The oldest step of a batch that stays moved, by change.
        var staysMoved: [Int64: UndoneStep] = [:]
    }

    func undo(_ choice: UndoneChange, now: Timestamp) throws -> NodeChange {
        let known = try undoLog.steps(now: now)
        let recent = known.filter { !$0.isOver }
        let chosen: [UndoneStep] =
            switch choice {
            case .last:
                // Long ago, it has to be named: nobody means it by "the last".
                recent.first { !$0.isLate }.map { last in recent.filter { $0.operation == last.operation } } ?? []
            case .operation(let number): recent.filter { $0.operation == number }
            case .nodes(let nodes): Self.last(of: nodes, recent)
            }
        // Many steps are one change: none of them is compared with all others.
        let rows = Set(chosen.map(\.row))
        var undoing = Undoing()
        try addParts(of: chosen, known, to: undoing.parts)
        for step in recent where step.movesBatch {
            if try !rows.contains(step.row) || isHidden(step.batch) { undoing.staysMoved[step.operation] = step }
        }
        var cancels: [UndoneStep] = []
        // The newest first: what an older one has changed, too, the newer one puts back before it.
        let oldest = chosen.map(\.row).min() ?? .max
        for var step in known where step.row >= oldest {
            guard rows.contains(step.row) else {
                try note(step, undoing)
                continue
            }
            if step.deed != .purge, try isHidden(step.batch) {
                let message: Advice =
                    "\(step.batch) was cleared from the list since: take that back first, with \(quoted: AdvisedCommand("undo"))"
                undoing.nodeChange.results.append(finder.refused(step.node ?? .batch(step.batch), message))
                try note(step, undoing)
                continue
            }
            // A task that was purged, or a folder that went with its batch: nothing of it can come back.
            if ![.purge, .clear, .limit].contains(step.deed), let node = step.node, try finder.target(node) == nil {
                undoing.nodeChange.results.append(
                    NodeResult(id: node, result: .refused, code: .noSuchObject, message: "there is no \(node) any more")
                )
                undoing.parts.remove(step)
                try database.run("DELETE FROM undo WHERE rowid = ?", .integer(step.row))
                continue
            }
            undoing.parts.remove(step)
            step.before = try undoLog.before(step)
            step.before = undoing.standing.inherit(step, folder: try folder(of: step))
            try takeBack(step, &undoing)
            try database.run("DELETE FROM undo WHERE rowid = ?", .integer(step.row))
            undoing.nodeChange.undone = step.deed
            undoing.nodeChange.duties.formUnion(step.deed.dutiesWhenUndone)
            if step.isLate { undoing.nodeChange.startsAgain = true }
            if let node = step.node { undoing.nodeChange.results.append(taken(step, of: node)) }
            if step.deed == .cancel { cancels.append(step) }
        }
        try undoing.standing.save(in: undoLog)
        try finishCancels(cancels)
        var nodeChange = undoing.nodeChange
        if case .nodes(let nodes) = choice {
            // As they were named.
            let places = Dictionary(zip(nodes, nodes.indices)) { first, _ in first }
            nodeChange.results.sort { places[$0.id] ?? 0 < places[$1.id] ?? 0 }
            let (found, batches) = (Set(chosen.compactMap(\.node)), Set(chosen.map(\.batch)))
            for node in nodes where !found.contains(node) {
                // It was a part of what has just been taken back.
                if let now = try cancelled(node), !now.isCancelled, batches.contains(now.batch) {
                    nodeChange.results.append(NodeResult(id: node, result: .already))
                    continue
                }
                nodeChange.results.append(
                    try finder.target(node) == nil
                        ? NodeResult(id: node, result: .refused, code: .noSuchObject, message: "there is no \(node)")
                        : finder.refused(
                            node,
                            "nothing that was done to \(node) can be taken back any more: \(quoted: .retry(node)) starts a cancelled one anew"
                        ))
            }
        }
        return nodeChange
    }

    /// The last step of each node that has one.
    private static func last(of nodes: [NodeID], _ recent: [UndoneStep]) -> [UndoneStep] {
        var steps: [NodeID: UndoneStep] = [:]
        for step in recent { if let node = step.node, steps[node] == nil { steps[node] = step } }
        return nodes.compactMap { steps[$0] }
    }

    /// Notes the steps of the changes that are taken back, in part or as a whole.
    private func addParts(of chosen: [UndoneStep], _ known: [UndoneStep], to parts: OperationParts) throws {
        let pages = Set(chosen.filter(\.deed.changesOrder).map(\.page.number))
        let steps = Dictionary(grouping: known.filter { pages.contains($0.page.number) }, by: \.page.number)
        for step in steps.values.filter({ $0.count > 1 }).joined() {
            parts.add(step, try step.node.flatMap { try finder.target($0) })
        }
    }

    /// Notes a step that stands. Those that change nothing which older ones have changed, too, cost nothing.
    private func note(_ step: UndoneStep, _ undoing: Undoing) throws {
        let subjects = step.deed.subjects
        guard subjects.contains(.settings) || subjects.contains(.order) else {
            undoing.standing.note(step, folder: nil)
            return
        }
        var step = step
        step.before = try undoLog.before(step)
        undoing.standing.note(step, folder: try folder(of: step))
    }

    /// The folder that a step's node is.
    private func folder(of step: UndoneStep) throws -> Int64? {
        guard let node = step.node, case .folder = node else { return nil }
        return try finder.target(node)?.folder
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

    private func takeBack(_ step: UndoneStep, _ undoing: inout Undoing) throws {
        switch step.deed {
        case .cancel: try takeBackCancel(step, &undoing)
        case .pause, .resume: break
        case .runNow:
            if let target = try step.node.flatMap({ try finder.target($0) }) {
                let times = try takeTimes(undoing.parts.records(of: step, target, .time, in: database))
                try putBack(times, &undoing)
            }
            try takeBackOrder(step, &undoing)
            try takeBackSettings(step, &undoing)
        case .move, .set:
            try takeBackOrder(step, &undoing)
            try takeBackSettings(step, &undoing)
        case .purge: try purging.takeBackPurge(of: step.batch)
        case .clear: try purging.show(step.batch)
        case .limit:
            if let before = step.before.limits {
                let restored =
                    try step.before.limitsSet.map { try limits.storedLimits().putBack($0, to: before) } ?? before
                try limits.store(restored)
            }
            try limits.putBackLimit(step.before)
        }
        try putBackPause(step, &undoing.nodeChange)
    }

    // MARK: Pauses

    private func taken(_ step: UndoneStep, of node: NodeID) -> NodeResult {
        var result = NodeResult(id: node, result: .done)
        guard step.deed == .pause, step.before.isPaused(now: clock()) else { return result }
        result.pausedAgain = true
        result.pausedUntil = step.before.pauseEnd?.value.map { Timestamp(milliseconds: $0) }
        return result
    }

    /// A node is paused, and its batch held, as it was before a step of whatever kind.
    private func putBackPause(_ step: UndoneStep, _ nodeChange: inout NodeChange) throws {
        let before = step.before
        guard before.paused != nil || before.held == true, let node = step.node, let target = try finder.target(node)
        else { return }
        if before.isPaused(now: clock()) {
            if try pauses.pauseWithoutNote(node, target, &nodeChange).result != .refused {
                try pauses.setPauseEnd(before.pauseEnd?.value, of: target)
            }
        } else if before.paused != nil {
            try pauses.endPause(of: node, target)
        }
        guard before.held == true, case .batch(let batch, let root) = target else { return }
        try pauses.hold(batch, root, &nodeChange)
    }
}
