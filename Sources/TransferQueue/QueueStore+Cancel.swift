import SQLiteConnection
import TransferModel

/// Cancelling, taking a cancel back, and starting anew.
extension QueueStore {
    /// How long a cancel can be taken back.
    static let graceTime: Duration = .seconds(10)

    /// - Parameter joining: this is more of the last cancel, to be taken back with it.
    func cancel(_ nodes: [NodeID], joining: Bool = false) throws -> NodeChange {
        let now = clock()
        // What is long past the grace time is of no use to anyone.
        try database.run("DELETE FROM undo WHERE at < ?", .integer(now.milliseconds - 3_600_000))
        let operation = (try database.integer("SELECT max(operation) FROM undo") ?? 0) + (joining ? 0 : 1)
        return try forEach(nodes) { node, target, change in
            let first = numbers.event
            let batch: BatchID
            let result: NodeResult
            switch target {
            case .batch(let id, let root):
                batch = id
                result = try cancel(node, id, root, isWhole: true, at: now, &change)
            case .folder(let id, let folder, _):
                batch = id
                result = try cancel(node, id, folder, isWhole: false, at: now, &change)
            case .task(let row):
                batch = row.batch
                result = try cancel(node, row, at: now, &change)
            }
            if result.result == .done {
                // The grace time begins when it is done: a million files take seconds.
                try database.run(
                    "INSERT INTO undo VALUES (?, ?, ?, ?, ?, ?)", .integer(operation), .text(try StoredJSON.text(node)),
                    .integer(batch.rawValue), .integer(clock().milliseconds), .integer(first),
                    .integer(numbers.event - 1))
            }
            return result
        }
    }

    private func cancel(
        _ node: NodeID, _ batch: BatchID, _ top: Int64, isWhole: Bool, at now: Timestamp, _ change: inout NodeChange
    ) throws -> NodeResult {
        if try isOver(folder: top, in: batch) {
            let isCancelled = try database.integer("SELECT completed + failed FROM folders WHERE id = ?", .integer(top))
            return isCancelled == 0
                ? NodeResult(id: node, result: .already) : refused(node, "\(node) is over: nothing is left to cancel")
        }
        let folders = try subtree(of: top)
        for row in try claimed(in: Set(folders)) {
            try stop(row, as: .cancelled, "cancelled", &change)
            try append(.taskCancelled, batch: batch, task: row.id, at: now)
        }
        try writeCounters()
        let events = """
            INSERT INTO events (seq, at, type, batch, task) SELECT row_number() OVER () + ?2, ?3, 5, ?4, id
            FROM tasks WHERE folder = ?1 AND state IN (1, 2, 3, 4, 5)
            """
        for folder in try withTasks(folders, states: "1, 2, 3, 4, 5") {
            try database.run(
                events, .integer(folder), .integer(numbers.event - 1), .integer(now.milliseconds),
                .integer(batch.rawValue))
            numbers.event += database.changes
            try move(
                .directly(in: folder, states: "1, 2, 3, 4, 5"), to: "8",
                also: "claimed = 0, finished_at = \(now.milliseconds)")
        }
        self.change.lastEvent = EventSequence(rawValue: numbers.event - 1)
        try stopWalks(batch, isWhole ? nil : folders)
        try settleSets(batch)
        return NodeResult(id: node, result: .done)
    }

    private func cancel(
        _ node: NodeID, _ old: TaskRow, at now: Timestamp, _ change: inout NodeChange
    ) throws -> NodeResult {
        if old.state == .cancelled { return NodeResult(id: node, result: .already) }
        if old.state.isTerminal { return refused(node, "\(node) is over: nothing is left to cancel") }
        if old.claimed {
            try stop(old, as: .cancelled, "cancelled", &change)
        } else {
            var row = old
            let oldDetails = try details(row)
            var details = oldDetails
            details.clearWait()
            row.state = .cancelled
            row.finishedAt = now.milliseconds
            try save(&row, was: old, details, was: oldDetails)
        }
        try append(.taskCancelled, batch: old.batch, task: old.id, at: now)
        return NodeResult(id: node, result: .done)
    }

    // MARK: Walks

    /// No more is listed below some folders, or (nil) in the whole batch. Negative numbers and progress 3 and 4 remember
    /// what an undo has to take up again.
    private func stopWalks(_ batch: BatchID, _ folders: [Int64]?) throws {
        let isScanning = try database.integer("SELECT scanning FROM batches WHERE id = ?", .integer(batch.rawValue))
        guard isScanning == 1 else { return }
        if let folders {
            for folder in folders {
                try database.run("UPDATE folders SET walk = -walk WHERE id = ? AND walk > 0", .integer(folder))
            }
            return
        }
        try database.run(
            "UPDATE folders SET walk = -walk WHERE walk IN (SELECT id FROM sources WHERE batch = ?)",
            .integer(batch.rawValue))
        try database.run(
            "UPDATE sources SET progress = progress + 3 WHERE batch = ? AND progress < 2", .integer(batch.rawValue))
        try database.run("UPDATE batches SET scanning = 0 WHERE id = ?", .integer(batch.rawValue))
    }

