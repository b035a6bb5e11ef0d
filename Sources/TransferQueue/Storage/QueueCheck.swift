import SQLiteConnection
import TransferModel

/// Proves that what the queue sums up agrees with what it holds. Works through a read-only connection beside a running
/// engine; memory does not grow with the queue, sorting goes to temporary files.
struct QueueCheck {
    private let database: SQLiteConnection
    /// Enough to see what is wrong.
    private static let limit = 100

    init(_ database: SQLiteConnection) { self.database = database }

    func findings() throws -> [String] {
        var findings: [String] = []
        try database.forEach("PRAGMA integrity_check(\(Self.limit))") { row in
            if row.text(0) != "ok" { findings.append("damaged: \(row.text(0))") }
        }
        // A damaged file makes nonsense of every other answer.
        if !findings.isEmpty { return findings }
        try database.forEach("PRAGMA foreign_key_check") { row in
            findings.append("row \(row.integer(1)) of \(row.text(0)) refers to a row of \(row.text(2)) that is gone")
        }
        for rule in Self.rules where findings.count < Self.limit {
            try database.forEach(rule.sql + " LIMIT \(Self.limit)") { row in
                findings.append(rule.sentence.replacing("%", with: row.text(0)))
            }
        }
        try checkTerminalEvents(&findings)
        return Array(findings.prefix(Self.limit))
    }

    /// A query whose rows are findings, and what each means; `%` is its first column.
    private struct Rule {
        let sentence: String
        let sql: String
    }

    private static let rules: [Rule] = [
        Rule(
            sentence: "task t% lies in no folder",
            sql: "SELECT id FROM tasks WHERE folder NOT IN (SELECT id FROM folders)"),
        Rule(
            sentence: "task t% belongs to no lane, or to another batch than its folder",
            sql: """
                SELECT t.id FROM tasks t LEFT JOIN lanes l ON l.id = t.lane LEFT JOIN folders f ON f.id = t.folder
                WHERE l.batch IS NOT f.batch
                """),
        Rule(
            sentence: "task t% lies outside the span of its batch's tasks",
            sql: """
                SELECT t.id FROM tasks t JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
                WHERE NOT ifnull(t.id BETWEEN b.first_task AND b.last_task, 0)
                """),
        Rule(
            sentence: "task t% has a state that does not go with its other columns",
            sql: """
                SELECT id FROM tasks WHERE state NOT BETWEEN \(state: .queued) AND \(state: .cancelled)
                OR (state >= \(state: .completed)) <> (finished_at IS NOT NULL)
                OR (claimed = 1 AND state NOT IN (\(states: [.queued, .running, .finishing])))
                OR (state IN (\(states: [.running, .finishing])) AND claimed = 0)
                OR (claimed = 1 AND begun_at IS NULL) OR accepted < 0
                OR (flags & \(flags: .publishing) AND claimed = 0) OR (claimed = 1 AND claims = 0)
                """),
        Rule(
            sentence: "task t% waits and does not say for what",
            sql: """
                SELECT t.id FROM tasks t LEFT JOIN task_details d ON d.task = t.id
                WHERE t.state = \(state: .waiting) AND ifnull(d.wait, 0) = 0
                """),
        Rule(
            sentence: "task t% may run and still waits for something",
            sql: """
                SELECT t.id FROM task_details d INDEXED BY details_waiting JOIN tasks t ON t.id = d.task
                WHERE d.wait <> 0 AND t.state NOT IN (\(states: [.waiting, .paused]))
                """),
        Rule(
            sentence: "details without a task: t%",
            sql:
                "SELECT task FROM task_details WHERE task NOT IN (SELECT id FROM tasks WHERE flags & \(flags: .details))"
        ),
        Rule(
            sentence: "attempts without a task: t%",
            sql: "SELECT DISTINCT task FROM attempts WHERE task NOT IN (SELECT id FROM tasks)"),
        Rule(
            sentence: "folder % does not reach its batch's root",
            // A parent is older than its children, so a chain that climbs one sound step at a time ends at a root.
            sql: """
                SELECT f.id FROM folders f LEFT JOIN folders p ON p.id = f.parent LEFT JOIN batches b ON b.id = f.batch
                WHERE b.id IS NULL OR CASE WHEN f.parent IS NULL THEN b.root <> f.id
                ELSE p.id IS NULL OR p.batch <> f.batch OR p.id >= f.id END
                """),
        Rule(
            sentence: "the counters of folder % and its tasks disagree",
            sql: """
                SELECT folder FROM (SELECT folder, state, \(Tally.list) FROM own_counts WHERE files <> 0 OR bytes_total <> 0 OR bytes_accepted <> 0 OR bytes_verified <> 0
                EXCEPT SELECT folder, state, \(TaskRow.tallySQL) FROM tasks GROUP BY folder, state)
                UNION SELECT folder FROM (SELECT folder, state, \(TaskRow.tallySQL) FROM tasks GROUP BY folder, state
                EXCEPT SELECT folder, state, \(Tally.list) FROM own_counts)
                """),
        Rule(sentence: "the counters of folder % and what is below it disagree", sql: subtreeSQL),
        Rule(
            sentence: "lane % counts other tasks as ready than there are",
            sql: """
                SELECT id FROM lanes WHERE ready <> \(TaskRow.readySQL("lanes.id"))
                """),
        Rule(sentence: "batch b% counts other reasons than its tasks have", sql: reasonsSQL),
        Rule(
            sentence: "batch b% is finished and is not, or the other way round",
            sql: """
                SELECT b.id FROM batches b JOIN folders f ON f.id = b.root WHERE (b.finished_at IS NOT NULL) <>
                (b.scanning <> 1 AND f.queued + f.waiting + f.running + f.finishing + f.stopped = 0
                AND NOT EXISTS (SELECT 1 FROM last_looks k WHERE k.batch = b.id AND k.due > 0))
                """),
        Rule(
            sentence: "batch b% is walked to its end and still has folders to be listed",
            sql: """
                SELECT DISTINCT f.batch FROM folders f JOIN batches b ON b.id = f.batch WHERE f.walk > 0 AND b.scanning <> 1
                """),
        Rule(
            sentence: "batch b% is walked to its end and still has sources to be looked through",
            sql: """
                SELECT DISTINCT s.batch FROM sources s JOIN batches b ON b.id = s.batch
                WHERE s.progress < \(progress: .done) AND b.scanning <> 1
                """),
        Rule(
            sentence: "folder % is still to be listed and its source is not being walked",
            sql: """
                SELECT f.id FROM folders f LEFT JOIN sources s ON s.id = f.walk AND s.batch = f.batch
                WHERE f.walk > 0 AND s.progress IS NOT \(progress: .walking)
                """),
        Rule(
            sentence: "event % belongs to a task or batch that is gone",
            sql: """
                SELECT seq FROM events WHERE (batch IS NOT NULL AND batch NOT IN (SELECT id FROM batches))
                OR (task IS NOT NULL AND task NOT IN (SELECT id FROM tasks))
                """),
        Rule(
            sentence: "the number % of the next task, folder or event was given out before",
            sql: """
                SELECT name FROM meta WHERE value <= CASE name WHEN 'next_task' THEN (SELECT max(id) FROM tasks)
                WHEN 'next_folder' THEN (SELECT max(id) FROM folders) WHEN 'next_event' THEN (SELECT max(seq) FROM events) END
                """),
    ]

