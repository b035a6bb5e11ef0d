import SQLiteConnection
import TransferModel

/// Changes of many tasks at once, in statements over sets: their cost is the rows', not ours.
struct TaskSets: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let counters: CounterStore

    /// The tasks or the folder that are changed as a whole.
    enum Unit {
        case tasks([TaskID])
        case folder(Int64)
    }

    /// Tasks that a condition on `tasks` chooses.
    struct Selection {
        let condition: String
        let values: [SQLiteValue]

        static func directly(in folder: Int64, states: [TransferState], and more: String = "1") -> Selection {
            Selection(condition: "folder = ?1 AND state IN (\(states: states)) AND \(more)", values: [.integer(folder)])
        }

        /// Tasks that a cancel ended, by the numbers of the events it wrote.
        static func cancelled(by step: UndoneStep) -> Selection {
            Selection(
                condition: """
                    id IN (SELECT task FROM events WHERE seq BETWEEN ?1 AND ?2 AND type = \(event: .taskCancelled))
                    AND state = \(state: .cancelled) AND id NOT IN (\(cancelledAgain("?3", "?4")))
                    """,
                values: [
                    .integer(step.events.0), .integer(step.events.1), .integer(step.batch.rawValue),
                    .integer(step.page.number),
                ])
        }

        /// Tasks of a node that were getting their final names when a cancel came, and did not get them.
        static func cancelledLater(by step: UndoneStep, in place: Place) -> Selection {
            let own = "SELECT task FROM undo_tasks WHERE page = ?2"
            return Selection(
                condition: """
                    \(place.condition) AND id IN (\(own)) AND state = \(state: .cancelled)
                    AND flags & \(flags: .cancelled) <> 0 AND id NOT IN (\(cancelledAgain("?3", "?2")))
                    """,
                values: [
                    .integer(place.value), .integer(step.page.number), .integer(step.batch.rawValue),
                ])
        }

        /// Tasks of a batch that a later cancel, which stands, has ended once more: somebody had them retried in between.
        private static func cancelledAgain(_ batch: String, _ page: String) -> String {
            let later = "o.kind = \(UndoneDeed.cancel.stored) AND o.batch = \(batch) AND o.page > \(page)"
            return """
                SELECT e.task FROM undo o JOIN events e ON e.seq BETWEEN o.first_event AND o.last_event
                WHERE \(later) AND e.type = \(event: .taskCancelled) AND e.task IS NOT NULL
                UNION ALL SELECT n.task FROM undo o JOIN undo_tasks n ON n.page = o.page WHERE \(later)
                """
        }
    }

    /// A node's tasks: a condition on rows of `tasks`, in which `?1` is `value`.
    struct Place {
        let condition: String
        let value: Int64

        init(_ target: NodeTarget) {
            switch target {
            case .batch(_, let root): (condition, value) = ("folder IN (\(TaskSets.below("?1")))", root)
            case .folder(_, let folder, _): (condition, value) = ("folder IN (\(TaskSets.below("?1")))", folder)
            case .task(let row): (condition, value) = ("id = ?1", row.id.rawValue)
            }
        }
    }

    /// Moves tasks to another state and gives back how many. Lanes and reasons have to be counted anew afterwards.
    /// - Parameters:
    ///   - target: the new state's number, as an SQL expression over the row.
    ///   - also: further assignments, in which `?9` is `time`.
    @discardableResult
    func move(
        _ selection: Selection, to target: String, also: String = "", at time: Timestamp? = nil
    ) throws -> Int64 {
        var count: Int64 = 0
        let sums = try database.statement(
            """
            SELECT folder, state, \(target), \(TaskRow.tallySQL) FROM tasks WHERE \(selection.condition)
            GROUP BY folder, state, 3
            """)
        for (place, value) in selection.values.enumerated() { try sums.bind(Int32(place + 1), value) }
        while try sums.step() {
            let tally = Tally(sums, from: 3)
            count += tally.files
            guard let from = TransferState(stored: sums.integer(1)), let to = TransferState(stored: sums.integer(2))
            else { continue }
            queue.ledger.add(-tally, folder: sums.integer(0), state: from)
            queue.ledger.add(tally, folder: sums.integer(0), state: to)
        }
        sums.reset()
        if count == 0 { return 0 }
        let update = try database.statement(
            "UPDATE tasks SET state = \(target)\(also.isEmpty ? "" : ", " + also) WHERE \(selection.condition)")
        for (place, value) in selection.values.enumerated() { try update.bind(Int32(place + 1), value) }
        if let time { try update.bind(9, .integer(time.milliseconds)) }
        try update.run()
        return count
    }

    /// A folder and those below it. - Parameter pruned: leaves out folders with a pause flag of their own, and what is below them.
    func subtree(of folder: Int64, pruned: Bool = false) throws -> [Int64] {
        try database.rows(
            """
            WITH RECURSIVE below (id) AS (VALUES (?1) UNION ALL
            SELECT f.id FROM folders f JOIN below ON f.parent = below.id\(pruned ? " WHERE f.paused = 0" : ""))
            SELECT id FROM below
            """, .integer(folder)
        ) { $0.integer(0) }
    }

    /// A folder and all below it, in SQL.
    static func below(_ folder: String) -> String {
        "WITH RECURSIVE below (id) AS (VALUES (\(folder)) UNION ALL SELECT f.id FROM folders f JOIN below ON f.parent = below.id) SELECT id FROM below"
    }

    /// Those of `folders` that hold tasks of some states directly.
    func withTasks(_ folders: [Int64], states: [TransferState]) throws -> [Int64] {
        try counters.write()
        return try folders.filter { folder in
            try database.integer(
                "SELECT 1 FROM own_counts WHERE folder = ? AND state IN (\(states: states)) AND files > 0 LIMIT 1",
                .integer(folder)) != nil
        }
    }

    /// Those below a folder, itself included, that the engine may still be stopped from.
    func claimed(below top: Int64) throws -> [TaskID] { try claimed(in: Set(subtree(of: top))).map(\.id) }

    /// Tasks directly in some folders that the engine has claimed: few, whatever the batch.
    /// - Parameter publishing: of those that get their final names, else of those that can be taken from it.
    func claimed(in folders: Set<Int64>, publishing: Bool = false) throws -> [TaskRow] {
        try database.rows(
            """
            SELECT \(TaskRow.columns) FROM tasks t INDEXED BY tasks_claimed JOIN lanes l ON l.id = t.lane WHERE t.claimed = 1
            """
        ) { TaskRow($0) }.filter { folders.contains($0.folder) && $0.flags.contains(.publishing) == publishing }
    }

    /// Has what `move` leaves open for a batch brought up to date before the commit.
    func noteMoves(in batch: BatchID) {
        queue.moved.insert(batch)
        queue.touched.insert(batch)
        queue.change.note(wholly: batch)
        // After a pause nothing more can run; to look once more does no harm.
        queue.change.mayRun = true
    }

    /// Brings up to date what `move` has left open: reasons to wait, and what is ready in each lane.
    func finishMoves() throws {
        if queue.moved.isEmpty { return }
        // Reasons to wait mean something only while waiting or paused; no others may be found later.
        try database.run(
            """
            UPDATE task_details INDEXED BY details_waiting SET wait = 0, wait_since = NULL, retry_at = NULL
            WHERE wait <> 0 AND (SELECT state FROM tasks WHERE id = task) NOT IN (\(states: [.waiting, .paused]))
            """)
        for batch in queue.moved.sorted() {
            try tasks.recountReasons(batch)
            let lanes = try database.rows("SELECT id FROM lanes WHERE batch = ?", .integer(batch.rawValue)) {
                $0.integer(0)
            }
            for lane in lanes {
                try database.run(
                    """
                    UPDATE lanes SET ready = \(TaskRow.readySQL("?1")) WHERE id = ?1
                    """, .integer(lane))
                queue.ledger.forgetReady(lane: lane)
            }
        }
        queue.moved = []
    }
}
