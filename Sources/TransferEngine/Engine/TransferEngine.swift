import CurlTransport
package import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
package import TransferQueue
import WireOperations

/// Moves the bytes: takes tasks from the queue, lets their protocols decide, performs what they want, and records what came of it.
///
/// Lives on one event loop together with the HTTP transport, so there is no hop between a protocol and its exchange. What it knows is in
/// values, each with its transitions in the folder of its concern; the engine holds them, routes what happens to them, and performs the
/// effects. Start reading with the stored properties below, then `Scheduler/TransferEngine+Lanes` (what starts next),
/// `Attempts/Job` and `Attempts/TransferEngine+Attempts` (what runs, and a protocol's actions), `Uploads` and `Downloads` (the local side),
/// `+Outcomes` (how a task ends or waits), `+Stopping` and `+Shutdown`.
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

    nonisolated let loop: any ActorLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    static let waitRule = WaitRule()

    let queue: TransferQueue
    let settings: EngineSettings
    let platform: any Platform
    let timeline: Timeline
    var phase = Phase.new

    // Scheduling: the file that starts next.
    var lanes = LaneBook()
    var hosts = HostBook()
    var credentials: CredentialBook
    var limitBook: LimitBook
    var timers = EngineTimers()

    // Attempts, and exchanges under way.
    /// Attempts of tasks. Side jobs have a book of their own.
    var attempts: [TaskID: Attempt] = [:]
    var sideJobs = SideJobBook()
    var removals = RemovalRounds()
    var exchanges = ExchangeBook()
    var transports: Transports
    /// Names that attempts give files at servers which cannot refuse to replace one.
    var nameReservations = NameReservations()
    /// Folders at servers that are listed when all their files are over.
    var lastLooks = LastLooks()

    // Accounting, and who is told of it.
    var accounting: Accounting
    /// Told when active tasks have moved; `nil`: nobody looks.
    var notice: (@Sendable () -> Void)?

    // Local work.
    /// Threads for syncs, digests and renames.
    let disks: DiskWorkers
    /// The disk that downloads come to lie on.
    let disk: any LocalDisk
    /// Folders whose names are known to be on the disk.
    var durableFolders = DurableFolders()
    let walker: DirectoryWalker
    var walks = WalkBook()

    /// Changes that the queue has refused and gets again.
    let duties: QueueDuties
    var waits = EngineWaits()
    /// Hears of the queue's changes until the engine stops.
    private(set) var listener: Task<Void, Never>?

    /// An engine that speaks to servers and does nothing before `start`.
    /// - Parameters:
    ///   - loop: where it lives; it must outlive the engine.
    ///   - clock: for tests; the loop's own otherwise.
    ///   - wall: milliseconds since 1970; for tests, too.
    package init(
        queue: TransferQueue, settings: EngineSettings, loop: EventLoop, clock: sending (any TransportClock)? = nil,
        wall: sending @escaping () -> Int64 = { WallClock.milliseconds }
    ) throws(Errno) {
        try self.init(
            queue: queue, settings: settings, loop: loop, transports: LinuxTransports(loop: loop),
            platform: LinuxPlatform(), clock: clock ?? loop, wall: wall)
    }

    /// As above, with other transports on another platform.
    package init(
        queue: TransferQueue, settings: EngineSettings, loop: any ActorLoop, transports: any TransportMaker,
        platform: any Platform, clock: sending any TransportClock, wall: sending @escaping () -> Int64
    ) throws(Errno) {
        self.queue = queue
        self.settings = settings
        credentials = CredentialBook(ReceiverTokens(in: settings.receiverState))
        self.loop = loop
        self.platform = platform
        self.transports = Transports(maker: transports)
        limitBook = LimitBook(settings.limits)
        let timeline = Timeline(clock: clock, wall: wall)
        self.timeline = timeline
        duties = QueueDuties(clock: timeline.clock)
        accounting = Accounting(at: timeline.nanoseconds, timeline.now, localDay: settings.localDay)
        disks = try DiskWorkers(platform)
        disk = platform.disk
        walker = try DirectoryWalker(platform)
    }

    /// Takes up what the queue holds. A stop that came before or comes meanwhile is heeded: then nothing begins.
    package func start() async throws {
        if phase == .stopping { return }
        precondition(phase == .new, "an engine is started once")
        phase = .running
        timeline.startedAt = timeline.now
        transports.http = try transports.maker.http(timeline.clock) { [self] events in take(events) }
        setLimits(limitBook.engine)
        adopt(try await queue.writer.limits())
        hosts.facts = try await queue.writer.hosts().compactMapValues(HostFacts.init(encoded:))
        accounting.unconfirmed.adopt(try await queue.writer.unconfirmed())
        let (day, speeds) = (try await queue.writer.storedDay(), try await queue.writer.storedSpeeds())
        accounting.adopt(day, speeds, at: timeline.nanoseconds, timeline.now)
        try await settlePublishing()
        try await guessRemainsOfInterrupted()
        // A machine without a battery for its clock may have written these before it knew the time, or does not know it yet. What is
        // bounded by a time that is behind is moved along when the clock is set (`followClock`).
        try await queue.writer.moveRetries(by: .zero, now: timeline.now, within: Self.waitRule.retry.longestRetryAfter)
        try await queue.writer.boundEnds(by: timeline.now)
        if phase == .stopping { return }
        let changes = queue.changes()
        // Ends with the engine's shutdown, or with the queue. On our loop, as everything is: one task elsewhere would make the pool of
        // threads that the language has wake up once a second for good.
        listener = Task { for await change in changes { heard(of: change) } }
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

    /// The service has changed the queue. Beside what `heard(of:)` does for every commit, and before the answer goes out, this looks at what no
    /// `QueueChange` tells: times at which something is due, and removals.
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
        lookForTrouble()
        lastLooks.move(by: step)
        if let timer = timers.wake { timeline.clock.cancel(timer) }
        (timers.wake, timers.wakesAt) = (nil, nil)
        // By the old clock; what was stamped by the new one before it was noticed stays.
        let times = timeline.startedAt...max(timeline.startedAt, timeline.now.advanced(by: .zero - step))
        timeline.startedAt = timeline.startedAt.advanced(by: step)
        // Those that are at hand find out when they start.
        if step < .zero { for attempt in attempts.values { feed(attempt, .clockSetBack) } }
        inBackground { [self] in
            if step < .zero { await durably { try await queue.writer.noteClockSetBack() } }
            // Each for itself: what is moved already must not be moved again.
            await durably { try await queue.writer.moveEnds(by: step, at: times) }
            await durably { try await queue.writer.boundEnds(by: timeline.now) }
            await durably {
                try await queue.writer.moveRetries(
                    by: step, now: timeline.now, within: Self.waitRule.retry.longestRetryAfter)
            }
            wakeDue()
        }
    }

    package func waitUntilIdle() async {
        if isIdle { return }
        await withCheckedContinuation { waits.idle.append($0) }
    }

    private var isIdle: Bool { attempts.isEmpty && waits.underWay == 0 && !lanes.isPumpDue }

    /// Wakes who waits for the end of all work.
    func checkIdle() {
        if attempts.isEmpty { endDrainWait() }
        guard isIdle, !waits.idle.isEmpty else { return }
        let waiters = waits.idle
        waits.idle = []
        for waiter in waiters { waiter.resume() }
    }

    /// Does something that waits for others, on the loop. It throws nothing, since nobody is there who could be told: what the queue may
    /// refuse is done `durably`.
    func inBackground(_ work: @escaping @isolated(any) () async -> Void) {
        waits.underWay += 1
        Task {
            await work()
            waits.underWay -= 1
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
