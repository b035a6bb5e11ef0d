import SQLiteConnection
import TransferModel

/// The steps that stand while older ones are taken back: the heirs of these. What a later change has set of the same thing stays, and taking
/// that one back brings what was before both.
///
/// For one undo, which goes through all steps once, the newest first: it notes each step that stands, and asks the heirs of each that goes.
final class StandingSteps {
    /// A step that stands, with what it inherits.
    fileprivate final class Heir {
        let row: Int64
        var before: UndoBefore
        var hasInherited = false

        init(_ step: UndoneStep) {
            row = step.row
            before = step.before
        }
    }

    /// A node; the number of a task is that of no other batch's.
    private struct Owner: Hashable {
        let batch: BatchID?
        let node: NodeID

        init(batch: BatchID, node: NodeID) {
            if case .task = node { self.batch = nil } else { self.batch = batch }
            self.node = node
        }
    }

    /// Changes of the settings of a node, the newest first.
    private var settings: [Owner: [Heir]] = [:]
    /// Changes of what a folder, and those below it, give files that are still to be found; the newest first.
    private var folders: [UndoLog.Given: [Int64: [Heir]]] = [:]
    /// The oldest change of the order of batches.
    private var order: Heir?
    private var inherited: [Heir] = []

    /// Notes a step that stands, and is older than those noted so far.
    /// - Parameter folder: that its node is.
    func note(_ step: UndoneStep, folder: Int64?) {
        guard step.deed.changesOrder else { return }
        let heir = Heir(step)
        if step.deed != .move, let node = step.node {
            settings[Owner(batch: step.batch, node: node), default: []].append(heir)
        }
        if step.before.positions != nil { order = heir }
        guard let folder else { return }
        for what in UndoLog.Given.allCases where step.before[keyPath: what.before] != nil {
            folders[what, default: [:]][folder, default: []].append(heir)
        }
    }

    /// The settings that taking a step back puts back.
    func settings(of step: UndoneStep) -> UndoBefore {
        var before = step.before
        guard let node = step.node else { return before }
        for heir in (settings[Owner(batch: step.batch, node: node)] ?? []).reversed() {
            let old = heir.before
            before.give(to: &heir.before)
            if heir.before != old { note(heir) }
        }
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

    /// Returns true when a later change of a file's own time has inherited the time that it had.
    func inherits(time: Timestamp, of task: TaskID) -> Bool {
        let own = settings[Owner(batch: BatchID(rawValue: 0), node: .task(task))] ?? []
        guard let heir = own.last(where: { $0.before.notBefore != nil }) else { return false }
        (heir.before.notBefore, heir.before.retryAt) = (UndoBefore.Was(time.milliseconds), nil)
        note(heir)
        return true
    }

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
    func save(in database: SQLiteConnection) throws {
        for heir in inherited {
            try database.run(
                "UPDATE undo SET before = ? WHERE rowid = ?", .text(try StoredJSON.text(heir.before)),
                .integer(heir.row))
        }
    }
}

extension UndoneDeed {
    /// Changes of an order or of settings. They follow one another, and the last one counts.
    static let orders: [UndoneDeed] = [.move, .set, .runNow]

    var changesOrder: Bool { Self.orders.contains(self) }

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
