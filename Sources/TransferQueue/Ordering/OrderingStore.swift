import SQLiteConnection
import TransferModel

/// The order of batches, and of what is in a batch.
struct OrderingStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let sets: TaskSets
    let finder: NodeFinder
    let undoLog: UndoLog

    /// Moves nodes, which keep the order in which they are named.
    /// - Parameters:
    ///   - place: what a batch, task or folder is put before has to be of its kind and place.
    ///   - asOne: the tasks are one group, in the order of their numbers, and stand or go together.
    ///   - earlier: a file of the same group that an earlier page has moved.
    func move(
        _ nodes: [NodeID], to place: MovePlace, asOne: Bool = false, with earlier: TaskID? = nil, joining: Int64? = nil
    ) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        if asOne { return try moveGroup(nodes, to: place, with: earlier, page) }
        let backwards = place == .top || place == .later
        var places: BatchPlaces?
        var left = nodes.count
        var nodeChange = try finder.forEach(backwards ? nodes.reversed() : nodes) { node, target, nodeChange in
            defer { left -= 1 }
            let room = Room(units: left, isBackwards: backwards)
            switch target {
            case .batch(let batch, let root):
                var known = try places ?? batchPlaces()
                places = nil
                defer { places = known }
                return try move(node, batch, root, to: place, in: &known, page)
            case .folder(let batch, let folder, _):
                return try move(node, batch, TaskSets.Unit.folder(folder), to: place, room, page, &nodeChange)
            case .task(let row):
                return row.state.isTerminal
                    ? finder.refused(node, "\(node) is over: its place does not matter any more")
                    : try move(node, row.batch, TaskSets.Unit.tasks([row.id]), to: place, room, page, &nodeChange)
            }
        }
        for (batch, position) in places?.changed ?? [] {
            try database.run(
                "UPDATE batches SET position = ? WHERE id = ?", .integer(position), .integer(batch.rawValue))
        }
        if backwards { nodeChange.results.reverse() }
        return nodeChange.asOperation(page.operation)
    }

    // MARK: Batches

    private func batchPlaces() throws -> BatchPlaces {
        BatchPlaces(
            try database.rows(
                "SELECT id, position, priority FROM batches INDEXED BY batches_unfinished WHERE finished_at IS NULL ORDER BY position"
            ) {
                BatchPlaces.Row(
                    id: BatchID(rawValue: $0.integer(0)), position: $0.integer(1), priority: $0.integer(2))
            })
    }

    /// Moves a batch in `places`, which are written when all are moved. What was before the change is noted once, with the first.
    private func move(
        _ node: NodeID, _ batch: BatchID, _ root: Int64, to place: MovePlace, in places: inout BatchPlaces,
        _ page: ChangePage
    ) throws -> NodeResult {
        if try finder.isOver(folder: root, in: batch) {
            return finder.refused(node, "\(node) is over: its place does not matter any more")
        }
        var before = UndoBefore()
        if !places.haveMoved { before.positions = places.positions }
        switch places.move(batch, to: place) {
        case .moved: break
        case .already: return NodeResult(id: node, result: .already)
        case .noBatch(let other):
            return finder.refused(node, "\(node) is a batch and \(other) is not: put it before a batch")
        case .noPlace(let other):
            let exists = try finder.target(.batch(other)) != nil
            return exists
                ? finder.refused(node, "\(other) is over: nothing can be put before it")
                : finder.refused(node, "there is no \(other) to put it before: see \(quoted: .list)")
        case .otherPriority(let other, let priority):
            let word = priority.rawValue
            return finder.refused(
                node,
                "\(other) has priority \(word), and that comes first: \(quoted: .set(.batch(batch), "--priority", "\(word)")), then move it"
            )
        }
        try undoLog.note(.move, node, batch: batch, before, page: page)
        queue.change.batches.insert(batch)
        queue.change.mayRun = true
        return NodeResult(id: node, result: .done)
    }

    // MARK: In a batch

    private func moveGroup(
        _ nodes: [NodeID], to place: MovePlace, with earlier: TaskID?, _ page: ChangePage
    ) throws -> NodeChange {
        var nodeChange = NodeChange()
        var rows: [TaskRow] = []
        for case .task(let id) in nodes {
            guard let row = try tasks.task(id), !row.state.isTerminal else {
                nodeChange.results.append(
                    finder.refused(.task(id), "\(id) is over: its place does not matter any more"))
                continue
            }
            rows.append(row)
        }
        guard let batch = rows.first?.batch else { return nodeChange }
        let unit = TaskSets.Unit.tasks(rows.map(\.id))
        // The place is looked up anew: the batch may have been given others meanwhile.
        if let earlier, let row = try tasks.task(earlier) {
            try undoLog.remember(unit, page)
            try self.place(unit, at: try turn(of: row.id.rawValue).place)
            try undoLog.note(.move, .task(rows[0].id), batch: batch, page: page)
            nodeChange.moved = rows.last?.id
            nodeChange.reordered.insert(batch)
            queue.change.note(wholly: batch)
            nodeChange.results += rows.map { NodeResult(id: .task($0.id), result: .done) }
            return nodeChange.asOperation(page.operation)
        }
        let room = Room(units: 1, isBackwards: false)
        let result = try move(.task(rows[0].id), batch, unit, to: place, room, page, &nodeChange)
        nodeChange.results += rows.map {
            NodeResult(id: .task($0.id), result: result.result, code: result.code, message: result.message)
        }
        return nodeChange.asOperation(page.operation)
    }

    private func move(
        _ node: NodeID, _ batch: BatchID, _ unit: TaskSets.Unit, to place: MovePlace, _ room: Room,
        _ page: ChangePage, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if case .folder(let folder) = unit, try finder.isOver(folder: folder, in: batch) {
            return finder.refused(node, "\(node) is over: its place does not matter any more")
        }
        let rank: Int64
        switch try find(place, batch, unit, room) {
        case .refused(let message): return finder.refused(node, message)
        case .already: return NodeResult(id: node, result: .already)
        case .at(let found): rank = found
        }
        // The places before the move are those that the others are compared with now.
        var before = UndoBefore()
        if case .folder(let folder) = unit { before.folderRanks = try undoLog.given(.rank, below: folder) }
        try undoLog.remember(unit, page)
        try self.place(unit, at: rank)
        try undoLog.note(.move, node, batch: batch, before, page: page)
        if case .tasks(let ids) = unit { nodeChange.moved = ids.last }
        nodeChange.reordered.insert(batch)
        queue.change.note(wholly: batch)
        queue.change.mayRun = true
        return NodeResult(id: node, result: .done)
    }

    private enum Found {
        case at(Int64)
        case already
        case refused(Advice)
    }

    private func find(
        _ place: MovePlace, _ batch: BatchID, _ unit: TaskSets.Unit, _ room: Room
    ) throws -> Found {
        guard let own = try span(of: unit) else { return .already }
        let lanes = try lanes(of: batch)
        func before(_ other: TaskTurn) throws -> Found { .at(try self.place(before: other, lanes, batch, room)) }
        switch place {
        case .top:
            guard let first = try neighbour(lanes, .behind, .first) else { return .at(own.first.place) }
            return own.first == first && isAlone(unit) ? .already : .at(first.place - TaskPlaces.gap)
        case .bottom:
            guard let last = try neighbour(lanes, .before, .last) else { return .at(own.first.place) }
            let isThere = try last.place > TaskPlaces.behindAll || !finder.isScanning(batch)
            return own.last == last && isAlone(unit) && isThere
                ? .already : .at(max(last.place, TaskPlaces.behindAll) + TaskPlaces.gap)
        case .earlier:
            guard let other = try neighbour(lanes, .before, own.first) else { return .already }
            return try before(other)
        case .later:
            guard let other = try neighbour(lanes, .behind, own.last) else { return .already }
            guard let next = try neighbour(lanes, .behind, other) else { return .at(other.place + TaskPlaces.gap) }
            return try before(next)
        case .before(let anchor):
            let other: TaskTurn
            switch try finder.target(anchor) {
            case .task(let row) where row.batch == batch:
                if row.state.isTerminal { return .refused("\(anchor) is over: nothing can be put before it") }
                if case .tasks(let ids) = unit, ids.contains(row.id) { return .already }
                other = try turn(of: row.id.rawValue)
            case .folder(batch, let folder, _):
                if case .folder(folder) = unit { return .already }
                guard let span = try span(of: .folder(folder)) else {
                    return .refused("\(anchor) is over: nothing can be put before it")
                }
                other = span.first
            case nil:
                return .refused(
                    "there is no \(anchor) to put it before: see \(quoted: AdvisedCommand("list", [.batch(batch)]))")
            case .some:
                return .refused("\(anchor) is not in \(batch): name a file or folder of \(batch), or move the batch")
            }
            let isThere = try own.first == other || neighbour(lanes, .before, other) == own.first
            return isThere && isAlone(unit) ? .already : try before(other)
        }
    }

    private func isAlone(_ unit: TaskSets.Unit) -> Bool {
        if case .tasks(let ids) = unit { return ids.count == 1 }
        return false
    }
}
