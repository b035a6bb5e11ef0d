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
    mutating func keep(_ newest: ChangePage, in database: SQLiteConnection) throws {
        if let bytes, bytes <= mostBytes, tasks <= mostTasks { return }
        bytes = try trim(
            "SELECT operation, sum(length(CAST(before AS BLOB))), max(page) FROM undo GROUP BY operation ORDER BY 3 DESC",
            mostBytes, newest, database)
        tasks = try trim(
            """
            SELECT u.operation, sum(t.tasks), max(u.page) FROM (SELECT page, count(*) AS tasks FROM undo_tasks GROUP BY page) t
            JOIN (SELECT DISTINCT page, operation FROM undo) u ON u.page = t.page GROUP BY u.operation ORDER BY 3 DESC
            """, mostTasks, newest, database)
    }

    /// - Parameter sums: changes with what they have and their last page, the newest first.
    /// - Returns: what is left.
    private func trim(
        _ sums: String, _ most: Int64, _ newest: ChangePage, _ database: SQLiteConnection
    ) throws -> Int64 {
        let sums = try database.rows(sums) { (operation: $0.integer(0), weight: $0.integer(1), last: $0.integer(2)) }
        let total = sums.reduce(0) { $0 + $1.weight }
        guard total > most else { return total }
        var kept: Int64 = 0
        for sum in sums {
            guard sum.operation == newest.operation || kept + sum.weight <= most / 2 else {
                try Self.forgetChanges(before: sum.last + 1, except: newest.operation, in: database)
                try Self.forgetTasks(in: database)
                break
            }
            kept += sum.weight
        }
        return kept
    }

    /// Forgets the changes of which all pages are before one.
    /// - Parameter newest: goes on, though others came after its last page.
    static func forgetChanges(
        before page: Int64, except newest: Int64 = -1, in database: SQLiteConnection
    ) throws {
        try database.run(
            """
            DELETE FROM undo WHERE operation <> ?2
            AND operation IN (SELECT operation FROM undo GROUP BY operation HAVING max(page) < ?1)
            """, .integer(page), .integer(newest))
    }

    /// Forgets the tasks of pages that are no more: from one page to the next, not through all tasks of each.
    static func forgetTasks(in database: SQLiteConnection) throws {
        try database.run(
            """
            WITH RECURSIVE known (page) AS (SELECT min(page) FROM undo_tasks UNION ALL
            SELECT (SELECT min(u.page) FROM undo_tasks u WHERE u.page > k.page) FROM known k WHERE k.page IS NOT NULL)
            DELETE FROM undo_tasks WHERE page IN (SELECT page FROM known WHERE page IS NOT NULL EXCEPT SELECT page FROM undo)
            """)
    }
}
