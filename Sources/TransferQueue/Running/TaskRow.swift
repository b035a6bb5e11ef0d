import SQLiteConnection
import TransferModel

/// The changeable part of a task's row.
struct TaskRow: Hashable {
    let id: TaskID
    let folder: Int64
    let lane: Int64
    let batch: BatchID
    var state: TransferState
    /// The engine has it in hand.
    var claimed: Bool
    var flags: TaskFlags
    /// Number of times it was started anew after being over.
    var run: Int64
    var size: Int64?
    var accepted: Int64
    var begunAt: Int64?
    var finishedAt: Int64?
    /// Number of times it was claimed.
    let generation: Int64

    static let columns =
        "t.id, t.folder, t.lane, l.batch, t.state, t.claimed, t.flags, t.run, t.size, t.accepted, t.begun_at, t.finished_at, t.claims"

    static let columnCount: Int32 = 13

    init(_ row: SQLiteStatement) {
        id = TaskID(rawValue: row.integer(0))
        folder = row.integer(1)
        lane = row.integer(2)
        batch = BatchID(rawValue: row.integer(3))
        state = TransferState(stored: row.integer(4)) ?? .failed
        claimed = row.integer(5) != 0
        flags = TaskFlags(rawValue: row.integer(6))
        run = row.count(7)
        size = row.optionalInteger(8).flatMap(FileSize.told)
        accepted = FileSize.told(row.integer(9)) ?? 0
        begunAt = row.optionalInteger(10)
        finishedAt = row.optionalInteger(11)
        generation = row.count(12)
    }

    /// The claim that the engine may hold of it.
    var claim: TaskClaim { TaskClaim(task: id, generation: generation) }

    /// Its share in the counters of its folder.
    var tally: Tally {
        // A size that no file can have counts as the largest.
        let size = min(size ?? 0, FileSize.largest)
        return Tally(
            files: 1, total: size, accepted: min(accepted, size),
            verified: state == .completed && flags.verification != .none ? size : 0)
    }

    /// The same sums over rows of `tasks`, in SQL; after a `GROUP BY`.
    static let tallySQL: String = {
        let size = "max(0, min(ifnull(size, 0), \(FileSize.largest)))"
        let isVerified = "state = \(state: .completed) AND flags & \(flags: [.verifiedBySize, .verifiedByDigest]) <> 0"
        let sums = [size, "max(0, min(accepted, \(size)))", "CASE WHEN \(isVerified) THEN \(size) ELSE 0 END"]
        return "count(*), " + sums.map { ByteSum.sql($0) }.joined(separator: ", ")
    }()

    var isReady: Bool { state == .queued && !claimed }

    /// SQL for the number of claimable tasks of a lane: those in the order in which they were found, and those that were moved.
    static func readySQL(_ lane: String) -> String {
        """
        ((SELECT count(*) FROM tasks INDEXED BY tasks_ready
        WHERE lane = \(lane) AND state = \(state: .queued) AND claimed = 0 AND rank IS NULL)
        + (SELECT count(*) FROM tasks INDEXED BY tasks_ranked
        WHERE lane = \(lane) AND state = \(state: .queued) AND claimed = 0 AND rank IS NOT NULL))
        """
    }
}

/// A task's row in `task_details`. Written only when a task has something to keep there.
struct TaskDetails: Hashable {
    var resumePoint: [UInt8]?
    var wait: WaitReasons = []
    var waitSince: Int64?
    var retryAt: Int64?
    var cause: TransferErrorCode?
    var error: String?
    var attempts: Int64 = 0
    var failures: Int64 = 0
    var restarts: Int64 = 0
    var repeated: Int64 = 0
    var resumedFrom: [Int64] = []
    /// Waiting without progress is counted from here; `nil`: from the first try.
    var patienceSince: Int64?
    /// The first try; `nil`: the row's `begunAt` says it, or there was none.
    var firstTriedAt: Int64?
    var said: Int64?
    var digest: String?
    var finalPath: [UInt8]?
    var response: String?
    /// Sent to a server that cannot resume, by the attempt that runs.
    var atRisk: Int64 = 0
    /// Sent to a server that can resume and has not said how much of it arrived.
    var unconfirmed: Int64 = 0
    /// The number of what belongs to its resume points in the secrets store. Counted up, never down.
    var handle: Int64 = 0