    /// Each folder against its own tasks and its direct subfolders: what holds for every step holds for the tree.
    private static let subtreeSQL: String = {
        let own = FolderSums.states.map { state, column in
            "sum(files) FILTER (WHERE state = \(state: state)) AS \(column)"
        }
        func open(_ condition: String) -> String {
            ByteSum.sql("CASE WHEN \(condition) THEN bytes_total - bytes_accepted ELSE 0 END")
        }
        let sums = """
            \(ByteSum.sql("bytes_total")) AS bytes_total, \(ByteSum.sql("bytes_accepted")) AS bytes_accepted,
            \(ByteSum.sql("bytes_verified")) AS bytes_verified, \(open("state < \(state: .completed)")) AS bytes_left,
            \(open("state = \(state: .paused)")) AS bytes_stopped, \(open("state = \(state: .completed)")) AS bytes_found
            """
        let below = FolderSums.columns.map { "\(ByteSum.sql($0)) AS \($0)" }.joined(separator: ", ")
        let most = ByteSum.largest
        let differs = FolderSums.columns.map { column in
            "f.\(column) <> max(-\(most), min(\(most), ifnull(o.\(column), 0) + ifnull(c.\(column), 0)))"
        }
        return """
            SELECT f.id FROM folders f
            LEFT JOIN (SELECT folder, \(own.joined(separator: ", ")), \(sums) FROM own_counts GROUP BY folder) o ON o.folder = f.id
            LEFT JOIN (SELECT parent, \(below) FROM folders GROUP BY parent) c ON c.parent = f.id
            WHERE \(differs.joined(separator: " OR "))
            """
    }()

    private static let reasonsSQL: String = {
        let counted = """
            SELECT l.batch AS batch, \(reasons: .waiting) AS kind, d.wait AS value, \(TaskStore.waitDetailSQL) AS detail, count(*) AS files
            FROM task_details d INDEXED BY details_waiting
            CROSS JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
            WHERE d.wait <> 0 AND t.state = \(state: .waiting) GROUP BY 1, 3, 4
            UNION ALL SELECT l.batch, \(reasons: .failed), d.cause, \(TaskStore.failureDetailSQL), count(*) FROM lanes l
            CROSS JOIN tasks t INDEXED BY tasks_failed ON t.lane = l.id AND t.state = \(state: .failed)
            JOIN task_details d ON d.task = t.id WHERE d.cause IS NOT NULL GROUP BY 1, 3, 4
            """
        let columns = "batch, kind, value, detail, files"
        return """
            SELECT batch FROM (SELECT \(columns) FROM reasons WHERE files <> 0 EXCEPT SELECT * FROM (\(counted)))
            UNION SELECT batch FROM (SELECT * FROM (\(counted)) EXCEPT SELECT \(columns) FROM reasons)
            """
    }()

    /// One terminal event for each run that ended: as many as a task was started anew, and one more when it is over.
    private func checkTerminalEvents(_ findings: inout [String]) throws {
        let tasks = try database.statement("SELECT id, run + (state >= \(state: .completed)) FROM tasks ORDER BY id")
        let events = try database.statement(
            """
            SELECT task, count(*) FROM events WHERE type IN (\(events: [.taskCompleted, .taskFailed, .taskCancelled]))
            GROUP BY task ORDER BY task
            """)
        defer {
            tasks.reset()
            events.reset()
        }
        var hasEvent = try events.step()
        while findings.count < Self.limit, try tasks.step() {
            let (task, expected) = (tasks.integer(0), tasks.integer(1))
            while hasEvent, events.integer(0) < task { hasEvent = try events.step() }
            let found = hasEvent && events.integer(0) == task ? events.integer(1) : 0
            if found != expected {
                findings.append("task t\(task) has \(found) terminal events instead of \(expected)")
            }
        }
    }
}
