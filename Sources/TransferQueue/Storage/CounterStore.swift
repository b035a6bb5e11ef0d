import SQLiteConnection
import TransferModel

/// Writes the counters of folders and lanes. Those of bytes stay within the bounds of `ByteSum`; one that is at a bound, or leaves it, no
/// longer says what it is made of, and is counted anew.
struct CounterStore: QueueSubject {
    let queue: QueueConnection
    private let looks: LastLookStore

    init(_ queue: QueueConnection, looks: LastLookStore) {
        self.queue = queue
        self.looks = looks
    }

    /// Writes the ledger's differences into the rows. Before changes of many tasks at once, which begin from the rows.
    func write() throws {
        var sums: [Int64: FolderSums] = [:]
        for (folder, delta) in queue.ledger.sums() {
            var place: Int64? = folder
            while let here = place {
                sums[here, default: FolderSums()] += delta
                place = try parent(of: here)
            }
        }
        var overfull: Set<Int64> = []
        for (key, tally) in queue.ledger.own where tally != Tally() {
            if try add(tally, to: key) { overfull.insert(key.folder) }
        }
        for (folder, delta) in sums {
            if try add(delta, to: folder) { overfull.insert(folder) }
            queue.change.note(folder: FolderID(rawValue: folder))
        }
        try recount(overfull)
        try looks.note(queue.ledger.own)
        for (lane, count) in queue.ledger.ready {
            try database.run("UPDATE lanes SET ready = ready + ? WHERE id = ?", .integer(count), .integer(lane))
            if count > 0 { queue.change.mayRun = true }
        }
        queue.ledger = CounterLedger()
    }

    private func parent(of folder: Int64) throws -> Int64? {
        if let known = queue.notes.parents[folder] { return known }
        if queue.notes.parents.count > 4096 { queue.notes.parents = [:] }
        let parent = try database.integer("SELECT parent FROM folders WHERE id = ?", .integer(folder))
        queue.notes.parents[folder] = parent
        return parent
    }

    // MARK: Bounds

    /// - Returns: whether it reaches a bound, or did.
    private func add(_ tally: Tally, to key: CounterLedger.Key) throws -> Bool {
        let found = try database.first(
            Self.addToOwn, .integer(key.folder), .integer(key.state.stored), .integer(tally.files),
            .integer(tally.total), .integer(tally.accepted), .integer(tally.verified)
        ) { row in [row.integer(0), row.integer(1), row.integer(2)] }
        guard let found, Self.isOverfull(found, after: [tally.total, tally.accepted, tally.verified]) else {
            return false
        }
        try database.run(
            """
            UPDATE own_counts SET (\(Tally.list)) =
            (SELECT \(TaskRow.tallySQL) FROM tasks WHERE folder = ?1 AND state = ?2) WHERE folder = ?1 AND state = ?2
            """, .integer(key.folder), .integer(key.state.stored))
        return true
    }

    /// The same of everything below a folder.
    private func add(_ delta: FolderSums, to folder: Int64) throws -> Bool {
        let update = try database.statement(Self.addToFolder)
        for (place, value) in delta.values.enumerated() { try update.bind(Int32(place + 1), value) }
        try update.bind(Int32(FolderSums.columns.count + 1), folder)
        defer { update.reset() }
        guard try update.step() else { return false }
        let first = FolderSums.columns.count - FolderSums.byteColumns.count
        let found = (0..<FolderSums.byteColumns.count).map { update.integer(Int32(first + $0)) }
        return Self.isOverfull(found, after: Array(delta.values.dropFirst(first)))
    }

    private static func isOverfull(_ values: [Int64], after differences: [Int64]) -> Bool {
        zip(values, differences).contains { value, difference in
            abs(value) >= ByteSum.largest || abs(value - difference) >= ByteSum.largest
        }
    }

    /// Counts the bytes of folders, and of all above them, from their own tasks and the folders directly below.
    private func recount(_ folders: Set<Int64>) throws {
        if folders.isEmpty { return }
        var all = folders
        for folder in folders {
            var place = try parent(of: folder)
            while let here = place, all.insert(here).inserted { place = try parent(of: here) }
        }
        // A folder is older than those below it.
        for folder in all.sorted(by: >) {
            let id = SQLiteValue.integer(folder)
            let own = try database.rows(
                "SELECT state, \(Tally.list) FROM own_counts WHERE folder = ?", id
            ) { (state: TransferState(stored: $0.integer(0)) ?? .failed, tally: Tally($0, from: 1)) }
            var sums = FolderSums()
            for part in own { sums.add(part.tally, in: part.state) }
            let below = try database.rows("SELECT \(FolderSums.list) FROM folders WHERE parent = ?", id) {
                FolderSums($0)
            }
            for part in below { sums += part }
            let update = try database.statement(
                "UPDATE folders SET \(FolderSums.byteColumns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?")
            let values = sums.values.suffix(FolderSums.byteColumns.count)
            for (place, value) in values.enumerated() { try update.bind(Int32(place + 1), value) }
            try update.bind(Int32(values.count + 1), folder)
            try update.run()
        }
    }

    private static let addToFolder =
        "UPDATE folders SET " + FolderSums.columns.map { "\($0) = \(bounded($0, "?"))" }.joined(separator: ", ")
        + " WHERE id = ? RETURNING " + FolderSums.list

    private static let addToOwn =
        "INSERT INTO own_counts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        + Tally.columns.map {
            "\($0) = \(bounded($0, "excluded.\($0)"))"
        }
        .joined(separator: ", ") + " RETURNING bytes_total, bytes_accepted, bytes_verified"

    /// A counter and what is added to it, in SQL. An overflow, which SQLite makes a real number of, ends at the bound.
    private static func bounded(_ column: String, _ added: String) -> String {
        "max(-\(ByteSum.largest), min(\(ByteSum.largest), \(column) + \(added)))"
    }
}
