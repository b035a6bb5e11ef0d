import SQLiteConnection
import TransferModel

/// Where tasks stand in their batch: as they were found, each with room for others before it.
enum TaskPlaces {
    static let gap: Int64 = 1 << 24
    /// Behind whatever is still to be found.
    static let behindAll: Int64 = 1 << 62

    /// Of a task that nobody has moved.
    static func found(_ id: TaskID) -> Int64 { id.rawValue << 24 }

    /// The same in SQL, of a row of `tasks`.
    static let sql = "ifnull(rank, id << 24)"
}

/// The order of batches, and of what is in a batch.
extension QueueStore {
    /// Moves nodes, which keep the order in which they are named.
    /// - Parameters:
    ///   - place: what a batch, task or folder is put before has to be of its kind and place.
    ///   - asOne: the tasks are one group, in the order of their numbers, and stand or go together.
    ///   - rank: the place that an earlier page of the same group was given.
    func move(_ nodes: [NodeID], to place: MovePlace, asOne: Bool = false, rank: Int64? = nil, joining: Int64? = nil)
        throws -> NodeChange
    {
        let operation = try operation(joining: joining)
        if asOne { return try moveGroup(nodes, to: place, rank: rank, operation) }
        let backwards = place == .top || place == .later
        var change = try forEach(backwards ? nodes.reversed() : nodes) { node, target, change in
            switch target {
            case .batch(let batch, let root): try move(node, batch, root, to: place, operation)
            case .folder(let batch, let folder, _):
                try move(node, batch, Unit.folder(folder), to: place, operation, &change)
            case .task(let row):
                row.state.isTerminal
                    ? refused(node, "\(node) is over: its place does not matter any more")
                    : try move(node, row.batch, Unit.tasks([row.id]), to: place, operation, &change)
            }
        }
        if backwards { change.results.reverse() }
        return change.asOperation(operation)
    }

    // MARK: Batches

    private func move(
        _ node: NodeID, _ batch: BatchID, _ root: Int64, to place: MovePlace, _ operation: Int64
    ) throws -> NodeResult {
        if try isOver(folder: root, in: batch) {
            return refused(node, "\(node) is over: its place does not matter any more")
        }
        let all = try database.rows(
            "SELECT id, position, priority FROM batches INDEXED BY batches_unfinished WHERE finished_at IS NULL ORDER BY position"
        ) { (id: BatchID(rawValue: $0.integer(0)), position: $0.integer(1), priority: $0.integer(2)) }
        guard let own = all.first(where: { $0.id == batch }) else { return NodeResult(id: node, result: .already) }
        var order = all.map(\.id).filter { $0 != batch }
        let equals = all.filter { $0.priority == own.priority }.map(\.id)
        // It stands somewhere among its equals.
        let here = equals.firstIndex(of: batch) ?? 0
        let anchor: BatchID?
        switch place {
        case .top: anchor = order.first
        case .bottom: anchor = nil
        case .earlier:
            if here == 0 { return NodeResult(id: node, result: .already) }
            anchor = equals[here - 1]
        case .later:
            if here + 1 == equals.count { return NodeResult(id: node, result: .already) }
            // Behind the next of its equals, wherever the one after that is.
            let next = order.firstIndex(of: equals[here + 1]) ?? 0
            anchor = order.indices.contains(next + 1) ? order[next + 1] : nil
        case .before(.batch(let other)):
            if other == batch { return NodeResult(id: node, result: .already) }
            guard let row = all.first(where: { $0.id == other }) else {
                let exists = try target(.batch(other)) != nil
                return exists
                    ? refused(node, "\(other) is over: nothing can be put before it")
                    : refused(node, "there is no \(other) to put it before: see 'martlet list'")
            }
            guard row.priority == own.priority else {
                let word = TransferPriority(stored: row.priority).rawValue
                return refused(
                    node,
                    "\(other) has priority \(word), and that comes first: 'martlet set \(batch) --priority \(word)', then move it"
                )
            }
            anchor = other
        case .before(let other):
            return refused(node, "\(node) is a batch and \(other) is not: put it before a batch")
        }
        order.insert(batch, at: anchor.flatMap { order.firstIndex(of: $0) } ?? order.endIndex)
        if order == all.map(\.id) { return NodeResult(id: node, result: .already) }
        var before = UndoBefore()
        before.positions = all.map { [$0.id.rawValue, $0.position] }
        // The same numbers, given out anew: nobody else's place changes.
        for (id, position) in zip(order, all.map(\.position)) {
            try database.run(
                "UPDATE batches SET position = ? WHERE id = ?", .integer(position), .integer(id.rawValue))
        }
        try note(.move, node, batch: batch, before, operation: operation)
        change.batches.insert(batch)
        change.mayRun = true
        return NodeResult(id: node, result: .done)
    }

    // MARK: In a batch

    /// What is moved as a whole.
    enum Unit {
        case tasks([TaskID])
        case folder(Int64)
    }

