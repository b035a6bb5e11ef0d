import SQLiteConnection
import TransferModel

/// Files and bytes of tasks of one state directly in one folder; a difference when signed.
struct Tally: Hashable {
    var files: Int64 = 0
    /// Bytes of the tasks of known size; tasks of unknown size count no bytes at all.
    var total: Int64 = 0
    var accepted: Int64 = 0
    var verified: Int64 = 0

    /// As it is shown, of tasks in a state.
    func bytes(in state: TransferState) -> ByteCounts {
        var bytes = ByteCounts(total: total, sent: accepted, accepted: accepted, verified: verified)
        if state == .completed, total > accepted { bytes.found = total - accepted }
        return bytes
    }

    static func += (one: inout Tally, other: Tally) {
        one.files += other.files
        ByteSum.add(other.total, to: &one.total)
        ByteSum.add(other.accepted, to: &one.accepted)
        ByteSum.add(other.verified, to: &one.verified)
    }

    static prefix func - (one: Tally) -> Tally {
        Tally(files: -one.files, total: -one.total, accepted: -one.accepted, verified: -one.verified)
    }
}

extension SQLiteStatement {
    /// A sum of bytes, whatever a damaged file has there: 0 to the bound of `ByteSum`.
    func byteSum(_ column: Int32) -> Int64 { ByteSum.within(max(0, integer(column))) }
}

/// The counters of a folder row: everything below it.
struct FolderSums: Hashable {
    var files = FileCounts()
    var total: Int64 = 0
    var accepted: Int64 = 0
    var verified: Int64 = 0
    /// Bytes that still have to cross the wire: total less accepted of tasks that are not over.
    var left: Int64 = 0
    /// The part of `left` that is paused.
    var stopped: Int64 = 0
    /// Bytes that were at the other end already and never had to cross the wire: total less accepted of completed tasks.
    var found: Int64 = 0

    mutating func add(_ tally: Tally, in state: TransferState) {
        files[state] += tally.files
        let open = tally.total - tally.accepted
        ByteSum.add(tally.total, to: &total)
        ByteSum.add(tally.accepted, to: &accepted)
        ByteSum.add(tally.verified, to: &verified)
        if !state.isTerminal { ByteSum.add(open, to: &left) }
        if state == .paused { ByteSum.add(open, to: &stopped) }
        if state == .completed { ByteSum.add(open, to: &found) }
    }

    static func += (one: inout FolderSums, other: FolderSums) {
        one.files += other.files
        ByteSum.add(other.total, to: &one.total)
        ByteSum.add(other.accepted, to: &one.accepted)
        ByteSum.add(other.verified, to: &one.verified)
        ByteSum.add(other.left, to: &one.left)
        ByteSum.add(other.stopped, to: &one.stopped)
        ByteSum.add(other.found, to: &one.found)
    }

    var bytes: ByteCounts {
        var bytes = ByteCounts(total: total, sent: accepted, accepted: accepted, verified: verified)
        if found > 0 { bytes.found = found }
        return bytes
    }

    /// The columns of `folders`, in the order of `init(_:from:)` and `values`. A batch that is held has no column of
    /// its own: `created` is how its queued tasks are shown.
    static let columns = [
        "queued", "waiting", "running", "finishing", "stopped", "completed", "failed", "cancelled",
        "bytes_total", "bytes_accepted", "bytes_verified", "bytes_left",
        "bytes_stopped", "bytes_found",
    ]

    /// The last of them: bytes.
    static let byteColumns = columns.filter { $0.hasPrefix("bytes_") }

    var values: [Int64] {
        [
            files.queued, files.waiting, files.running, files.finishing, files.paused, files.completed, files.failed,
            files.cancelled, total, accepted, verified, left, stopped, found,
        ]
    }

    init() {}

    /// Reads the columns from `first` on.
    init(_ row: SQLiteStatement, from first: Int32 = 0) {
        files.queued = row.count(first)
        files.waiting = row.count(first + 1)
        files.running = row.count(first + 2)
        files.finishing = row.count(first + 3)
        files.paused = row.count(first + 4)
        files.completed = row.count(first + 5)
        files.failed = row.count(first + 6)
        files.cancelled = row.count(first + 7)
        total = row.byteSum(first + 8)
        accepted = row.byteSum(first + 9)
        verified = row.byteSum(first + 10)
        left = row.byteSum(first + 11)
        stopped = row.byteSum(first + 12)
        found = row.byteSum(first + 13)
    }
}

/// The differences that a transaction makes to counters, summed up so that each row is written once.
struct CounterLedger {
    struct Key: Hashable {
        let folder: Int64
        let state: TransferState
    }

    private(set) var own: [Key: Tally] = [:]
    private(set) var ready: [Int64: Int64] = [:]

    mutating func add(_ tally: Tally, folder: Int64, state: TransferState) {
        own[Key(folder: folder, state: state), default: Tally()] += tally
    }

    /// `count` more tasks of a lane can be claimed.
    mutating func addReady(_ count: Int64, lane: Int64) {
        if count != 0 { ready[lane, default: 0] += count }
    }

    /// A lane's `ready` was just counted anew.
    mutating func forgetReady(lane: Int64) { ready[lane] = nil }

    /// The differences of the folders that directly hold changed tasks, by folder.
    func sums() -> [Int64: FolderSums] {
        var sums: [Int64: FolderSums] = [:]
        for (key, tally) in own { sums[key.folder, default: FolderSums()].add(tally, in: key.state) }
        return sums
    }
}
