import SQLiteConnection

/// Bounds the memory of changes that can be undone: beyond it the oldest ones are forgotten, each as a whole. Counted in the queue once, and
/// again when what was added since may be too much.
struct UndoBounds {
    /// Bytes of `undo.before`, and rows of `undo_tasks`, that all changes but the newest one may have.
    var mostBytes: Int64 = 16 << 20
    var mostTasks: Int64 = 10_000_000
    /// The queue has no more than that; `nil`: not counted yet.
    private var bytes: Int64?
    private var tasks: Int64 = 0

    /// Notes what is written down for a change.
    mutating func add(bytes: Int = 0, tasks: Int64 = 0) {
        self.bytes = self.bytes.map { $0 + Int64(bytes) }
        self.tasks += tasks
    }

    /// Forgets the oldest changes if there is too much, down to the half of it, so that it is not counted again with each change.
    mutating func keep(_ newest: Int64, in database: SQLiteConnection) throws {
        if let bytes, bytes <= mostBytes, tasks <= mostTasks { return }
        bytes = try trim("undo", "sum(length(CAST(before AS BLOB)))", mostBytes, newest, database)
        tasks = try trim("undo_tasks", "count(*)", mostTasks, newest, database)
    }

    /// - Returns: what is left.
    private func trim(
        _ table: String, _ weight: String, _ most: Int64, _ newest: Int64, _ database: SQLiteConnection
    ) throws -> Int64 {
        let sums = try database.rows(
            "SELECT operation, \(weight) FROM \(table) GROUP BY operation ORDER BY operation DESC"
        ) { (operation: $0.integer(0), weight: $0.integer(1)) }
        let total = sums.reduce(0) { $0 + $1.weight }
        guard total > most else { return total }
        var kept: Int64 = 0
        for sum in sums {
            guard sum.operation == newest || kept + sum.weight <= most / 2 else {
                for table in ["undo", "undo_tasks"] {
                    try database.run("DELETE FROM \(table) WHERE operation <= ?", .integer(sum.operation))
                }
                break
            }
            kept += sum.weight
        }
        return kept
    }
}
