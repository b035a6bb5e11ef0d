import TransferModel
import TransferQueue

/// A lane with what is at hand of it. On the engine's loop.
final class Lane {
    var summary: LaneSummary
    /// Claimed tasks that have not started; the first `head` are gone.
    private var claimed: [ClaimedTask] = []
    private var head = 0
    /// Tasks that may be claimed, as far as the queue has told.
    var unclaimed: Int64
    var isClaiming = false
    /// Rises when the order changes: a claim that was made before it brings the wrong tasks.
    var generation = 0
    private(set) var window = SchedulerChoice.firstWindow
    var context: BatchContext?

    init(_ summary: LaneSummary) {
        self.summary = summary
        unclaimed = summary.ready
    }

    var ready: Int { claimed.count - head }

    /// The place of its next task, at hand or not.
    var next: Int64 { min(claimed.count > head ? claimed[head].place : .max, summary.next) }

    /// Less is at hand than should be.
    var isLow: Bool { SchedulerChoice.claim(ready: ready, window: window) > 0 }

    func add(_ tasks: [ClaimedTask]) {
        if head > 0 {
            claimed.removeFirst(head)
            head = 0
        }
        claimed += tasks
    }

    /// The next task; the caller has seen that there is one.
    func take() -> ClaimedTask {
        defer {
            head += 1
            if head == claimed.count {
                claimed.removeAll(keepingCapacity: true)
                head = 0
                // Nothing at hand while the queue still works on the claim: too little was asked for.
                if isClaiming { window = SchedulerChoice.window(after: window) }
            }
        }
        return claimed[head]
    }

    /// Takes tasks out that are not to run; all of them when `wanted` is nil.
    func remove(_ wanted: Set<TaskClaim>?) -> [TaskClaim] {
        let removed = claimed[head...].map(\.claim).filter { wanted?.contains($0) ?? true }
        if removed.isEmpty { return [] }
        let gone = Set(removed)
        claimed = claimed[head...].filter { !gone.contains($0.claim) }
        head = 0
        return removed
    }
}
