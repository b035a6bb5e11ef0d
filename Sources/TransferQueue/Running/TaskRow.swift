import SQLiteConnection
import TransferModel

/// The changeable part of a task's row.
struct TaskRow: StoredRow, Hashable {
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

    static let columns = list()

    init(_ columns: inout RowColumns) {
        id = TaskID(rawValue: columns.integer("t.id"))
        folder = columns.integer("t.folder")
        lane = columns.integer("t.lane")
        batch = BatchID(rawValue: columns.integer("l.batch"))
        state = TransferState(stored: columns.integer("t.state")) ?? .failed
        claimed = columns.flag("t.claimed")
        flags = TaskFlags(rawValue: columns.integer("t.flags"))
        run = columns.count("t.run")
        size = columns.optionalInteger("t.size").flatMap(FileSize.told)
        accepted = FileSize.told(columns.integer("t.accepted")) ?? 0
        begunAt = columns.optionalInteger("t.begun_at")
        finishedAt = columns.optionalInteger("t.finished_at")
        generation = columns.count("t.claims")
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
struct TaskDetails: WrittenRow, Hashable {
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
    /// The most bytes that were ever confirmed at once in this run, of the source as it is: only what lies beyond is progress. Written down
    /// when the file begins again; until then `accepted` says it.
    var furthest: Int64 = 0
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

    /// The names of the columns.
    static let columns = names()

    init() {}

    /// A row of NULLs (no details) gives the default.
    mutating func pass(_ columns: inout RowColumns) {
        columns.pass("resume_point", &resumePoint)
        columns.pass(
            "wait", &wait, { WaitReasons(rawValue: Int32(truncatingIfNeeded: $0.integer($1))) },
            { .integer(Int64($0.rawValue)) })
        columns.pass("wait_since", &waitSince)
        columns.pass("retry_at", &retryAt)
        columns.pass(
            "cause", &cause, { $0.optionalInteger($1).flatMap { TransferErrorCode(stored: $0) } },
            { SQLiteValue($0?.stored) })
        columns.pass("error", &error)
        columns.pass(count: "attempts", &attempts)
        columns.pass(count: "failures", &failures)
        columns.pass(count: "restarts", &restarts)
        columns.pass(count: "repeated", &repeated)
        columns.pass(
            "resumed_from", &resumedFrom, { StoredJSON.value([Int64].self, $0.optionalText($1)) ?? [] },
            { SQLiteValue($0.isEmpty ? nil : "[" + $0.map(String.init).joined(separator: ",") + "]") })
        columns.pass("patience_since", &patienceSince)
        columns.pass("said", &said)
        columns.pass("digest", &digest)
        columns.pass("final_path", &finalPath)
        columns.pass("response", &response)
        columns.pass(count: "at_risk", &atRisk)
        columns.pass(count: "unconfirmed", &unconfirmed)
        columns.pass(count: "handle", &handle)
        columns.pass("first_tried_at", &firstTriedAt)
        columns.pass(count: "furthest", &furthest)
    }

    /// The furthest position that counts as progress. Of a file that has begun again too often what is accepted counts when an attempt has gone
    /// on from it, and is then in `furthest`.
    func counted(with accepted: Int64) -> Int64 {
        ProgressRule.isInDoubt(restarts: Int(restarts)) ? furthest : max(accepted, furthest)
    }

    /// True when an attempt's waits, restarts and positions are told as events. Of the first hundred attempts all are, then of ever fewer:
    /// a batch keeps its events as long as it is there, however often a server has a file begin again.
    var tellsAttempts: Bool {
        attempts <= 100 || attempts.isMultiple(of: 100) && (attempts / 100).nonzeroBitCount == 1
    }

    /// The task waits for nothing any more.
    mutating func clearWait() {
        wait = []
        waitSince = nil
        retryAt = nil
    }

    /// The error for which it waits or failed.
    var failure: TransferError? { StoredJSON.value(TransferError.self, error) }

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
        furthest = 0
        said = nil
    }
}

extension ByteSum {
    /// The sum of an expression in SQL, within the same bounds: SQLite's own gives an error where it overflows.
    static func sql(_ bytes: String) -> String {
        "max(-\(largest), min(\(largest), ifnull(sum((\(bytes)) >> 32) * 4294967296 + sum((\(bytes)) & 4294967295), 0)))"
    }
}
