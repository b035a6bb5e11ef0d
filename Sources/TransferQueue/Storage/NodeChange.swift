package import TransferModel

/// The durable result of a command on nodes, for who asked: one result for each, and what the engine has to break off because of it.
/// A `QueueChange` is what everybody hears of each commit.
package struct NodeChange: Sendable {
    package var results: [NodeResult] = []
    /// Claims that this has ended: their tasks may not run any more. The engine stops those that it has.
    package var stopped: [TaskClaim] = []
    /// Claims of uploads that the engine itself gives back and begins anew, once it has the new settings (`ChangeDuties.settings`).
    package var begunAnew: [TaskClaim] = []
    /// Batches whose tasks have another order or priority now: what the engine has at hand of them goes back.
    package var reordered: Set<BatchID> = []
    /// Batches in which listing goes on or begins again: the engine has to be told of each.
    package var walked: Set<BatchID> = []
    /// The number by which exactly this is undone; `nil`: nothing was changed, or nothing of it can be undone.
    package var operation: Int64?
    /// The engine's duties by this change, beside those above.
    package var duties: ChangeDuties = []
    /// Batches that were given a login, or the same again: what waits for it goes on.
    package var loginsGiven: [BatchID] = []
    /// Undo only: the kind of the oldest change that was undone, for whoever reads it. It decides nothing.
    package var undone: UndoneDeed?
    /// Undo of a cancel only: true when its grace time was over, so that files of which only a part had arrived start over.
    package var startsAgain = false
    /// A file of the group that was moved; its next page shares the file's place.
    package var moved: TaskID?
    package init() {}

    /// With the number that takes it back, when there is anything to take back.
    func asOperation(_ number: Int64) -> NodeChange {
        var change = self
        if results.contains(where: { $0.result == .done }) { change.operation = number }
        return change
    }
}

/// Things that the engine has to read anew or keep on doing because of a change. Each step of a change adds its own, so that a change of
/// many kinds at once, as an undo of several nodes, owes all of them.
package struct ChangeDuties: OptionSet, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Settings of nodes are read anew, for what is under way, too.
    package static let settings = ChangeDuties(rawValue: 1)
    /// The limits of the engine, a host or a session are read anew.
    package static let limits = ChangeDuties(rawValue: 2)
    /// Something may be sent again: an engine that is about to stop goes on.
    package static let goesOn = ChangeDuties(rawValue: 4)
}

extension UndoneDeed {
    /// The engine's duties when a change of this kind is taken back.
    var dutiesWhenUndone: ChangeDuties {
        switch self {
        case .set: [.settings, .goesOn]
        case .limit: [.settings, .limits]
        case .cancel, .pause: .goesOn
        case .resume, .move, .runNow, .purge, .clear: []
        }
    }
}