    private func restartWalks(_ batch: BatchID) throws {
        // Listings that were broken off begin again.
        walkedHere = []
        try database.run(
            "UPDATE sources SET progress = progress - 3 WHERE batch = ? AND progress > 2", .integer(batch.rawValue))
        try database.run(
            "UPDATE folders SET walk = -walk WHERE walk IN (SELECT -id FROM sources WHERE batch = ?)",
            .integer(batch.rawValue))
        try database.run(
            """
            UPDATE sources SET progress = 1 WHERE batch = ? AND progress = 2
            AND EXISTS (SELECT 1 FROM folders WHERE walk = sources.id)
            """, .integer(batch.rawValue))
        try database.run(
            """
            UPDATE batches SET scanning = 1 WHERE id = ?1
            AND EXISTS (SELECT 1 FROM sources WHERE batch = ?1 AND progress < 2)
            """, .integer(batch.rawValue))
    }

    // MARK: Undo

    func undo(_ nodes: [NodeID], now: Timestamp) throws -> NodeChange {
        struct Cancel {
            let row: Int64
            let operation: Int64
            let node: NodeID
            let batch: BatchID
            let events: (Int64, Int64)
        }
        let recent = try database.rows(
            "SELECT rowid, operation, node, batch, first_event, last_event FROM undo WHERE at >= ? ORDER BY rowid DESC",
            .integer(now.advanced(by: .zero - Self.graceTime).milliseconds)
        ) { row -> Cancel? in
            guard let node = StoredJSON.value(NodeID.self, row.text(2)) else { return nil }
            return Cancel(
                row: row.integer(0), operation: row.integer(1), node: node, batch: BatchID(rawValue: row.integer(3)),
                events: (row.integer(4), row.integer(5)))
        }.compactMap { $0 }
        let chosen: [Cancel]
        if nodes.isEmpty {
            chosen = recent.filter { $0.operation == recent.first?.operation }
        } else {
            chosen = nodes.compactMap { node in recent.first { $0.node == node } }
        }
        var change = NodeChange()
        for cancel in chosen {
            try takeBack(cancel.events.0, cancel.events.1, in: cancel.batch)
            try database.run("DELETE FROM undo WHERE rowid = ?", .integer(cancel.row))
            change.results.append(NodeResult(id: cancel.node, result: .done))
        }
        for node in nodes where !chosen.contains(where: { $0.node == node }) {
            // It was a part of what has just been taken back.
            if let now = try cancelled(node), !now.isCancelled, chosen.contains(where: { $0.batch == now.batch }) {
                change.results.append(NodeResult(id: node, result: .already))
                continue
            }
            change.results.append(
                try target(node) == nil
                    ? NodeResult(id: node, result: .refused, code: .noSuchObject, message: "there is no \(node)")
                    : refused(
                        node, "no cancel of \(node) can be taken back any more: 'martlet retry \(node)' starts it anew")
            )
        }
        return change
    }

    /// The node's batch, and whether anything of the node is cancelled.
    private func cancelled(_ node: NodeID) throws -> (batch: BatchID, isCancelled: Bool)? {
        switch try target(node) {
        case .batch(let batch, let folder), .folder(let batch, let folder, _):
            try writeCounters()
            let count = try database.integer("SELECT cancelled FROM folders WHERE id = ?", .integer(folder)) ?? 0
            return (batch, count > 0)
        case .task(let row): return (row.batch, row.state == .cancelled)
        case nil: return nil
        }
    }

    private func takeBack(_ first: Int64, _ last: Int64, in batch: BatchID) throws {
        try writeCounters()
        try move(
            .cancelled(byEvents: first, last), to: "CASE WHEN flags & 1 THEN 5 ELSE 1 END",
            also: "finished_at = NULL, run = run + 1")
        try pauseBelowPausedFolders(batch)
        try restartWalks(batch)
        try settleSets(batch)
        var payload = EventPayload()
        payload.message = "the cancel was taken back"
        try append(.resumed, batch: batch, payload: payload)
    }

    private func pauseBelowPausedFolders(_ batch: BatchID) throws {
        let paused = try database.rows(
            "SELECT id FROM folders INDEXED BY folders_paused WHERE batch = ? AND paused = 1", .integer(batch.rawValue)
        ) { $0.integer(0) }
        if paused.isEmpty { return }
        try writeCounters()
        for top in paused {
            for folder in try withTasks(subtree(of: top), states: "1") {
                try move(.directly(in: folder, states: "1"), to: "5")
                try writeCounters()
            }
        }
    }
}
