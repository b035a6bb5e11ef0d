package import TransferModel

/// Lanes, orders and tasks that the engine takes to run.
extension QueueWriter {
    /// The lanes of batches that are not finished, in the order priority, position, lane.
    package func lanes() throws(QueueError) -> [LaneSummary] {
        try look { try store.running.laneSummaries() }
    }

    /// Everything that the tasks of a batch need to run. `nil`: no such batch.
    package func order(of batch: BatchID) throws(QueueError) -> BatchOrder? {
        try look { try store.running.order(of: batch) }
    }

    /// Takes the next tasks of a lane, and marks durably that they may have begun before it returns.
    /// Nothing when the batch is held, paused, or may not begin before a time after `now`.
    package func claim(_ lane: LaneID, limit: Int, now: Timestamp) throws(QueueError) -> [ClaimedTask] {
        try change { try store.running.claim(lane, limit: limit, now: now) }
    }

    /// Gives claimed tasks back that were never started.
    package func release(unstarted claims: [TaskClaim]) throws(QueueError) {
        try change { try store.running.release(unstarted: claims) }
    }

    /// Asks for leave to give a download its final name. After it was granted, and until the attempt is over, nothing stops it; both are
    /// durable on return.
    package func leaveToPublish(_ claim: TaskClaim, as path: RawPath) throws(QueueError) -> PublishingLeave {
        try change { try store.running.leaveToPublish(claim, as: path) }
    }

    /// Returns true when another download of the same batch has this name, or is getting it: the rule for files that are there already does
    /// not decide about it.
    package func isNameGiven(_ path: RawPath, besides claim: TaskClaim) throws(QueueError) -> Bool {
        try look { try store.running.isGiven(path, besides: claim) }
    }

    /// Lets tasks stand in line again whose time has come.
    package func wakeDue(now: Timestamp) throws(QueueError) {
        try change { try store.waits.wakeDue(now: now) }
    }

    /// The wall clock was set, by days perhaps: what has ended since a time of the old one keeps its age, and what was cancelled or purged
    /// can be taken back as long as if nobody had set it.
    package func moveEnds(by step: Duration, at times: ClosedRange<Timestamp>) throws(QueueError) {
        try change { try store.waits.moveEnds(by: step, at: times) }
    }

    /// The wall clock was set back, or goes another way than that of an earlier engine: what was cancelled or purged was so by now at the
    /// latest. The time in which that can be taken back, and after which what it left is removed, begins now. A clock that was behind is set
    /// forward later: `moveEnds` moves along what this bounds.
    package func boundEnds(by now: Timestamp) throws(QueueError) {
        try change { try store.waits.boundEnds(by: now) }
    }

    /// The wall clock was set: moves the times after which tasks are tried again along with it. No task waits longer from now than it was to
    /// wait when its wait began.
    /// - Parameter longest: no such time is left that is further away from now.
    package func moveRetries(by step: Duration, now: Timestamp, within longest: Duration) throws(QueueError) {
        try change { try store.waits.moveRetries(by: step, now: now, within: longest) }
    }

    /// When the next task or batch is due by itself.
    package func nextWake() throws(QueueError) -> Timestamp? {
        try look { try store.waits.nextWake() }
    }

    /// Batches with tasks that lead to an origin (as in `LaneSummary`) and wait for one of these.
    package func batchesWaiting(for reasons: WaitReasons, origin: String) throws(QueueError) -> [BatchID] {
        try look { try store.waits.batchesWaiting(for: reasons, origin: origin) }
    }

    /// Takes these reasons to wait from tasks; one that is left with none stands in line again.
    package func clearWait(_ reasons: WaitReasons, of tasks: [TaskID]) throws(QueueError) {
        try change { for task in tasks { try store.waits.clearWait(reasons, of: task) } }
    }

    /// A reason to wait is gone, everywhere or only in a batch or for an origin (as in `LaneSummary`): tasks that waited
    /// for nothing else stand in line again.
    package func clearWait(
        _ reasons: WaitReasons, batch: BatchID? = nil, origin: String? = nil, because cause: String? = nil
    ) throws(QueueError) {
        try change { try store.waits.clearWait(reasons, batch: batch, origin: origin, because: cause) }
    }
}
