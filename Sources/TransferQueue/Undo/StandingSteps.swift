import SQLiteConnection
import TransferModel

/// The steps that stand while older ones are taken back: the heirs of these. What a later change has set of the same thing stays, and taking
/// that one back brings what was before both.
///
/// For one undo, which goes through all steps once, the newest first: it notes each step that stands, and asks the heirs of each that goes.
final class StandingSteps {
    /// A step that stands, with what it inherits.
    final class Heir {
        let row: Int64
        let page: ChangePage
        let deed: UndoneDeed
        /// The first and the last event of a cancel.
        fileprivate let events: (Int64, Int64)
        fileprivate var before: UndoBefore
        fileprivate var hasInherited = false

        fileprivate init(_ step: UndoneStep) {
            (row, page, deed, events, before) = (step.row, step.page, step.deed, step.events, step.before)
        }
    }

    /// A node, however its path was typed.
    private enum Owner: Hashable {
        case batch(BatchID)
        case folder(Int64)
        case task(TaskID)

        /// - Parameter folder: that `node` is; `nil`: there is none any more.
        init?(_ node: NodeID?, folder: Int64?) {
            switch node {
            case .batch(let batch): self = .batch(batch)
            case .task(let task): self = .task(task)
            case .folder:
                guard let folder else { return nil }
                self = .folder(folder)
            case nil: return nil
            }
        }
    }

    /// Changes of the settings of a node, the newest first.
    private var settings: [Owner: [Heir]] = [:]
    /// Changes of what a folder, and those below it, give files that are still to be found; the newest first.
    private var folders: [UndoLog.Given: [Int64: [Heir]]] = [:]
    /// The oldest change of the order of batches.
    private var order: Heir?
    /// Run-nows of a node, the newest first.
    private var runNows: [Owner: [Heir]] = [:]
    private var batchesWithFolders: Set<BatchID> = []
    /// Cancels of anything in a batch, the newest first.
    private var cancels: [BatchID: [Heir]] = [:]
    /// Tasks that cancels have ended, by the rows of these; read when they are asked for.
    private var ended: [Int64: Set<TaskID>] = [:]
    private var inherited: [Heir] = []

    /// Notes a step that stands, and is older than those noted so far.
    /// - Parameter folder: that its node is.
    func note(_ step: UndoneStep, folder: Int64?) {
        let heir = Heir(step)
        let owner = Owner(step.node, folder: folder)
        for subject in step.deed.subjects {
            switch subject {
            case .settings: if let owner { settings[owner, default: []].append(heir) }
            case .order:
                if step.before.positions != nil { order = heir }
                guard let folder else { continue }
                for what in UndoLog.Given.allCases where step.before[keyPath: what.before] != nil {
                    folders[what, default: [:]][folder, default: []].append(heir)
                }
            case .times:
                guard let owner else { continue }
                runNows[owner, default: []].append(heir)
                if case .folder = owner { batchesWithFolders.insert(step.batch) }
            case .ends: cancels[step.batch, default: []].append(heir)
            }
        }
    }

    /// Gives the settings of a step that is taken back to those which have set the same since.
    /// - Parameter folder: that its node is.
    /// - Returns: what is still to be put back. The time of a task is among it, which other changes take away, too: `laterTime`.
    func inherit(_ step: UndoneStep, folder: Int64?) -> UndoBefore {
        var before = step.before
        guard let owner = Owner(step.node, folder: folder) else { return before }
        if case .task = owner { (before.notBefore, before.retryAt) = (nil, nil) }
        for heir in (settings[owner] ?? []).reversed() {
            let old = heir.before
            before.give(to: &heir.before)
            if heir.before != old { note(heir) }
        }
        if case .task = owner { (before.notBefore, before.retryAt) = (step.before.notBefore, step.before.retryAt) }
        return before
    }

