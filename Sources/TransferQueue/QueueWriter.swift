import LinuxSystem
package import TransferModel

/// The writing half of the queue: an actor on a thread of its own.
///
/// What the engine records is gathered and committed together, at most 50 ms or 500 facts later; calls that return
/// something durable commit at once, and take along what was gathered. `commit()` from several tasks at the same time
/// is one commit. Nothing wakes the thread while nothing is recorded.
package actor QueueWriter {
    private let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let store: QueueStore
    private let feed: ChangeFeed
    /// Facts recorded from any thread, in order.
    private let inbox: FactInbox
    private nonisolated let clock: @Sendable () -> Timestamp
    private let interval: Duration

    /// Taken from the inbox and not committed: kept when a commit fails, and tried again.
    private var gathered: [RecordedFact] = []
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var timer: LoopTimer?
    private var isCommitDue = false
    private var isClosed = false

    /// How long a fact waits for company.
    package static let usualInterval: Duration = .milliseconds(50)
    /// How many facts are committed at once without waiting longer.
    static let groupSize = 500
    /// After a commit that failed.
    static let pauseAfterFailure: Duration = .seconds(1)

    init(
        loop: EventLoop, store: sending QueueStore, feed: ChangeFeed, clock: @escaping @Sendable () -> Timestamp,
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
    /// Facts of tasks that were cancelled or paused meanwhile are dropped where they no longer matter.
    package nonisolated func record(_ change: TaskChange, for task: TaskID) {
        switch inbox.append(RecordedFact(task: task, change: change, time: clock())) {
        case .nothing: break
        case .begin: Task { await self.startTimer() }
        case .flush: Task { await self.commitGathered() }
        }
    }

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

    private func startTimer(after delay: Duration? = nil) {
        if timer != nil || isClosed { return }
        timer = loop.schedule(after: delay ?? interval) {
            self.assumeIsolated { writer in
                writer.timer = nil
                writer.commitGathered()
            }
        }
    }

    private func commitGathered() {
        isCommitDue = false
        do {
            try change {}
        } catch {
            // The waiters were told by `change`; what was gathered is tried again.
            startTimer(after: Self.pauseAfterFailure)
        }
    }

    /// One transaction: what was gathered, then `body`. Durable on return.
    private func change<Result>(
        _ durability: QueueStore.Durability = .full, _ body: () throws -> Result
    ) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        gathered += inbox.take()
        let asked = waiters
        waiters = []
        do {
            let result = try store.transact(gathered.isEmpty ? durability : .full) {
                try store.apply(gathered)
                return try body()
            }
            gathered = []
            if let timer { loop.cancel(timer) }
            timer = nil
            feed.publish(store.takeChange())
            for waiter in asked { waiter.resume() }
            // The change stands; what nobody refers to any more is tried again with the next, or at the next start.
            try? store.removeOrphanedSecrets()
            return result
        } catch {
            // A request that makes no sense takes nobody's facts with it.
            if case .database = error {
                for waiter in asked { waiter.resume(throwing: error) }
            } else {
                waiters = asked + waiters
            }
            if !gathered.isEmpty { startTimer(after: waiters.isEmpty ? Self.pauseAfterFailure : .zero) }
            throw error
        }
    }

    /// Looks without changing anything. What is gathered is not seen.
    func look<Result>(_ body: () throws -> Result) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        do {
            store.forgetPaths()
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
        if let timer { loop.cancel(timer) }
        timer = nil
        for waiter in waiters { waiter.resume(throwing: QueueError.closed) }
        waiters = []
    }

    /// Transactions committed since the queue was opened.
    var commits: Int { store.commits }

    /// Whether a timer is set. For tests.
    var isTimerSet: Bool { timer != nil }

    // MARK: Adding and walking

    /// Queues a batch: all of it, durably, or nothing. A request whose UUID is known returns the batch that is there.
    package func add(_ request: BatchRequest) throws(QueueError) -> AddedBatch {
        try change { try store.add(request) }
    }

    /// Sources of upload batches that are not completely in the queue: after start all, after `add` those of the batch.
    package func unscannedSources(of batch: BatchID? = nil) throws(QueueError) -> [WalkState] {
        try look { try store.unscannedSources(of: batch) }
    }

    /// Batches with nothing left to walk that still count as scanned: a kill came before `finishScan`, which is to be called for them.
    package func walkedBatches() throws(QueueError) -> [BatchID] {
        try look { try store.walkedBatches() }
    }

    /// Says what sources are. Directories are to be walked from then on: `foldersToWalk`. A source that is begun already is left alone.
    package func begin(_ sources: [FoundSource]) throws(QueueError) {
        try change { try store.begin(sources) }
    }

    /// Directories of a source that are known and not completely listed, oldest first. Who asks lists each of them from
    /// its first entry.
    package func foldersToWalk(of source: SourceID, limit: Int) throws(QueueError) -> [FolderToWalk] {
        try look {
            let folders = try store.foldersToWalk(of: source, limit: limit)
            for folder in folders { store.walkedHere.remove(folder.folder.rawValue) }
            return folders
        }
    }

    /// Takes what a walk found; at most some 5000 entries a call. Chunks of folders that were cancelled meanwhile are dropped.
    /// - Returns: the next directories to walk of the same source; empty when its walk is done.
    package func insert(walked chunks: [WalkedChunk], next limit: Int = 64) throws(QueueError) -> [FolderToWalk] {
        let durability: QueueStore.Durability = QueueStore.needsDurability(chunks) ? .full : .later
        return try change(durability) {
            guard let source = try store.insert(walked: chunks) else { return [] }
            return try store.foldersToWalk(of: source, limit: limit)
        }
    }

    /// Ends the scanning of a batch when nothing of it is left to be walked, and says whether that is so. Durable on return.
    @discardableResult
    package func finishScan(_ batch: BatchID) throws(QueueError) -> Bool {
        try change { try store.finishScan(batch) }
    }

    // MARK: Running

    /// The lanes of batches that are not finished, in the order priority, position, lane.
    package func lanes() throws(QueueError) -> [LaneSummary] {
        try look { try store.lanes() }
    }

    /// What the tasks of a batch need. `nil`: no such batch.
    package func order(of batch: BatchID) throws(QueueError) -> BatchOrder? {
        try look { try store.order(of: batch) }
    }

    /// Takes the next tasks of a lane, and marks durably that they may have begun before it returns.
    /// Nothing when the batch is held, paused, or may not begin before a time after `now`.
    package func claim(_ lane: LaneID, limit: Int, now: Timestamp) throws(QueueError) -> [ClaimedTask] {
        try change { try store.claim(lane, limit: limit, now: now) }
    }

    /// Gives claimed tasks back that were never started.
    package func release(unstarted tasks: [TaskID]) throws(QueueError) {
        try change { try store.release(unstarted: tasks) }
    }

    /// Lets tasks stand in line again whose time has come.
    package func wakeDue(now: Timestamp) throws(QueueError) {
        try change { try store.wakeDue(now: now) }
    }

    /// When the next task or batch is due by itself.
    package func nextWake() throws(QueueError) -> Timestamp? {
        try look { try store.nextWake() }
    }

    /// A reason to wait is gone, everywhere or only in a batch or for an origin (as in `LaneSummary`): tasks that waited
    /// for nothing else stand in line again.
    package func clearWait(
        _ reasons: WaitReasons, batch: BatchID? = nil, origin: String? = nil
    ) throws(QueueError) {
        try change { try store.clearWait(reasons, batch: batch, origin: origin) }
    }

    // MARK: People

    /// - Parameter joining: the `operation` of a change that this goes on with, as the next page of what one request means: both are
    ///   taken back together. So for all that follow.
    package func pause(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.pause(nodes, joining: joining) }
    }

    /// Also starts a held batch.
    package func resume(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.resume(nodes, joining: joining) }
    }

    package func cancel(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.cancel(nodes, joining: joining) }
    }

    /// A new run of what failed or was cancelled; what waits tries again now. Of a batch or folder what was cancelled
    /// comes back only when nothing failed or waits.
    package func retry(_ nodes: [NodeID]) throws(QueueError) -> NodeChange {
        try change { try store.retry(nodes) }
    }

    /// Changes the order of batches, or of what is in a batch.
    /// - Parameters:
    ///   - asOne: the tasks are one group and stand together.
    ///   - rank: `NodeChange.rank` of the group's page before.
    package func move(
        _ nodes: [NodeID], to place: MovePlace, asOne: Bool = false, rank: Int64? = nil, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.move(nodes, to: place, asOne: asOne, rank: rank, joining: joining) }
    }

    /// Changes priority, limit, time and the like of what is not over.
    package func set(
        _ nodes: [NodeID], _ settings: NodeSettings, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.set(nodes, settings, joining: joining) }
    }

    /// Puts what lets batches in in the place of what did. Durable on return.
    package func renew(_ nodes: [NodeID], by secrets: TransferSecrets) throws(QueueError) -> NodeChange {
        try change { try store.renew(nodes, by: secrets) }
    }

    /// What of these batches waits because it was not let in stands in line again.
    package func letIn(_ batches: [BatchID]) throws(QueueError) { try change { try store.letIn(batches) } }

    /// Lets nodes run before all others, once, in spite of times and waits.
    package func runNow(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.runNow(nodes, joining: joining) }
    }

    /// Takes changes back that are not longer ago than the grace time.
    package func undo(_ choice: UndoChoice, now: Timestamp) throws(QueueError) -> NodeChange {
        try change { try store.undo(choice, now: now) }
    }

    /// Forgets terminal batches, which can be taken back, and tasks.
    package func purge(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.purge(nodes, joining: joining) }
    }

    /// Forgets all finished batches, which can be taken back.
    package func purgeFinished() throws(QueueError) -> NodeChange {
        try change { try store.purgeFinished() }
    }

    /// Forgets batches that finished before a time, their events and their secrets, for good.
    /// - Parameter kept: stay whatever their age.
    package func forget(finishedBefore time: Timestamp, except kept: Set<BatchID> = []) throws(QueueError) {
        try change { try store.forget(finishedBefore: time, except: kept) }
    }

    /// How long a change can be taken back from now on; 10 s until it is said.
    package func setGraceTime(_ time: Duration) { store.graceTime = time }

    /// Forgets for good what was purged longer ago than the grace time and has left nothing at a server. - Returns: when the next one
    /// is due.
    package func forgetPurged(now: Timestamp) throws(QueueError) -> Timestamp? {
        try change { try store.forgetPurged(now: now) }
    }

    // MARK: Limits

    /// Bytes a second of everything that has a limit of its own.
    package func limits() throws(QueueError) -> [LimitScope: Int64] { try look { try store.limits() } }

    /// Limits a host or a session; 0 takes the limit away.
    package func changeLimit(_ rate: Int64, of scope: LimitScope) throws(QueueError) {
        try change { try store.changeLimit(rate, of: scope) }
    }

    /// The whole engine's limits as they were set by hand.
    package func storedLimits() throws(QueueError) -> StoredLimits { try look { try store.storedLimits() } }

    /// Keeps the whole engine's limits over its end.
    package func changeLimits(_ limits: StoredLimits) throws(QueueError) {
        try change { try store.change(limits) }
    }

    /// Keeps what was learnt of a host. Durable some time later: it can be learnt again.
    package func remember(host origin: String, facts: [UInt8]) throws(QueueError) {
        try change(.later) { try store.remember(host: origin, facts: facts) }
    }

    /// What was learnt of each host.
    package func hosts() throws(QueueError) -> [String: [UInt8]] {
        try look { try store.hosts() }
    }

    /// Uploads that were broken off and whose server has not said yet how much it has, in the order of their numbers.
    package func unconfirmed(limit: Int = 1000) throws(QueueError) -> [UnconfirmedUpload] {
        try look { try store.unconfirmed(limit: limit) }
    }

    /// Uploads in these states that have left something at a server, in the order of their numbers.
    /// - Parameter claimed: those, too, that the engine has taken and may be about to go on with.
    package func remains(
        in states: [TransferState], claimed: Bool = false, after: TaskID = TaskID(rawValue: 0), limit: Int = 500
    ) throws(QueueError) -> [Remains] {
        try look { try store.remains(in: states, claimed: claimed, after: after, limit: limit) }
    }

    /// What batches that were purged longer ago than the grace time have left at servers.
    package func purgedRemains(
        now: Timestamp, after: TaskID = TaskID(rawValue: 0), limit: Int = 100
    ) throws(QueueError) -> [Remains] {
        try look { try store.purgedRemains(now: now, after: after, limit: limit) }
    }

    /// Uploads to such origins that the last engine was killed in, and of which nothing says what it has left there.
    package func interruptedUploads(to origin: String) throws(QueueError) -> [Remains] {
        try look { try store.interruptedUploads(to: origin) }
    }

    /// What a task has left at a server is gone: there is nothing to go on from. Nothing happens to a task that runs.
    package func forgetRemains(of task: TaskID) throws(QueueError) {
        try change { try store.forgetRemains(of: task) }
    }

    /// Moves a consumer's cursor forward; never back.
    package func acknowledge(consumer: String, through sequence: EventSequence) throws(QueueError) {
        try change { try store.acknowledge(consumer, through: sequence) }
    }
}
