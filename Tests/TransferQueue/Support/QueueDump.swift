import SQLiteConnection
import TransferModel

@testable import TransferQueue

/// All that undo promises to put back, line by line, in an order that depends on nothing else.
///
/// Not in it: what the engine has in hand (what was stopped stands in line again), numbers of lanes, runs and attempts, and
/// the numbers that places have, where the order is the same.
struct QueueDump: Equatable {
    var lines: [String] = []

    /// Tasks of which some waits are left out, because a change ends these whatever comes after it.
    struct Ended {
        let tasks: Set<TaskID>
        /// The waits that such tasks still have.
        let kept: WaitReasons
    }

    /// - Parameter ended: without it everything that tasks wait for is there.
    init(_ database: SQLiteConnection, _ ended: Ended? = nil) throws {
        let timed = Int64(WaitReasons(.notBefore).rawValue)
        let tasks = (ended?.tasks ?? []).map { String($0.rawValue) }.joined(separator: ", ")
        let kept = "CASE WHEN t.id IN (\(tasks)) THEN \(Int64(ended?.kept.rawValue ?? 0)) ELSE -1 END"
        func add(_ what: String, _ sql: String, _ columns: Int32) throws {
            lines += try database.rows(sql) { row in
                what + " " + (0..<columns).map { row.optionalText($0) ?? "-" }.joined(separator: " ")
            }
        }
        // A wait means something while a task waits, or will when its pause ends.
        let wait = "CASE WHEN t.state IN (2, 5) THEN ifnull(d.wait, 0) & \(kept) ELSE 0 END"
        try add(
            "task",
            """
            SELECT id, folder, CASE WHEN state IN (1, 3, 4) OR state = 2 AND wait = 0 THEN 'open' ELSE state END, own, size,
            accepted, batch, origin, priority, wait, CASE WHEN wait & \(timed) OR wait <> 0 AND kept = -1 THEN retry_at END,
            CASE state WHEN 7 THEN cause END
            FROM (SELECT t.id, t.folder, t.state, t.flags & 1 AS own, t.size, t.accepted, l.batch, l.origin, l.priority,
            \(wait) AS wait, \(kept) AS kept, d.retry_at, d.cause FROM tasks t JOIN lanes l ON l.id = t.lane LEFT JOIN task_details d ON d.task = t.id)
            ORDER BY id
            """, 12)
        try add(
            "stands in line",
            """
            SELECT l.batch, row_number() OVER (PARTITION BY l.batch ORDER BY ifnull(t.rank, t.id << 24), t.id) AS place, t.id
            FROM tasks t JOIN lanes l ON l.id = t.lane WHERE t.state < 6 ORDER BY l.batch, place
            """, 3)
        try add(
            "folder",
            """
            SELECT id, batch, parent, hex(name), walk, begun, paused, rank, priority, queued + running + finishing
            \(ended == nil ? "" : "+ waiting"), \(ended == nil ? "waiting" : "0"), stopped, completed, failed, cancelled, bytes_total,
            bytes_accepted, bytes_verified, bytes_left, bytes_stopped, bytes_found FROM folders ORDER BY id
            """, 20)
        try add(
            "batch",
            """
            SELECT id, name, priority, position, held, paused, scanning, not_before, urgent, options, finished_at IS NULL,
            purged_at IS NULL, cleared_at IS NULL FROM batches ORDER BY id
            """, 13)
        try add("source", "SELECT id, progress FROM sources ORDER BY id", 2)
        try add("limit", "SELECT scope, rate FROM limits ORDER BY scope", 2)
        try add("pause end", "SELECT node, at FROM pause_ends ORDER BY node", 2)
        try add(
            "failed", "SELECT batch, value, detail, files FROM reasons WHERE kind = 1 AND files > 0 ORDER BY 1, 2, 3", 4
        )
    }

    /// What only one of them has.
    func difference(to other: QueueDump) -> String {
        let (mine, others) = (Set(lines), Set(other.lines))
        return
            (lines.filter { !others.contains($0) }.map { "- \($0)" }
            + other.lines.filter { !mine.contains($0) }.map { "+ \($0)" }).joined(separator: "\n")
    }
}
