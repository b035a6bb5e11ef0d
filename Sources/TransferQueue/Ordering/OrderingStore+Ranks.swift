import SQLiteConnection
import TransferModel

/// Places of tasks in their batch: found between others, and given.
extension OrderingStore {
    /// The part of a move that is still to be done, itself included: as many need room at the same place.
    struct Room {
        /// The number of units.
        let units: Int
        /// The later ones go before those that come first.
        let isBackwards: Bool

        /// More than that many are given room again.
        static let most = 4096
    }

    /// A place for a unit just before a turn, and behind the one before it. Where there is no room, or several share the place, all tasks of
    /// the batch get new places: once for all that is moved together, else once in some twenty moves to the same place.
    func place(before upper: TaskTurn, _ lanes: [Int64], _ batch: BatchID, _ room: Room) throws -> Int64 {
        guard var lower = try neighbour(lanes, .before, upper) else { return upper.place - TaskPlaces.gap }
        var upper = upper
        let units = Int64(min(room.units, Room.most))
        // Units put before the last ones stay, as those do, behind files that are still to be found.
        func bottom() -> Int64 {
            upper.place > TaskPlaces.behindAll ? max(lower.place, TaskPlaces.behindAll) : lower.place
        }
        if upper.place - bottom() <= units {
            try renumber(batch)
            lower = try turn(of: lower.id)
            upper = try turn(of: upper.id)
        }
        let step = max(1, (upper.place - bottom()) / (units + 1))
        return room.isBackwards ? upper.place - step : bottom() + step
    }

    func turn(of task: Int64) throws -> TaskTurn {
        let place = try database.integer("SELECT \(TaskPlaces.sql) FROM tasks WHERE id = ?", .integer(task))
        return TaskTurn(place: TaskPlaces.within(place ?? 0), id: task)
    }

    /// Gives all tasks of a batch that are not completed places with room between them, in the order in which they stand. With them go the
    /// places that an undo puts back, and those of folders for files that are still to be found: behind all who share such a place.
    private func renumber(_ batch: BatchID) throws {
        let id = SQLiteValue.integer(batch.rawValue)
        try database.execute(script: Self.tableOfPlaces)
        try database.run(Self.findPlaces, id)
        try database.run(
            """
            UPDATE tasks SET rank = (SELECT new FROM temp.new_places WHERE task = tasks.id AND old = \(TaskPlaces.sql))
            WHERE id IN (SELECT task FROM temp.new_places)
            """)
        try database.run(
            """
            UPDATE undo_tasks SET rank = (SELECT n.new FROM temp.new_places n
            WHERE n.task = undo_tasks.task AND n.old = ifnull(undo_tasks.rank, undo_tasks.task << 24))
            WHERE task IN (SELECT task FROM temp.new_places) AND \(Self.isOfMove)
            """, id)
        try database.run(
            """
            UPDATE folders SET rank = (SELECT new FROM temp.new_places WHERE task = \(Self.folder) AND old = rank)
            WHERE batch = ? AND rank IS NOT NULL
            """, id)
        try database.run(
            """
            UPDATE undo SET before = json_set(before, '$.folderRanks', (
            SELECT json_group_array(json_array(json_extract(f.value, '$[0]'), n.new)) FROM json_each(undo.before, '$.folderRanks') f
            CROSS JOIN temp.new_places n ON n.task = \(Self.folder) AND n.old = json_extract(f.value, '$[1]')))
            WHERE batch = ? AND before LIKE '%"folderRanks":[[%' AND json_valid(before)
            """, id)
        try database.run("DELETE FROM temp.new_places")
        queue.forgetPaths()
    }

    /// The number under which places of folders are found anew.
    private static let folder = Int64.max

    /// The condition of what an undo of a move puts back; of other changes nobody reads the places. The tasks lead: `+` keeps the pages from it.
    private static let isOfMove =
        "lane <> 0 AND +page IN (SELECT page FROM undo WHERE batch = ?1 AND kind = \(UndoneDeed.move.stored))"

    private static let tableOfPlaces = """
        CREATE TEMP TABLE IF NOT EXISTS new_places (
            task INTEGER NOT NULL,
            old INTEGER NOT NULL,
            new INTEGER NOT NULL,
            PRIMARY KEY (task, old)
        ) WITHOUT ROWID
        """

