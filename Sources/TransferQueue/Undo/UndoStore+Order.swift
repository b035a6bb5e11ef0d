import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Taking back what changed an order or settings.
extension UndoStore {
    func takeBackOrder(_ step: UndoneStep, whole: Bool, _ change: inout NodeChange) throws {
        if let positions = step.before.positions {
            for pair in positions where pair.count == 2 {
                try database.run(
                    "UPDATE batches SET position = ? WHERE id = ?", .integer(pair[1]), .integer(pair[0]))
            }
            queue.change.mayRun = true
        }
        guard let node = step.node, let target = try finder.target(node) else { return }
        let condition: String
        var folder: Int64 = 0
        let claimed: [TaskID]
        switch target {
        case .batch: return
        case .folder(_, let id, _):
            folder = id
            condition = "folder IN (\(TaskSets.below("?2")))"
            if let ranks = step.before.folderRanks { try give(.rank, ranks, below: id) }
            if let priorities = step.before.folderPriorities { try give(.priority, priorities, below: id) }
            queue.forgetPaths()
            claimed = try sets.claimed(below: id)
        case .task(let row):
            folder = row.id.rawValue
            claimed = [row.id]
            condition = "tasks.id = ?2"
        }
        try counters.write()
        try database.run(
            """
            UPDATE tasks SET lane = u.lane, rank = u.rank FROM undo_tasks u
            WHERE u.operation = ?1 AND u.task = tasks.id AND (\(whole ? "?2 = ?2" : condition))
            """, .integer(step.operation), .integer(folder))
        try sets.settle(step.batch)
        try attempts.stopEarly(claimed, of: step.batch, &change)
        change.reordered.insert(step.batch)
    }

    /// Folders have what they had; pairs of folder and value.
    private func give(_ what: UndoLog.Given, _ pairs: [[Int64]], below top: Int64) throws {
        let column = what.rawValue
        try database.run(
            "UPDATE folders SET \(column) = NULL WHERE \(column) IS NOT NULL AND id IN (\(TaskSets.below("?1")))",
            .integer(top))
        for pair in pairs where pair.count == 2 {
            try database.run("UPDATE folders SET \(column) = ? WHERE id = ?", .integer(pair[1]), .integer(pair[0]))
        }
    }

    func takeBackSettings(_ step: UndoneStep, _ change: inout NodeChange) throws {
        let before = try undoLog.handOver(step)
        let id = SQLiteValue.integer(step.batch.rawValue)
        try limits.putBackLimit(before)
        if let priority = before.priority {
            try database.run("UPDATE batches SET priority = ? WHERE id = ?", .integer(priority), id)
        }
        if let urgent = before.urgent {
            try database.run("UPDATE batches SET urgent = ? WHERE id = ?", .integer(urgent ? 1 : 0), id)
        }
        if let name = before.name { try database.run("UPDATE batches SET name = ? WHERE id = ?", .text(name), id) }
        if let seconds = before.giveUp { try settings.setOptions(of: step.batch) { $0.giveUpAfterSeconds = seconds } }
        if let file = before.caFile { try settings.setOptions(of: step.batch) { $0.caFile = file.value } }
        if let pin = before.pin { try settings.setOptions(of: step.batch) { $0.pin = pin.value } }
        if let policy = before.ifExists { try settings.setOptions(of: step.batch) { $0.ifExists = policy } }
        if let time = before.notBefore {
            if case .task(let task) = step.node {
                if let value = time.value {
                    try settings.setNotBefore(Timestamp(milliseconds: value), of: task, &change)
                } else {
                    let now = clock().milliseconds
                    try settings.endNotBefore(of: task, retryAt: before.retryAt.map { $0.value } ?? now)
                }
            } else if case .batch(let batch, let root) = try finder.target(.batch(step.batch)) {
                try settings.setNotBefore(time.value, of: batch, root: root, &change)
            }
        }
        if before.held == true, case .batch(let batch, let root) = try finder.target(.batch(step.batch)) {
            try pauses.hold(batch, root, &change)
        }
        queue.change.note(wholly: step.batch)
        queue.change.mayRun = true
    }
}
