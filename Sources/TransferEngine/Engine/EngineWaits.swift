import TransferQueue

/// Work under way that is no attempt, and who waits for the end of work. A value of the engine.
struct EngineWaits {
    typealias Waiter = CheckedContinuation<Void, Never>

    /// Number of claims, refreshes, walks and syncs under way.
    var underWay = 0
    /// Tasks whose file is there already and is being compared with the one that is wanted.
    var comparisons: Set<TaskClaim> = []
    /// Downloads that are broken off and whose last position is not recorded yet, as long as their stop waits for that: two seconds at most.
    /// One that is not here any more when its disk answers takes itself out of the queue's table `interrupted`.
    var unrecorded: Set<TaskClaim> = []
    /// Callers that wait until nothing goes on.
    var idle: [Waiter] = []
    /// Stops that wait for what runs to be over.
    var drain: [Waiter] = []
}