    private func moveGroup(
        _ nodes: [NodeID], to place: MovePlace, rank: Int64?, _ operation: Int64
    ) throws -> NodeChange {
        var change = NodeChange()
        var rows: [TaskRow] = []
        for case .task(let id) in nodes {
            guard let row = try task(id), !row.state.isTerminal else {
                change.results.append(refused(.task(id), "\(id) is over: its place does not matter any more"))
                continue
            }
            rows.append(row)
        }
        guard let batch = rows.first?.batch else { return change }
        let unit = Unit.tasks(rows.map(\.id))
        if let rank {
            try remember(unit, operation)
            try self.place(unit, at: rank)
            change.rank = rank
            change.reordered.insert(batch)
            self.change.note(wholly: batch)
            change.results += rows.map { NodeResult(id: .task($0.id), result: .done) }
            return change.asOperation(operation)
        }
        let result = try move(.task(rows[0].id), batch, unit, to: place, operation, &change)
        change.results += rows.map {
            NodeResult(id: .task($0.id), result: result.result, code: result.code, message: result.message)
        }
        return change.asOperation(operation)
    }

    private func move(
        _ node: NodeID, _ batch: BatchID, _ unit: Unit, to place: MovePlace, _ operation: Int64,
        _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if case .folder(let folder) = unit, try isOver(folder: folder, in: batch) {
            return refused(node, "\(node) is over: its place does not matter any more")
        }
        var before = UndoBefore()
        if case .folder(let folder) = unit {
            before.folderRank = UndoBefore.Was(
                try database.integer("SELECT rank FROM folders WHERE id = ?", .integer(folder)))
        }
        let rank: Int64
        switch try find(place, node, batch, unit) {
        case .refused(let message): return refused(node, message)
        case .already: return NodeResult(id: node, result: .already)
        case .at(let found): rank = found
        }
        try remember(unit, operation)
        try self.place(unit, at: rank)
        try note(.move, node, batch: batch, before, operation: operation)
        nodeChange.rank = rank
        nodeChange.reordered.insert(batch)
        change.note(wholly: batch)
        change.mayRun = true
        return NodeResult(id: node, result: .done)
    }

    private enum Found {
        case at(Int64)
        case already
        case refused(String)
    }

    private func find(_ place: MovePlace, _ node: NodeID, _ batch: BatchID, _ unit: Unit) throws -> Found {
        guard let own = try span(of: unit) else { return .already }
        let lanes = try lanes(of: batch)
        switch place {
        case .top:
            guard let first = try neighbour(lanes, behind: .min) else { return .at(own.first) }
            return own.first == first && isAlone(unit) ? .already : .at(first - TaskPlaces.gap)
        case .bottom:
            let last = try neighbour(lanes, before: .max) ?? 0
            let isThere = own.last == last && last > TaskPlaces.behindAll && isAlone(unit)
            return isThere ? .already : .at(max(last, TaskPlaces.behindAll) + TaskPlaces.gap)
        case .earlier:
            guard let other = try neighbour(lanes, before: own.first) else { return .already }
            return .at(try rank(before: other, batch))
        case .later:
            guard let other = try neighbour(lanes, behind: own.last) else { return .already }
            guard let next = try neighbour(lanes, behind: other) else { return .at(other + TaskPlaces.gap) }
            return .at(try rank(before: next, batch))
        case .before(let anchor):
            switch try target(anchor) {
            case .task(let row) where row.batch == batch:
                if row.state.isTerminal { return .refused("\(anchor) is over: nothing can be put before it") }
                if case .tasks(let ids) = unit, ids.contains(row.id) { return .already }
                return .at(try rank(before: try separate(row), batch))
            case .folder(batch, let folder, _):
                guard let span = try span(of: .folder(folder)) else {
                    return .refused("\(anchor) is over: nothing can be put before it")
                }
                return .at(try rank(before: span.first, batch))
            case nil: return .refused("there is no \(anchor) to put it before: see 'martlet list \(batch)'")
            case .some:
                return .refused("\(anchor) is not in \(batch): name a file or folder of \(batch), or move the batch")
            }
        }
    }

    private func isAlone(_ unit: Unit) -> Bool {
        if case .tasks(let ids) = unit { return ids.count == 1 }
        return false
    }

    /// The place of a task that shares it with none before it.
    private func separate(_ row: TaskRow) throws -> Int64 {
        let own = try place(of: row.id)
        let shares =
            try database.integer(
                "SELECT 1 FROM tasks INDEXED BY tasks_ranked WHERE lane = ? AND state = 1 AND claimed = 0 AND rank = ? AND id < ? LIMIT 1",
                .integer(row.lane), .integer(own), .integer(row.id.rawValue)) != nil
        guard shares else { return own }
        try renumber(row.batch)
        return try place(of: row.id)
    }

    private func place(of task: TaskID) throws -> Int64 {
        try database.integer("SELECT \(TaskPlaces.sql) FROM tasks WHERE id = ?", .integer(task.rawValue)) ?? 0
    }

