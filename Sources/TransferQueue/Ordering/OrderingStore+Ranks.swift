import SQLiteConnection
import TransferModel

/// Places of tasks in their batch: found between others, and given.
extension OrderingStore {
    /// The place of a task that shares it with none before it.
    func separate(_ row: TaskRow) throws -> Int64 {
        let own = try place(of: row.id)
        let shares =
            try database.integer(
                """
                SELECT 1 FROM tasks INDEXED BY tasks_ranked
                WHERE lane = ? AND state = \(state: .queued) AND claimed = 0 AND rank = ? AND id < ? LIMIT 1
                """, .integer(row.lane), .integer(own), .integer(row.id.rawValue)) != nil
        guard shares else { return own }
        try renumber(row.batch)
        return try place(of: row.id)
    }

    func place(of task: TaskID) throws -> Int64 {
        let place = try database.integer("SELECT \(TaskPlaces.sql) FROM tasks WHERE id = ?", .integer(task.rawValue))
        return TaskPlaces.within(place ?? 0)
    }

    /// A place just before another one.
    func rank(before place: Int64, _ batch: BatchID) throws -> Int64 {
        let lanes = try lanes(of: batch)
        guard let lower = try neighbour(lanes, before: place) else { return place - TaskPlaces.gap }
        if place - lower > 1 { return lower + (place - lower) / 2 }
        // No room: everybody gets a new number, which happens once in many moves to the same place.
        let rank = try database.integer(
            """
            SELECT count(*) FROM tasks t JOIN lanes l ON l.id = t.lane WHERE l.batch = ?1 AND t.state < \(state: .completed)
            AND ifnull(t.rank, t.id << 24) < ?2
            """, .integer(batch.rawValue), .integer(place))
        try renumber(batch)
        let first = try database.integer("SELECT first_task FROM batches WHERE id = ?", .integer(batch.rawValue)) ?? 0
        return TaskPlaces.within((first &+ (rank ?? 0)) << 24) - TaskPlaces.gap / 2
    }

    /// Gives all tasks of a batch that are not over places with room between them, in the order in which they stand.
    private func renumber(_ batch: BatchID) throws {
        try database.run(
            """
            UPDATE tasks SET rank = n.place FROM (SELECT t.id AS id,
            (b.first_task + row_number() OVER (ORDER BY ifnull(t.rank, t.id << 24), t.id) - 1) << 24 AS place
            FROM tasks t JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
            WHERE l.batch = ?1 AND t.state < \(state: .completed)) n WHERE n.id = tasks.id
            """, .integer(batch.rawValue))
    }

    /// The first and last place of what is not over in it.
    func span(of unit: TaskSets.Unit) throws -> (first: Int64, last: Int64)? {
        var span: (first: Int64, last: Int64)?
        func take(_ condition: String, _ value: Int64) throws {
            let found = try database.first(
                "SELECT min(\(TaskPlaces.sql)), max(\(TaskPlaces.sql)) FROM tasks WHERE \(condition) AND state < \(state: .completed)",
                .integer(value)
            ) { ($0.optionalInteger(0), $0.optionalInteger(1)) }
            guard let first = (found?.0).map(TaskPlaces.within), let last = (found?.1).map(TaskPlaces.within) else {
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

    func lanes(of batch: BatchID) throws -> [Int64] {
        try database.rows("SELECT id FROM lanes WHERE batch = ?", .integer(batch.rawValue)) { $0.integer(0) }
    }

    /// The nearest place in a batch before or behind another one, of what stands in line or is at hand.
    func neighbour(_ lanes: [Int64], before place: Int64) throws -> Int64? {
        try nearest(lanes, "max", "<", place, id: place == .max ? .max : (place + TaskPlaces.gap - 1) >> 24).max()
    }

    func neighbour(_ lanes: [Int64], behind place: Int64) throws -> Int64? {
        try nearest(lanes, "min", ">", place, id: place == .min ? .min : place >> 24).min()
    }

    private func nearest(
        _ lanes: [Int64], _ function: String, _ sign: String, _ place: Int64, id: Int64
    ) throws -> [Int64] {
        var places: [Int64] = []
        for lane in lanes {
            if let rank = try database.integer(
                """
                SELECT \(function)(rank) FROM tasks INDEXED BY tasks_ranked
                WHERE lane = ? AND state = \(state: .queued) AND claimed = 0 AND rank IS NOT NULL AND rank \(sign) ?
                """, .integer(lane), .integer(place))
            {
                places.append(rank)
            }
            if let task = try database.integer(
                """
                SELECT \(function)(id) FROM tasks INDEXED BY tasks_ready
                WHERE lane = ? AND state = \(state: .queued) AND claimed = 0 AND rank IS NULL AND id \(sign) ?
                """, .integer(lane), .integer(id))
            {
                places.append(TaskPlaces.found(TaskID(rawValue: task)))
            }
        }
        let claimed = try database.rows(
            "SELECT lane, \(TaskPlaces.sql) FROM tasks INDEXED BY tasks_claimed WHERE claimed = 1 AND state = \(state: .queued)"
        ) { (lane: $0.integer(0), place: $0.integer(1)) }
        let known = Set(lanes)
        for task in claimed where known.contains(task.lane) {
            if sign == "<" ? task.place < place : task.place > place { places.append(task.place) }
        }
        return places.map(TaskPlaces.within)
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
