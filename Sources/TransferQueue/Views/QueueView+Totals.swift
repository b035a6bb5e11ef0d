import SQLiteConnection
import TransferModel

/// Sums over the whole queue.
extension QueueView {
    /// SQL condition on a batch: neither forgotten nor put away.
    static let isListed = "purged_at IS NULL AND cleared_at IS NULL"

    /// - Parameters:
    ///   - told: batches of which somebody else tells that nobody knows the name of their server.
    ///   - waits: queued tasks of which somebody else tells that they wait for a person.
    func totals(besidesUnknownNamesOf told: Set<BatchID> = [], with waits: [WaitCount] = []) throws -> QueueTotals {
        var totals = QueueTotals()
        let unfinished =
            try database.integer(
                "SELECT count(*) FROM batches INDEXED BY batches_unfinished WHERE finished_at IS NULL") ?? 0
        totals.unfinished = unfinished
        try database.forEach(
            "SELECT \(BatchRow.columns) FROM \(BatchRow.tables)"
                + (unfinished > 0 ? " WHERE b.finished_at IS NULL" : " WHERE b.cleared_at IS NULL")
        ) { row in
            let batch = BatchRow(row)
            totals.counts += shown(batch.sums.files, in: batch)
            totals.bytes += batch.sums.bytes
        }
        totals.batches = try database.integer("SELECT count(*) FROM batches WHERE \(Self.isListed)") ?? 0
        try database.forEach(
            """
            SELECT \(ByteSum.sql("files")), count(DISTINCT value * 1000 + detail) FILTER (WHERE value <> ?1) FROM reasons
            WHERE kind = \(reasons: .failed) AND files > 0 AND batch NOT IN (SELECT id FROM batches WHERE NOT (\(Self.isListed)))
            """, .integer(TransferErrorCode.cannotFindHost.stored)
        ) {
            totals.problems = $0.count(0)
            totals.problemCauses = $0.integer(1)
        }
        totals.problemCauses += try unknownNamesThatFailed()
        let waiting = try problemsThatWait(besidesUnknownNamesOf: told, with: waits)
        totals.problems += waiting.person + waiting.space
        totals.problemCauses += waiting.reasons
        (totals.needsPerson, totals.needsSpace) = (waiting.person, waiting.space)
        return totals
    }

    /// Tasks that wait for what a person has to do, or else for room on a disk, and how many different reasons they have.
    private func problemsThatWait(
        besidesUnknownNamesOf told: Set<BatchID>, with waits: [WaitCount]
    ) throws -> (person: Int64, space: Int64, reasons: Int64) {
        var (person, space) = (Int64(0), Int64(0))
        var found: WaitReasons = []
        var causes: Set<String> = []
        // Each server's key is a problem of its own, and so is what lets nobody in beside a login.
        func note(_ reason: WaitReason, _ finding: Finding) {
            let key = reason.needsPerson ? finding.what : ""
            if key.isEmpty { found.insert(WaitReasons(reason)) } else { causes.insert(key) }
        }
        for wait in waits {
            ByteSum.add(wait.count, to: &person)
            note(wait.reason, wait.known)
        }
        try database.forEach(
            """
            SELECT value, files, detail, batch, message FROM reasons WHERE kind = \(reasons: .waiting) AND files > 0
            AND batch NOT IN (SELECT id FROM batches WHERE NOT (\(Self.isListed)))
            """
        ) { row in
            let cause = row.integer(2) == 0 ? nil : TransferErrorCode(stored: row.integer(2))
            let reasons = Self.problems(in: row.integer(0), cause)
            if reasons.isEmpty { return }
            let isOwn = reasons.contains(where: \.isProblem)
            if !isOwn, told.contains(BatchID(rawValue: row.integer(3))) { return }
            let isSpace = reasons.allSatisfy { $0.isProblem && !$0.needsPerson }
            if isSpace { ByteSum.add(row.count(1), to: &space) } else { ByteSum.add(row.count(1), to: &person) }
            for reason in reasons where reason.isProblem {
                note(reason, cause == nil ? ReasonText(stored: row.text(4)).finding : Finding(""))
            }
            // Each name that nobody knows is a problem of its own.
            if cause != nil, !isOwn { causes.insert(ReasonText(stored: row.text(4)).finding.happening) }
        }
        return (person, space, Int64(found.reasons.count + causes.count))
    }

