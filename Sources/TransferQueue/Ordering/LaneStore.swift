import SQLiteConnection
import TransferModel

/// Lanes of tasks: one for each host and priority of a batch.
struct LaneStore: QueueSubject {
    let queue: QueueConnection
    let counters: CounterStore
    let sets: TaskSets
    let undoLog: UndoLog

    /// - Parameter priority: by default its batch's, whatever that is.
    func lane(batch: BatchID, origin: String, priority: Int64 = LanePriority.ofBatch) throws -> Int64 {
        let find = "SELECT id FROM lanes WHERE batch = ? AND origin = ? AND priority = ?"
        let values: [SQLiteValue] = [.integer(batch.rawValue), .text(origin), .integer(priority)]
        if let known = try database.integer(find, values[0], values[1], values[2]) { return known }
        try database.run(
            "INSERT INTO lanes (batch, origin, priority, ready) VALUES (?, ?, ?, 0)", values[0], values[1], values[2])
        return try database.integer(find, values[0], values[1], values[2]) ?? 0
    }

    /// Gives a task a priority of its own.
    func setLane(_ priority: Int64, of row: TaskRow, _ page: ChangePage) throws {
        try undoLog.remember(.tasks([row.id]), page)
        try counters.write()
        let lane = try lane(like: row.lane, priority: priority)
        try database.run(
            "UPDATE tasks SET lane = ? WHERE id = ?", .integer(lane), .integer(row.id.rawValue))
        sets.noteMoves(in: row.batch)
    }

    /// Gives everything below a folder a priority of its own, what is still to be found, too.
    func setLane(_ priority: Int64, below top: Int64, in batch: BatchID, _ page: ChangePage) throws {
        try undoLog.remember(.folder(top), page)
        try counters.write()
        for folder in try sets.subtree(of: top) {
            let lanes = try database.rows(
                "SELECT DISTINCT lane FROM tasks WHERE folder = ? AND state < \(state: .completed)", .integer(folder)
            ) { $0.integer(0) }
            for lane in lanes {
                let target = try self.lane(like: lane, priority: priority)
                if target == lane { continue }
                try database.run(
                    "UPDATE tasks SET lane = ? WHERE folder = ? AND lane = ? AND state < \(state: .completed)",
                    .integer(target),
                    .integer(folder), .integer(lane))
            }
            // What is wanted now is so once; what is found later stands where it would have stood.
            if priority == LanePriority.now { continue }
            try database.run(
                "UPDATE folders SET priority = ? WHERE id = ?", SQLiteValue(folder == top ? priority : nil),
                .integer(folder))
        }
        queue.forgetPaths()
        sets.noteMoves(in: batch)
    }

    /// Returns true of a lane of what a person wants before all others.
    func isNow(_ lane: Int64) throws -> Bool {
        try database.integer("SELECT priority FROM lanes WHERE id = ?", .integer(lane)) == LanePriority.now
    }

    /// The lane for the same host in the same batch.
    private func lane(like lane: Int64, priority: Int64) throws -> Int64 {
        let found = try database.first("SELECT batch, origin FROM lanes WHERE id = ?", .integer(lane)) {
            (BatchID(rawValue: $0.integer(0)), $0.text(1))
        }
        guard let (batch, origin) = found else { return lane }
        return try self.lane(batch: batch, origin: origin, priority: priority)
    }
}

/// Values of a lane's priority column that are no priority of the model.
enum LanePriority {
    /// Whatever the batch has.
    static let ofBatch: Int64 = -1
    /// Before all others: a person wants it now.
    static let now: Int64 = 5
}