    static let columns = [
        "resume_point", "wait", "wait_since", "retry_at", "cause", "error", "attempts", "failures", "restarts",
        "repeated",
        "resumed_from", "patience_since", "said", "digest", "final_path", "response", "at_risk",
        "unconfirmed", "handle", "first_tried_at",
    ]

    init() {}

    /// Reads the columns from `first` on; a row of NULLs (no details) gives the default.
    init(_ row: SQLiteStatement, from first: Int32 = 0) {
        resumePoint = row.optionalBytes(first)
        wait = WaitReasons(rawValue: Int32(truncatingIfNeeded: row.integer(first + 1)))
        waitSince = row.optionalInteger(first + 2)
        retryAt = row.optionalInteger(first + 3)
        cause = row.optionalInteger(first + 4).flatMap { TransferErrorCode(stored: $0) }
        error = row.optionalText(first + 5)
        attempts = row.count(first + 6)
        failures = row.count(first + 7)
        restarts = row.count(first + 8)
        repeated = row.count(first + 9)
        resumedFrom = StoredJSON.value([Int64].self, row.optionalText(first + 10)) ?? []
        patienceSince = row.optionalInteger(first + 11)
        said = row.optionalInteger(first + 12)
        digest = row.optionalText(first + 13)
        finalPath = row.optionalBytes(first + 14)
        response = row.optionalText(first + 15)
        atRisk = row.count(first + 16)
        unconfirmed = row.count(first + 17)
        handle = row.count(first + 18)
        firstTriedAt = row.optionalInteger(first + 19)
    }

    func values() throws -> [SQLiteValue] {
        [
            SQLiteValue(resumePoint), .integer(Int64(wait.rawValue)), SQLiteValue(waitSince), SQLiteValue(retryAt),
            SQLiteValue(cause?.stored), SQLiteValue(error), .integer(attempts), .integer(failures), .integer(restarts),
            .integer(repeated), SQLiteValue(resumedFrom.isEmpty ? nil : try StoredJSON.text(resumedFrom)),
            SQLiteValue(patienceSince), SQLiteValue(said), SQLiteValue(digest), SQLiteValue(finalPath),
            SQLiteValue(response), .integer(atRisk), .integer(unconfirmed),
            .integer(handle), SQLiteValue(firstTriedAt),
        ]
    }

    /// The task waits for nothing any more.
    mutating func clearWait() {
        wait = []
        waitSince = nil
        retryAt = nil
    }

    /// When the task was first tried.
    func firstTry(of row: TaskRow) -> Timestamp? {
        (firstTriedAt ?? row.begunAt).map { Timestamp(milliseconds: $0) }
    }

    /// Nothing of any try so far is at the server, or counts there. When the task was first tried stays known.
    mutating func forgetReach(of row: inout TaskRow) {
        firstTriedAt = firstTriedAt ?? row.begunAt
        row.begunAt = nil
    }

    /// A fresh run begins: what the last one ended with is forgotten, what must be known to continue is kept.
    mutating func beginRun(at time: Timestamp) {
        patienceSince = time.milliseconds
        clearWait()
        cause = nil
        error = nil
        failures = 0
        said = nil
    }
}

extension ByteSum {
    /// The sum of an expression in SQL, within the same bounds: SQLite's own gives an error where it overflows.
    static func sql(_ bytes: String) -> String {
        "max(-\(largest), min(\(largest), ifnull(sum((\(bytes)) >> 32) * 4294967296 + sum((\(bytes)) & 4294967295), 0)))"
    }
}