    /// A place just before another one.
    private func rank(before place: Int64, _ batch: BatchID) throws -> Int64 {
        let lanes = try lanes(of: batch)
        guard let lower = try neighbour(lanes, before: place) else { return place - TaskPlaces.gap }
        if place - lower > 1 { return lower + (place - lower) / 2 }
        // No room: everybody gets a new number, which happens once in many moves to the same place.
        let rank = try database.integer(
            """
            SELECT count(*) FROM tasks t JOIN lanes l ON l.id = t.lane WHERE l.batch = ?1 AND t.state < 6
            AND ifnull(t.rank, t.id << 24) < ?2
            """, .integer(batch.rawValue), .integer(place))
        try renumber(batch)
        let first = try database.integer("SELECT first_task FROM batches WHERE id = ?", .integer(batch.rawValue)) ?? 0
        return ((first + (rank ?? 0)) << 24) - TaskPlaces.gap / 2
    }

    /// Gives all tasks of a batch that are not over places with room between them, in the order in which they stand.
    private func renumber(_ batch: BatchID) throws {
        try database.run(
            """
            UPDATE tasks SET rank = n.place FROM (SELECT t.id AS id,
            (b.first_task + row_number() OVER (ORDER BY ifnull(t.rank, t.id << 24), t.id) - 1) << 24 AS place
            FROM tasks t JOIN lanes l ON l.id = t.lane JOIN batches b ON b.id = l.batch
            WHERE l.batch = ?1 AND t.state < 6) n WHERE n.id = tasks.id
            """, .integer(batch.rawValue))
    }

    /// The first and last place of what is not over in it.
    private func span(of unit: Unit) throws -> (first: Int64, last: Int64)? {
        var span: (first: Int64, last: Int64)?
        func take(_ condition: String, _ value: Int64) throws {
            let found = try database.first(
                "SELECT min(\(TaskPlaces.sql)), max(\(TaskPlaces.sql)) FROM tasks WHERE \(condition) AND state < 6",
                .integer(value)
            ) { ($0.optionalInteger(0), $0.optionalInteger(1)) }
            guard let first = found?.0, let last = found?.1 else { return }
            span = (min(span?.first ?? first, first), max(span?.last ?? last, last))
        }
        switch unit {
        case .tasks(let ids): for id in ids { try take("id = ?", id.rawValue) }
        case .folder(let folder): for folder in try subtree(of: folder) { try take("folder = ?", folder) }
        }
        return span
    }

    private func lanes(of batch: BatchID) throws -> [Int64] {
        try database.rows("SELECT id FROM lanes WHERE batch = ?", .integer(batch.rawValue)) { $0.integer(0) }
    }

    /// The nearest place in a batch before or behind another one, of what stands in line or is at hand.
    private func neighbour(_ lanes: [Int64], before place: Int64) throws -> Int64? {
        try nearest(lanes, "max", "<", place, id: place == .max ? .max : (place + TaskPlaces.gap - 1) >> 24).max()
    }

    private func neighbour(_ lanes: [Int64], behind place: Int64) throws -> Int64? {
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
                WHERE lane = ? AND state = 1 AND claimed = 0 AND rank IS NOT NULL AND rank \(sign) ?
                """, .integer(lane), .integer(place))
            {
                places.append(rank)
            }
            if let task = try database.integer(
                """
                SELECT \(function)(id) FROM tasks INDEXED BY tasks_ready
                WHERE lane = ? AND state = 1 AND claimed = 0 AND rank IS NULL AND id \(sign) ?
                """, .integer(lane), .integer(id))
            {
                places.append(TaskPlaces.found(TaskID(rawValue: task)))
            }
        }
        let claimed = try database.rows(
            "SELECT lane, \(TaskPlaces.sql) FROM tasks INDEXED BY tasks_claimed WHERE claimed = 1 AND state = 1"
        ) { (lane: $0.integer(0), place: $0.integer(1)) }
        let known = Set(lanes)
        for task in claimed where known.contains(task.lane) {
            if sign == "<" ? task.place < place : task.place > place { places.append(task.place) }
        }
        return places
    }

    /// Puts it there; a folder's tasks that are still to be found go there, too.
    private func place(_ unit: Unit, at rank: Int64) throws {
        switch unit {
        case .tasks(let ids):
            for id in ids {
                try database.run(
                    "UPDATE tasks SET rank = ? WHERE id = ?", .integer(rank), .integer(id.rawValue))
            }
        case .folder(let top):
            for folder in try subtree(of: top) {
                try database.run(
                    "UPDATE tasks SET rank = ? WHERE folder = ? AND state < 6", .integer(rank), .integer(folder))
                try database.run(
                    "UPDATE folders SET rank = ? WHERE id = ?", SQLiteValue(folder == top ? rank : nil),
                    .integer(folder))
            }
            forgetPaths()
        }
    }
}
