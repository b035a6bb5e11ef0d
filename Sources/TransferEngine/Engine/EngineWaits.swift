import TransferQueue

/// Work under way that is no attempt, and who waits for the end of work. A value of the engine.
struct EngineWaits {
    typealias Waiter = CheckedContinuation<Void, Never>

    /// Number of claims, refreshes, walks and syncs under way.
    var underWay = 0
    /// Tasks whose file is there already and is being compared with the one that is wanted.
    var comparisons: Set<TaskClaim> = []
    /// Downloads that were stopped and of which not all is recorded yet, while the stop waits for that.
    var unrecorded: Set<TaskClaim> = []
    /// Callers that wait until nothing goes on.
    var idle: [Waiter] = []
    /// Stops that wait for what runs to be over.
    var drain: [Waiter] = []
}