    /// Number of servers that have been given up because nobody knows their names.
    private func unknownNamesThatFailed() throws -> Int64 {
        var names: Set<String> = []
        try database.forEach(
            """
            SELECT message FROM reasons WHERE kind = \(reasons: .failed) AND files > 0 AND value = ?1
            AND batch NOT IN (SELECT id FROM batches WHERE NOT (\(Self.isListed)))
            """, .integer(TransferErrorCode.cannotFindHost.stored)
        ) { names.insert(ReasonText(stored: $0.text(0)).finding.happening) }
        return Int64(names.count)
    }

    func bytesLeft() throws -> [BatchID: Int64] {
        var left: [BatchID: Int64] = [:]
        try database.forEach(
            "SELECT b.id, f.bytes_left - f.bytes_stopped FROM batches b INDEXED BY batches_unfinished JOIN folders f ON f.id = b.root WHERE b.finished_at IS NULL"
        ) { left[BatchID(rawValue: $0.integer(0))] = ByteSum.within($0.integer(1)) }
        return left
    }

    /// The same below one row; `nil`: it is no batch and no folder, or gone.
    func bytesLeft(below row: RowID) throws -> Int64? {
        let select = "SELECT f.bytes_left - f.bytes_stopped FROM folders f"
        switch row {
        case .batch(let id):
            return try database.integer(
                select + " JOIN batches b ON b.root = f.id WHERE b.id = ?", .integer(id.rawValue)
            ).map(ByteSum.within)
        case .folder(_, let id):
            return try database.integer(select + " WHERE f.id = ?", .integer(id.rawValue)).map(ByteSum.within)
        case .task, .group: return nil
        }
    }

    /// The same of all batches that are neither paused nor held, and whose time has come.
    func bytesLeftInAll() throws -> Int64 {
        try database.integer(
            """
            SELECT \(ByteSum.sql("f.bytes_left - f.bytes_stopped")) FROM batches b INDEXED BY batches_unfinished JOIN folders f ON f.id = b.root
            WHERE b.finished_at IS NULL AND b.paused = 0 AND b.held = 0
            AND (ifnull(b.not_before, 0) <= ? OR f.running + f.finishing > 0)
            """, .integer(now.milliseconds)) ?? 0
    }

    func statistics() throws -> QueueStatistics {
        var statistics = QueueStatistics()
        statistics.sessions =
            try database.integer("SELECT count(DISTINCT session) FROM batches WHERE purged_at IS NULL") ?? 0
        try database.forEach("SELECT \(BatchRow.columns) FROM \(BatchRow.tables)") { row in
            let batch = BatchRow(row)
            statistics.batches += 1
            statistics.counts += shown(batch.sums.files, in: batch)
        }
        statistics.awaitsPauseEnd =
            try database.integer(
                "SELECT 1 FROM pause_ends p JOIN batches b ON b.id = p.batch WHERE b.finished_at IS NULL LIMIT 1")
            != nil
        statistics.isLooking =
            try database.integer(
                """
                SELECT 1 FROM batches b INDEXED BY batches_unfinished
                WHERE b.finished_at IS NULL AND b.paused = 0 AND b.held = 0 AND (b.scanning = 1 OR EXISTS (
                    SELECT 1 FROM last_looks k INDEXED BY last_looks_due WHERE k.batch = b.id AND k.due > 0)) LIMIT 1
                """) != nil
        statistics.databaseBytes =
            try database.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
        return statistics
    }
}
