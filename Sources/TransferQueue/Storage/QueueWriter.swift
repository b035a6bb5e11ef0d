import LinuxSystem
package import TransferModel

/// The writing half of the queue: an actor on a thread of its own.
///
/// What the engine records is gathered and committed together, at most 50 ms or 500 facts later; calls that return
/// something durable commit at once, and take along what was gathered. `commit()` from several tasks at the same time
/// is one commit. Nothing wakes the thread while nothing is recorded.
package actor QueueWriter {
    private let loop: any ActorLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let store: QueueStore
    private let feed: ChangeFeed
    /// Facts recorded from any thread, in order.
    private let inbox: FactInbox
    private nonisolated let clock: @Sendable () -> Timestamp
    package nonisolated let health = QueueHealth()
    private let interval: Duration

    /// Taken from the inbox and not committed: kept when a commit fails, and tried again.
    private var gathered: [RecordedFact] = []
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var timer: LoopTimer?
    /// The timer is the pause after a failure of the disk.
    private var isPausing = false
    private var isCommitDue = false
    private var isClosed = false

    /// Time that a fact waits for others to be committed with.
    package static let usualInterval: Duration = .milliseconds(50)
    /// Number of facts that are committed at once without waiting longer.
    static let groupSize = 500
    /// After a commit that failed.
    static let pauseAfterFailure: Duration = .seconds(1)

    init(
        loop: any ActorLoop, store: sending QueueStore, feed: ChangeFeed, clock: @escaping @Sendable () -> Timestamp,
        interval: Duration
    ) {
        self.loop = loop
        self.interval = interval
        self.store = store
        self.feed = feed
        self.clock = clock
        inbox = FactInbox()
    }

    deinit { loop.stop() }

    // MARK: Recording

    /// Records a fact about a claimed task. Never waits; it is durable after the next group commit.
    /// Facts under a claim that is not the task's last are dropped, and those of tasks that were cancelled or paused meanwhile where they no
    /// longer matter.
    package nonisolated func record(_ change: TaskFact, for claim: TaskClaim) {
        switch inbox.append(RecordedFact(claim: claim, change: change, time: clock())) {
        case .nothing: break
        case .begin: Task { await self.startInterval() }
        case .flush: Task { await self.commitGathered() }
        }
    }

    /// As whoever holds the task now. For tests.
    nonisolated func record(_ change: TaskFact, for task: TaskID) { record(change, for: .anyone(task)) }

    /// Returns when everything recorded before is durable. Throws `QueueError` when that failed; it is tried again later.
    package func commit() async throws {
        if isClosed { throw QueueError.closed }
        gathered += inbox.take()
        if gathered.isEmpty { return }
        try await withCheckedThrowingContinuation { continuation in
            waiters.append(continuation)
            if isCommitDue { return }
            isCommitDue = true
            // At the end of the turn, so that all who ask in it share one commit.
            loop.atEndOfTurn { self.assumeIsolated { $0.commitGathered() } }
        }
    }

    /// The first fact since the last commit starts the interval.
    private func startInterval() {
        if timer == nil { startTimer(after: interval) }
    }

    /// Sees to the next commit of what is gathered: after a failure of the disk when its pause is over, whatever a timer said before; a
    /// request that made no sense puts off nobody's facts.
    private func tryAgain(after error: QueueError) {
        if error.isOfStorage {
            // Others may fail for reasons of their own while it lasts: they do not prolong it.
            if !isPausing { startTimer(after: Self.pauseAfterFailure) }
            isPausing = true
            return
        }
        if waiters.isEmpty { startInterval() } else { startTimer(after: .zero) }
    }

    /// The next commit is due then.
    private func startTimer(after delay: Duration) {
        if isClosed { return }
        stopTimer()
        timer = loop.schedule(after: delay) {
            self.assumeIsolated { writer in
                (writer.timer, writer.isPausing) = (nil, false)
                writer.commitGathered()
            }
        }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func commitGathered() {
        isCommitDue = false
        // When it fails, `change` has told the waiters, and tries again what was gathered.
        try? change {}
    }

    /// One transaction: what was gathered, then `body`. Durable on return.
    func change<Result>(
        _ durability: QueueStore.Durability = .full, _ body: () throws -> Result
    ) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        gathered += inbox.take()
        let asked = waiters
        waiters = []
        do {
            let result = try store.transact(gathered.isEmpty ? durability : .full) {
                try store.facts.apply(gathered)
                return try body()
            }
            gathered = []
            stopTimer()
            isPausing = false
            health.note(nil)
            feed.publish(store.takeChange())
            for waiter in asked { waiter.resume() }
            // The change stands; what nobody refers to any more is tried again with the next, or at the next start.
            try? store.references.removeOrphans()
            return result
        } catch {
            // A request that makes no sense takes nobody's facts with it.
            if error.isOfStorage {
                // Whoever looks at the queue is to see that it stands still, and why.
                if !gathered.isEmpty, health.note(error) { feed.publish(QueueChange()) }
                for waiter in asked { waiter.resume(throwing: error) }
            } else {
                waiters = asked + waiters
            }
            if !gathered.isEmpty { tryAgain(after: error) }
            throw error
        }
    }

    /// Looks without changing anything. What is gathered is not seen.
    func look<Result>(_ body: () throws -> Result) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        do {
            store.queue.forgetPaths()
            return try body()
        } catch {
            throw QueueError(error)
        }
    }

    /// Commits what is recorded; afterwards every call throws `closed`.
    func close() throws(QueueError) {
        if isClosed { return }
        defer { abandon() }
        try change {}
        store.finish()
    }

    /// Ends without committing.
    func abandon() {
        isClosed = true
        stopTimer()
        for waiter in waiters { waiter.resume(throwing: QueueError.closed) }
        waiters = []
    }

    /// Transactions committed since the queue was opened.
    var commits: Int { store.commits }

    /// True while a timer is set. For tests.
    var isTimerSet: Bool { timer != nil }

    // MARK: Consumers

    /// Moves a consumer's cursor forward; never back.
    package func acknowledge(consumer: String, through sequence: EventSequence) throws(QueueError) {
        try change { try store.queue.acknowledge(consumer, through: sequence) }
    }
}
