import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Taking back what changed an order or settings.
extension UndoStore {
    func takeBackOrder(_ step: UndoneStep, _ undoing: inout Undoing) throws {
        if step.movesBatch { try takeBackPlaces(step, undoing) }
        guard let node = step.node, let target = try finder.target(node) else { return }
        let claimed: [TaskID]
        switch target {
        case .batch: return
        case .folder(_, let id, _):
            for what in UndoLog.Given.allCases {
                guard let values = step.before[keyPath: what.before] else { continue }
                try give(what, values, below: id, undoing.standing)
            }
            queue.forgetPaths()
            claimed = try sets.claimed(below: id)
        case .task(let row):
            claimed = [row.id]
        }
        try counters.write()
        try undoLog.putBack(step, undoing.parts.records(of: step, target, .place, in: database))
        sets.noteMoves(in: step.batch)
        try attempts.stopEarly(claimed, of: step.batch, &undoing.nodeChange)
        undoing.nodeChange.reordered.insert(step.batch)
    }

    /// Batches stand as they stood before all of a change; or one of them does, where others of it stay moved.
    private func takeBackPlaces(_ step: UndoneStep, _ undoing: Undoing) throws {
        guard var heir = undoing.staysMoved[step.operation] else {
            guard let positions = step.before.positions else { return }
            if !undoing.standing.inherits(positions: positions) { try place(positions) }
            return
        }
        guard let before = try step.before.positions ?? undoLog.positions(before: step.operation) else { return }
        let batch = step.batch.rawValue
        if !undoing.standing.putsBack(batch, as: before) {
            let now = try database.rows("SELECT id, position FROM batches WHERE finished_at IS NULL") {
                [$0.integer(0), $0.integer(1)]
            }
            try place(BatchPositions.putBack(batch, as: before, in: now))
        }
        // One step of a change knows the order before it: one that stays, from now on.
        guard step.before.positions != nil else { return }
        heir.before.positions = before
        undoing.standing.note(heir, folder: nil)
        try undoLog.set(heir.before, of: heir.row)
    }

    private func place(_ positions: [[Int64]]) throws {
        for pair in positions where pair.count == 2 {
            try database.run(
                "UPDATE batches SET position = ?1 WHERE id = ?2 AND position <> ?1", .integer(pair[1]),
                .integer(pair[0]))
        }
        queue.change.mayRun = true
    }

    /// Folders have what they had; pairs of folder and value.
    private func give(
        _ what: UndoLog.Given, _ pairs: [[Int64]], below top: Int64, _ standing: StandingSteps
    ) throws {
        let column = what.rawValue
        let old = Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
        let above = try database.rows(
            """
            WITH RECURSIVE above (id, parent) AS (SELECT id, parent FROM folders WHERE id = ?
            UNION ALL SELECT f.id, f.parent FROM above JOIN folders f ON f.id = above.parent) SELECT id FROM above
            """, .integer(top)
        ) { $0.integer(0) }
        var later: [Int64: StandingSteps.Later] = [:]
        if let parent = above.dropFirst().first {
            later[parent] = above.dropFirst().reversed().reduce(.none) { standing.later(what, in: $1, above: $0) }
        }
        // A folder comes after the one that it is in.
        let below = try database.rows(
            """
            WITH RECURSIVE below (id, parent, value) AS (SELECT id, parent, \(column) FROM folders WHERE id = ?
            UNION ALL SELECT f.id, f.parent, f.\(column) FROM below JOIN folders f ON f.parent = below.id)
            SELECT id, parent, value FROM below
            """, .integer(top)
        ) { (id: $0.integer(0), parent: $0.optionalInteger(1), value: $0.optionalInteger(2)) }
        for folder in below {
            let heir = standing.later(
                what, in: folder.id, above: folder.parent.flatMap { later[$0] } ?? .none)
            later[folder.id] = heir
            if heir.exists {
                standing.give(old[folder.id], of: folder.id, what, to: heir)
            } else if folder.value != old[folder.id] {
                try database.run(
                    "UPDATE folders SET \(column) = ? WHERE id = ?", SQLiteValue(old[folder.id]), .integer(folder.id))
            }
        }
    }

    func takeBackSettings(_ step: UndoneStep, _ undoing: inout Undoing) throws {
        let before = step.before
        let id = SQLiteValue.integer(step.batch.rawValue)
        try limits.putBackLimit(before)
        if let priority = before.priority {
            try database.run("UPDATE batches SET priority = ? WHERE id = ?", .integer(priority), id)
        }
        if let urgent = before.urgent {
            try database.run("UPDATE batches SET urgent = ? WHERE id = ?", .integer(urgent ? 1 : 0), id)
        }
        if let name = before.name { try database.run("UPDATE batches SET name = ? WHERE id = ?", .text(name), id) }
        if let seconds = before.giveUp { try settings.setOptions(of: step.batch) { $0.giveUpAfterSeconds = seconds } }
        if let file = before.caFile { try settings.setOptions(of: step.batch) { $0.caFile = file.value } }
        if let pin = before.pin { try settings.setOptions(of: step.batch) { $0.pin = pin.value } }
        let target = try step.node.flatMap { try finder.target($0) }
        if let policy = before.ifExists, case .batch(let batch, let root)? = target {
            try settings.setIfExists(policy, of: batch, root: root, &undoing.nodeChange)
        }
        if let time = before.notBefore {
            switch target {
            case .batch(let batch, let root):
                try settings.setNotBefore(time.value, of: batch, root: root, &undoing.nodeChange)
            case .task(let row):
                try putBack([OwnTime(task: row.id, time: time.value, retryAt: before.retryAt)], &undoing)
            case .folder, nil: break
            }
        }
        queue.change.note(wholly: step.batch)
        queue.change.mayRun = true
    }
}
