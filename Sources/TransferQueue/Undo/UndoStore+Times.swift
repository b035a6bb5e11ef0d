import SQLiteConnection
import TransferModel

/// Taking back what changed the times that tasks have of their own: a setting, a run-now or a cancel. Of these only the last one counts: what an
/// older one would put back goes to the next one that stands, and that brings it.
extension UndoStore {
    /// The time that a task had before a change.
    struct OwnTime {
        let task: TaskID
        /// In milliseconds since 1970; `nil`: none.
        let time: Int64?
        /// When what else it waited for was to be over; `nil`: it waited for nothing else.
        var retryAt: UndoBefore.Was<Int64>?
    }

    /// The times that a run-now or a cancel has taken from tasks. They are no part of the change any more.
    func takeTimes(_ records: UndoRecords?) throws -> [OwnTime] {
        guard let records else { return [] }
        let own = "not_before IS NOT NULL AND \(records.condition)"
        let times = try database.rows("SELECT task, not_before FROM undo_tasks WHERE \(own)", all: records.values) {
            OwnTime(task: TaskID(rawValue: $0.integer(0)), time: $0.integer(1))
        }
        if times.isEmpty { return [] }
        try database.run("UPDATE undo_tasks SET not_before = NULL WHERE \(own)", all: records.values)
        return times
    }

    /// Tasks have their own times again, unless a later change of these stands.
    func putBack(_ times: [OwnTime], _ undoing: inout Undoing) throws {
        for own in times {
            guard let row = try finder.tasks.task(own.task) else { continue }
            if let later = try laterTime(of: row, undoing) {
                if later.deed == .set {
                    undoing.standing.give(own, to: later)
                } else {
                    try undoLog.note(time: own.time, of: own.task, takenBy: later.page)
                }
            } else if let time = own.time {
                try settings.setNotBefore(Timestamp(milliseconds: time), of: own.task, &undoing.nodeChange)
            } else {
                try settings.endNotBefore(
                    of: own.task, retryAt: own.retryAt.map { $0.value } ?? clock().milliseconds)
            }
        }
    }

    /// The oldest change of the time of a task that stands and is later than the one which is taken back.
    private func laterTime(of row: TaskRow, _ undoing: Undoing) throws -> StandingSteps.Heir? {
        let standing = undoing.standing
        let folders = standing.hasRunNowFolders(row.batch) ? try undoing.parts.above(row.folder, in: database) : []
        let later = standing.laterTime(of: row.id, in: row.batch, below: folders)
        // A task that was retried since is not the cancel's any more.
        guard row.state == .cancelled else { return later }
        let cancel = try standing.laterCancel(of: row.id, in: row.batch, database)
        return [later, cancel].compactMap { $0 }.min { $0.row < $1.row }
    }
}
