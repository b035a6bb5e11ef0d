import SQLiteConnection
import TransferModel

/// Later findings about completed files: they are not at their servers, or their bytes there are right.
struct ArrivalStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let attempts: AttemptStore
    let finder: NodeFinder

    /// The task of that run, when nothing has happened to it since.
    func completed(_ sent: SentRun) throws -> TaskRow? {
        guard let row = try tasks.task(sent.task), row.state == .completed, !row.claimed, row.run == sent.run else {
            return nil
        }
        return row
    }

    /// The run that was completed has told its end: this is another one, which begins and ends with the failure.
    func fail(absent: [AbsentFile], in look: DueLook?, otherLies: ([UInt8]?) -> [UInt8]) throws -> [TaskID] {
        if let look {
            let due = try database.integer(
                "SELECT due FROM last_looks WHERE folder = ?", .integer(look.folder.rawValue))
            guard due == look.due else { return [] }
        }
        var failed: [TaskID] = []
        for file in absent {
            guard let old = try completed(file.sent) else { continue }
            var row = old
            let oldDetails = try tasks.details(row)
            var details = oldDetails
            row.run += 1
            try database.run("DELETE FROM remote_versions WHERE task = ?", .integer(row.id.rawValue))
            // Nothing of ours is there, or nothing that is the file: the next run begins anew, and each of its bytes is progress.
            if row.accepted > 0 {
                try attempts.restart(
                    &row, &details, reason: file.error.message, repeated: row.accepted, identity: nil, keepsPoint: true,
                    at: clock())
            }
            details.furthest = 0
            details.forgetReach(of: &row)
            row.flags.verification = .none
            row.flags.subtract([.skipped, .spared])
            // Parts of earlier versions that its server has not removed stay known.
            if file.isOther { details.resumePoint = otherLies(details.resumePoint) }
            try attempts.fail(&row, &details, file.error, at: clock())
            try tasks.save(&row, was: old, details, was: oldDetails)
            failed.append(row.id)
        }
        return failed
    }
}