    /// Room is all that lies between the numbers of the batch's first and last task. What is behind all that is still to be found stays there.
    /// A place that is found twice counts once.
    private static let findPlaces = """
        INSERT OR IGNORE INTO temp.new_places
        WITH own (id, rank) AS (SELECT t.id, t.rank FROM batches b CROSS JOIN tasks t ON t.id BETWEEN b.first_task AND b.last_task
        JOIN lanes l ON l.id = t.lane WHERE b.id = ?1 AND l.batch = ?1 AND t.state <> \(state: .completed)),
        old (task, place) AS (SELECT id, \(TaskPlaces.sql) FROM own
        UNION ALL SELECT u.task, ifnull(u.rank, u.task << 24) FROM own JOIN undo_tasks u ON u.task = own.id WHERE \(isOfMove)
        UNION ALL SELECT \(folder), rank FROM folders WHERE batch = ?1 AND rank IS NOT NULL
        UNION ALL SELECT \(folder), json_extract(f.value, '$[1]') FROM undo o, json_each(\(StoredJSON.sql("o.before")), '$.folderRanks') f
        WHERE o.batch = ?1 AND o.before LIKE '%"folderRanks":[[%'),
        counted AS (SELECT task, place, place > \(TaskPlaces.behindAll) AS is_behind, row_number() OVER turns AS number,
        count(*) OVER (turns ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS places
        FROM old WINDOW turns AS (PARTITION BY place > \(TaskPlaces.behindAll) ORDER BY place, task))
        SELECT c.task, c.place, CASE WHEN c.is_behind THEN \(TaskPlaces.behindAll) + c.number * \(TaskPlaces.gap)
        ELSE (b.first_task << 24) + (c.number - 1) * max(((b.last_task - b.first_task + 1) << 24) / c.places, 65536) END
        FROM counted c CROSS JOIN batches b ON b.id = ?1
        """

    /// The first and the last turn of what is not over in it.
    func span(of unit: TaskSets.Unit) throws -> (first: TaskTurn, last: TaskTurn)? {
        var span: (first: TaskTurn, last: TaskTurn)?
        func end(_ condition: String, _ value: Int64, _ order: String) throws -> TaskTurn? {
            try database.first(
                """
                SELECT \(TaskPlaces.sql), id FROM tasks WHERE \(condition) AND state < \(state: .completed)
                ORDER BY 1 \(order), 2 \(order) LIMIT 1
                """, .integer(value), body: Self.turn)
        }
        func take(_ condition: String, _ value: Int64) throws {
            guard let first = try end(condition, value, "ASC"), let last = try end(condition, value, "DESC") else {
                return
            }
            span = (min(span?.first ?? first, first), max(span?.last ?? last, last))
        }
        switch unit {
        case .tasks(let ids): for id in ids { try take("id = ?", id.rawValue) }
        case .folder(let folder): for folder in try sets.subtree(of: folder) { try take("folder = ?", folder) }
        }
        return span
    }

    private static func turn(_ row: SQLiteStatement) -> TaskTurn {
        TaskTurn(place: TaskPlaces.within(row.integer(0)), id: row.integer(1))
    }

    func lanes(of batch: BatchID) throws -> [Int64] {
        try database.rows("SELECT id FROM lanes WHERE batch = ?", .integer(batch.rawValue)) { $0.integer(0) }
    }

    /// The nearest turn in a batch on a side of another one, of what stands in line, is at hand, waits or is paused. What runs has had its
    /// turn.
    func neighbour(_ lanes: [Int64], _ side: TaskTurn.Side, _ turn: TaskTurn) throws -> TaskTurn? {
        var turns: [TaskTurn] = []
        let order = side == .before ? "DESC" : "ASC"
        let ready = "state = \(state: .queued) AND claimed = 0"
        for lane in lanes {
            for (place, index, condition) in [
                ("rank", "tasks_ranked", "\(ready) AND \(TaskTurn.moved(side, "?2", "?3"))"),
                ("id << 24", "tasks_ready", "\(ready) AND \(TaskTurn.found(side, "?2", "?3"))"),
                (
                    TaskPlaces.sql, "tasks_resting",
                    "state IN (\(states: [.waiting, .paused])) AND \(TaskTurn.any(side, "?2", "?3"))"
                ),
            ] {
                let nearest = try database.first(
                    """
                    SELECT \(place), id FROM tasks INDEXED BY \(index) WHERE lane = ?1 AND \(condition)
                    ORDER BY \(place == "id << 24" ? "" : "\(place) \(order), ")id \(order) LIMIT 1
                    """, .integer(lane), .integer(turn.place), .integer(turn.id), body: Self.turn)
                if let nearest { turns.append(nearest) }
            }
        }
        let known = Set(lanes)
        turns += try database.rows(
            "SELECT \(TaskPlaces.sql), id, lane FROM tasks INDEXED BY tasks_claimed WHERE claimed = 1 AND state = \(state: .queued)"
        ) { known.contains($0.integer(2)) ? Self.turn($0) : nil }.compactMap { $0 }
            .filter { side == .before ? $0 < turn : $0 > turn }
        return side == .before ? turns.max() : turns.min()
    }

    /// Puts it there; a folder's tasks that are still to be found go there, too.
    func place(_ unit: TaskSets.Unit, at rank: Int64) throws {
        switch unit {
        case .tasks(let ids):
            for id in ids {
                try database.run(
                    "UPDATE tasks SET rank = ? WHERE id = ?", .integer(rank), .integer(id.rawValue))
            }
        case .folder(let top):
            for folder in try sets.subtree(of: top) {
                try database.run(
                    "UPDATE tasks SET rank = ? WHERE folder = ? AND state < \(state: .completed)", .integer(rank),
                    .integer(folder))
                try database.run(
                    "UPDATE folders SET rank = ? WHERE id = ?", SQLiteValue(folder == top ? rank : nil),
                    .integer(folder))
            }
            queue.forgetPaths()
        }
    }
}
