package import TransferModel

/// The durable result of a command on nodes, for who asked: one result for each, and what the engine has to break off because of it.
/// A `QueueChange` is what everybody hears of each commit.
package struct NodeChange: Sendable {
    package var results: [NodeResult] = []
    /// Claims that this has ended: their tasks may not run any more. The engine stops those that it has.
    package var stopped: [TaskClaim] = []
    /// Batches whose tasks have another order or priority now: what the engine has at hand of them goes back.
    package var reordered: Set<BatchID> = []
    /// Batches in which listing goes on or begins again: the engine has to be told of each.
    package var walked: Set<BatchID> = []
    /// The number by which exactly this is undone; `nil`: nothing was changed, or nothing of it can be undone.
    package var operation: Int64?
    /// Undo only: the kind of change that was undone.
    package var undone: UndoneDeed?
    /// Undo of a cancel only: true when its grace time was over, so that files of which only a part had arrived start over.
    package var startsAgain = false
    /// The place that a group was moved to, for its next page.
    package var rank: Int64?
    package init() {}

    /// With the number that takes it back, when there is anything to take back.
    func asOperation(_ number: Int64) -> NodeChange {
        var change = self
        if results.contains(where: { $0.result == .done }) { change.operation = number }
        return change
    }
}
