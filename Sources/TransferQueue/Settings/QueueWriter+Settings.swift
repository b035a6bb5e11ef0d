package import TransferModel

/// Settings of nodes and of the engine, and what the engine keeps for itself.
extension QueueWriter {
    /// Changes priority, limit, time and the like of what is not over.
    package func set(
        _ nodes: [NodeID], _ settings: NodeSettings, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.settings.set(nodes, settings, joining: joining) }
    }

    // MARK: Limits

    /// Bytes a second of everything that has a limit of its own.
    package func limits() throws(QueueError) -> [LimitScope: Int64] { try look { try store.limits.limits() } }

    /// The whole engine's limits as they were set by hand.
    package func storedLimits() throws(QueueError) -> StoredLimits { try look { try store.limits.storedLimits() } }

    /// Keeps limits over the engine's end: its own (what is `nil` stays), and those of hosts and sessions (0 takes one away).
    /// - Returns: what names the change for an undo; `nil`: all of it was so before.
    @discardableResult
    package func changeLimits(
        _ limits: StoredLimits = StoredLimits(), scoped: [LimitScope: Int64] = [:]
    ) throws(QueueError) -> Int64? {
        try change { try store.limits.change(limits, scoped) }
    }

    // MARK: The engine's memory

    /// Keeps what has crossed the wire today, and when. It outlives a kill of the engine at once, and a power cut some time later.
    package func keep(_ count: DayCount, _ speeds: SpeedRecord) throws(QueueError) {
        try change(.later) { try store.memory.keep(count, speeds) }
    }

    /// The speeds that were kept last; `nil`: none ever were.
    package func storedSpeeds() throws(QueueError) -> SpeedRecord? { try look { try store.memory.storedSpeeds() } }

    /// The day's count that was kept last, of whichever day; `nil`: none ever was.
    package func storedDay() throws(QueueError) -> DayCount? { try look { try store.memory.storedDay() } }

    /// The wall clock was set back: attempts that began before this call began by another clock than those that begin after it
    /// (`ClaimedTask.clockWasSetBack`), whatever either clock said.
    package func noteClockSetBack() throws(QueueError) { try change { store.queue.numbers.clock += 1 } }

    /// Keeps what was learnt of a host. Durable some time later: it can be learnt again.
    package func remember(host origin: String, facts: [UInt8]) throws(QueueError) {
        try change(.later) { try store.memory.remember(host: origin, facts: facts) }
    }

    /// Forgets what was learnt of hosts before a time, where nothing in the queue leads to them. Most by the name of their lane; what is
    /// kept under another origin, as that of a bucket's service, is learnt anew when it is needed.
    /// - Parameter limit: at most so many in one call.
    /// - Returns: the hosts that are forgotten; empty: there are no more.
    package func forgetHosts(learntBefore time: Timestamp, limit: Int) throws(QueueError) -> [String] {
        guard try look({ try store.memory.hasIdleHosts(learntBefore: time) }) else { return [] }
        return try change(.later) { try store.memory.forgetIdleHosts(learntBefore: time, limit: limit) }
    }

    /// Facts learnt of each host, by its origin.
    package func hosts() throws(QueueError) -> [String: [UInt8]] {
        try look { try store.memory.hosts() }
    }
}
