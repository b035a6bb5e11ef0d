import CurlTransport
package import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
package import TransferQueue

/// Moves the bytes: takes tasks from the queue, lets their protocols decide, performs what they want, and records what came of it.
///
/// Lives on one event loop together with the HTTP transport, so there is no hop between a protocol and its exchange. Start reading here;
/// then `+Lanes` (what starts next), `+Attempts` (a protocol's actions), `+FTP` and `+SFTP` (those of
/// other transports), `+Uploads`, `+Downloads` and `+Publishing` (the local side), `+Outcomes` (how a task ends or waits), `+Logins` (who is let in), `+Remains` (what is
/// left at servers), `+Live` (what moves), `+Limits` (how fast), `+Walks` (directories into tasks), `+Stopping`, `+Looks` (what
/// a paused one has there).
package actor TransferEngine: EngineControl {
    enum Phase {
        /// Next: `running`.
        case new
        /// Next: `draining`, `stopping`.
        case running
        /// Running transfers are finished, nothing starts. Next: `stopping`, or `running` again.
        case draining
        /// Everything is checkpointed and broken off. The last phase.
        case stopping
    }

    nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let queue: TransferQueue
    let settings: EngineSettings
    let timeline: Timeline
    /// Syncs, digests, renames.
    let disks: LocalWork
    let walker: DirectoryWalker
    /// Made by `start`, on the loop.
    var transport: HTTPTransport?
    /// Made with the first exchange that needs it.
    var ftp: FTPTransport?
    var sftp: SFTPTransport?
    var phase = Phase.new
    var limitBook: LimitBook
    let waitRule = WaitRule()

    var nameClaims = NameClaims()

    var lanes = LaneBook()
    var credentials: CredentialBook
    var hosts = HostBook()
    var timers = EngineTimers()
    var sideJobs = SideJobBook()
    /// +LastLooks
    var lastLooks = LastLooks()

    /// Ends were recorded that may still wait for the group commit.
    var hasUncommitted = false

    // +Attempts
    var attempts: [TaskID: Attempt] = [:]
    var exchanges = ExchangeBook()
    var accounting: Accounting

    var notice: (@Sendable () -> Void)?

    var walks = WalkBook()

    /// Changes that the queue has refused and gets again.
    let duties: QueueDuties

    /// Work under way that is no attempt: claims, refreshes, walks, syncs.
    var underWay = 0
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    /// Stops that wait for what runs to be over.
    var drainWaiters: [CheckedContinuation<Void, Never>] = []
    /// The stop that waits for its work or its time to be over.
    var stopWaiter: CheckedContinuation<Void, Never>?
    private var listener: Task<Void, Never>?
    /// The time of `start`, moved along whenever the clock is set.
    private var startedAt = Timestamp(milliseconds: 0)

    /// An engine that does nothing before `start`.
    /// - Parameters:
    ///   - loop: where it lives; it must outlive the engine.
    ///   - clock: for tests; the loop's own otherwise.
    ///   - wall: milliseconds since 1970; for tests, too.
    package init(
        queue: TransferQueue, settings: EngineSettings, loop: EventLoop, clock: sending (any TransportClock)? = nil,
        wall: sending @escaping () -> Int64 = { WallClock.milliseconds }
    ) throws(Errno) {
        self.queue = queue
        self.settings = settings
        credentials = CredentialBook(ReceiverTokens(in: settings.receiverState))
        self.loop = loop
        limitBook = LimitBook(settings.limits)
        let timeline = Timeline(clock: clock ?? loop, wall: wall)
        self.timeline = timeline
        duties = QueueDuties(clock: timeline.clock)
        accounting = Accounting(at: timeline.nanoseconds, timeline.now, localDay: settings.localDay)
        disks = try LocalWork()
        walker = try DirectoryWalker()
    }

    package func start() async throws {
        precondition(phase == .new, "an engine is started once")
        phase = .running
        startedAt = timeline.now
        transport = try HTTPTransport(loop: loop, clock: timeline.clock) { [self] events in take(events) }
        setLimits(limitBook.engine)
        adopt(try await queue.writer.limits())
        hosts.facts = try await queue.writer.hosts().compactMapValues(HostFacts.init(encoded:))
        accounting.unconfirmed.adopt(try await queue.writer.unconfirmed())
        accounting.adopt(try await queue.writer.storedDay(), at: timeline.nanoseconds)
        try await noteInterrupted()
        // A machine without a battery for its clock may have written these before it knew the time: none may be later than the longest
        // time that a server can ask for.
        try await queue.writer.moveRetries(by: .zero, now: timeline.now, within: waitRule.retry.longestRetryAfter)
        let changes = queue.changes()
        // Ends with the engine's shutdown, or with the queue. On our loop, as everything is: one task elsewhere would make the pool of
        // threads that the language has wake up once a second for good.
        listener = Task { for await change in changes { queueMoved(change) } }
        refreshLanes()
        refreshWake()
        planSweep()
        lookAtLast()
        try await takeUpWalks(of: nil)
    }

    package func batchAdded(_ batch: BatchID) {
        guard phase == .running else { return }
        refreshLanes()
        refreshWake()
        inBackground { [self] in await durably { try await takeUpWalks(of: batch) } }
    }

    package func queueChanged() {
        refreshLanes()
        refreshWake()
        planSweep()
        lookAtLast()
    }

    package func useAgent(_ socket: RawPath) {
        guard credentials.useAgent(socket) else { return }
        credentials.tryAgentAgain()
        schedulePump()
    }

    package func connectivityChanged() {
        hosts.forgetFailures()
        inBackground { [self] in
            await durably(.connectivity) {
                try await queue.writer.clearWait([WaitReasons(.connectivity), WaitReasons(.hostBackoff)])
            }
        }
        schedulePump()
    }

    /// Somebody may have set the wall clock: what waits for so long waits for so long, and what a person has named is when that clock says so.
    func followClock() {
        guard let step = timeline.step() else { return }
        report(.info, "the clock was set by \(step.components.seconds) s: times that people have named follow it")
        hosts.move(by: step)
        lastLooks.move(by: step)
        if let timer = timers.wake { timeline.clock.cancel(timer) }
        (timers.wake, timers.wakesAt) = (nil, nil)
        // By the old clock; what was stamped by the new one before it was noticed stays.
        let times = startedAt...max(startedAt, timeline.now.advanced(by: .zero - step))
        startedAt = startedAt.advanced(by: step)
        inBackground { [self] in
            // Each for itself: what is moved already must not be moved again.
            await durably { try await queue.writer.moveEnds(by: step, at: times) }
            await durably {
                try await queue.writer.moveRetries(by: step, now: timeline.now, within: waitRule.retry.longCap)
            }
            wakeDue()
        }
    }

    package func waitUntilIdle() async {
        if isIdle { return }
        await withCheckedContinuation { idleWaiters.append($0) }
    }

    private var isIdle: Bool { attempts.isEmpty && underWay == 0 && !lanes.isPumpDue }

    /// Wakes who waits for the end of all work.
    func checkIdle() {
        if attempts.isEmpty { endDrainWait() }
        guard isIdle, !idleWaiters.isEmpty else { return }
        let waiters = idleWaiters
        idleWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Does something that waits for others, on the loop. It throws nothing, since nobody is there who could be told: what the queue may
    /// refuse is done `durably`.
    func inBackground(_ work: @escaping @isolated(any) () async -> Void) {
        underWay += 1
        Task {
            await work()
            underWay -= 1
            checkIdle()
        }
    }

    func report(_ level: EngineReport.Level, _ message: String, task: TaskID? = nil) {
        settings.report?(EngineReport(level: level, task: task, message: message))
    }

    func endListening() {
        listener?.cancel()
        listener = nil
    }
}
