import SQLiteConnection
import TransferModel

/// Files and bytes of tasks of one state directly in one folder; a difference when signed.
struct Tally: StoredRow, Hashable {
    var files: Int64 = 0
    /// Bytes of the tasks of known size; tasks of unknown size count no bytes at all.
    var total: Int64 = 0
    var accepted: Int64 = 0
    var verified: Int64 = 0

    /// The names of the columns, in `own_counts`.
    static let columns = names()
    /// The list for a statement.
    static let list = list()

    init(files: Int64 = 0, total: Int64 = 0, accepted: Int64 = 0, verified: Int64 = 0) {
        (self.files, self.total, self.accepted, self.verified) = (files, total, accepted, verified)
    }

    init(_ columns: inout RowColumns) {
        files = columns.count("files")
        total = columns.byteSum("bytes_total")
        accepted = columns.byteSum("bytes_accepted")
        verified = columns.byteSum("bytes_verified")
    }

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
struct FolderSums: WrittenRow, Hashable {
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

    /// The states that have a column in `folders`, and its name. `created` has none: it is how queued tasks of a held batch are shown.
    static let states: [(state: TransferState, column: String)] = TransferState.allCases.compactMap { state in
        switch state {
        case .created: nil
        case .paused: (state, "stopped")
        default: (state, state.rawValue)
        }
    }

    /// SQL for the number of all files, of a table with this name (and a dot).
    static func filesSQL(of table: String) -> String { states.map { table + $0.column }.joined(separator: " + ") }

    /// The names of the columns.
    static let columns = names()
    /// The last of them: bytes.
    static let byteColumns = columns.filter { $0.hasPrefix("bytes_") }
    /// The list for a statement.
    static let list = list()

    init() {}

    mutating func pass(_ columns: inout RowColumns) {
        for (state, column) in Self.states { columns.pass(count: column, &files[state]) }
        columns.pass(byteSum: "bytes_total", &total)
        columns.pass(byteSum: "bytes_accepted", &accepted)
        columns.pass(byteSum: "bytes_verified", &verified)
        columns.pass(byteSum: "bytes_left", &left)
        columns.pass(byteSum: "bytes_stopped", &stopped)
        columns.pass(byteSum: "bytes_found", &found)
    }

    /// In the order of the columns.
    var values: [Int64] { stored.map { if case .integer(let value) = $0 { value } else { 0 } } }
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