    /// Returns true when a later change of the order of batches has inherited this one.
    func inherits(positions: [[Int64]]) -> Bool {
        guard let order else { return false }
        // It knows batches that came after the older one.
        var places = Dictionary(positions.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
        order.before.positions = order.before.positions?.map { pair in
            pair.first.flatMap { places.removeValue(forKey: $0) }.map { [pair[0], $0] } ?? pair
        }
        order.before.positions? += places.map { [$0.key, $0.value] }
        note(order)
        return true
    }

    /// Returns true when a later change of the order of batches brings one of them back where it was.
    func putsBack(_ batch: Int64, as before: [[Int64]]) -> Bool {
        guard let order, let positions = order.before.positions else { return false }
        order.before.positions = BatchPositions.putBack(batch, as: before, in: positions)
        note(order)
        return true
    }

    // MARK: Times of tasks

    /// Returns true when folders of a batch were run now.
    func hasRunNowFolders(_ batch: BatchID) -> Bool { batchesWithFolders.contains(batch) }

    /// The oldest setting or run-now that has changed the time of a task.
    /// - Parameter folders: those that the task is in, up to the root; asked for only where `hasRunNowFolders`.
    func laterTime(of task: TaskID, in batch: BatchID, below folders: [Int64]) -> Heir? {
        let settings = settings[.task(task)] ?? []
        let places = [Owner.task(task), .batch(batch)] + folders.map { .folder($0) }
        return (places.map { runNows[$0]?.last } + [settings.last { $0.before.notBefore != nil }])
            .compactMap { $0 }.min { $0.row < $1.row }
    }

    /// The oldest cancel that has ended a task.
    func laterCancel(of task: TaskID, in batch: BatchID, _ database: SQLiteConnection) throws -> Heir? {
        try cancels[batch]?.last { try tasksEnded(by: $0, database).contains(task) }
    }

    private func tasksEnded(by cancel: Heir, _ database: SQLiteConnection) throws -> Set<TaskID> {
        if let known = ended[cancel.row] { return known }
        let tasks = try database.rows(
            "SELECT task FROM events WHERE seq BETWEEN ? AND ? AND type = \(event: .taskCancelled) AND task IS NOT NULL",
            .integer(cancel.events.0), .integer(cancel.events.1)
        ) { TaskID(rawValue: $0.integer(0)) }
        ended[cancel.row] = Set(tasks)
        return ended[cancel.row] ?? []
    }

    /// Gives the time that a task had to a later setting of it.
    func give(_ own: UndoStore.OwnTime, to later: Heir) {
        (later.before.notBefore, later.before.retryAt) = (UndoBefore.Was(own.time), own.retryAt)
        note(later)
    }

    // MARK: Folders

    /// The change that has last given folders something, and counts for a folder.
    struct Later {
        fileprivate let heir: Heir?
        var exists: Bool { heir != nil }
        static var none: Later { Later(heir: nil) }
    }

    /// The oldest change that has given a folder something itself; else, or if it is older, that which counts for the folder above.
    func later(_ what: UndoLog.Given, in folder: Int64, above: Later) -> Later {
        guard let own = folders[what]?[folder]?.last else { return above }
        guard let other = above.heir, other.row < own.row else { return Later(heir: own) }
        return above
    }

    /// Gives the value that a folder had to a later change of it.
    func give(_ value: Int64?, of folder: Int64, _ what: UndoLog.Given, to later: Later) {
        guard let heir = later.heir else { return }
        let old = heir.before
        heir.before[keyPath: what.before]?.removeAll { $0.first == folder }
        if let value { heir.before[keyPath: what.before]?.append([folder, value]) }
        if heir.before != old { note(heir) }
    }

    private func note(_ heir: Heir) {
        if !heir.hasInherited { inherited.append(heir) }
        heir.hasInherited = true
    }

    /// Writes down what was inherited.
    func save(in undoLog: UndoLog) throws {
        for heir in inherited {
            try undoLog.set(heir.before, of: heir.row)
        }
    }
}

extension UndoneStep {
    /// Changes the order of batches.
    var movesBatch: Bool { if case .batch? = node { deed == .move } else { false } }
}

extension UndoneDeed {
    /// State that changes set, of which the last one counts: taking an older change back leaves it, and gives what was before to the oldest
    /// newer change that stands.
    enum Subject {
        /// Settings of one node: pause, hold, priority, limit, name …
        case settings
        /// The order of batches; places and lanes of tasks, and what folders give tasks that are still to be found.
        case order
        /// The times of their own that tasks of a node had, which the change took away.
        case times
        /// The ends of tasks that are cancelled.
        case ends
    }

    /// The state that it sets. Every deed names it here, and so becomes the heir of older ones.
    var subjects: [Subject] {
        switch self {
        case .pause, .resume: [.settings]
        case .set: [.settings, .order]
        case .runNow: [.settings, .order, .times]
        case .move: [.order]
        case .cancel: [.ends]
        // Nothing of a batch that it hides is taken back before it.
        case .purge, .clear: []
        // A limit of the engine is put back only where it is still the one that was set: `UndoBefore.rateSet`, `limitsSet`.
        case .limit: []
        }
    }

    var changesOrder: Bool { subjects.contains(.order) }

    /// Deeds that change the same of a task as this one: its place, or its lane.
    var sameOfTasks: [UndoneDeed] { self == .move ? [.move] : [.set, .runNow] }

    /// The column of `tasks` for that.
    var columnOfTasks: String { self == .move ? "rank" : "lane" }
}

extension UndoLog.Given {
    /// The place of the values of before.
    var before: WritableKeyPath<UndoBefore, [[Int64]]?> {
        switch self {
        case .rank: \.folderRanks
        case .priority: \.folderPriorities
        }
    }
}
