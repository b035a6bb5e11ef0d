import FoundationEssentials
package import LinuxSystem
import ServiceWire
import SessionBus
package import TransferEngine
package import TransferModel
package import TransferQueue

/// The engine's face: the control socket, its clients, and what they see and follow.
///
/// Lives on one event loop (the main thread's in `martletd`). A change is made in the queue first, durably, and then
/// told to the engine; an answer follows both. What clients see comes from the queue's reader, with the numbers of what
/// moves laid over it (``LiveOverlay``). With no client and nothing to do the loop sleeps.
///
/// Start reading at `TransferService+Requests.swift` (what each method does), then `+Views` and `+Events`.
package actor TransferService {
    /// The engine's version, paths and process, for `engine.status` and the handshake.
    package struct Identity: Sendable {
        package var version: String
        package var socketPath: String
        package var queuePath: String
        package var pid: Int32

        package init(version: String, socketPath: String, queuePath: String, pid: Int32) {
            self.version = version
            self.socketPath = socketPath
            self.queuePath = queuePath
            self.pid = pid
        }
    }

    /// The reason why the service asks its process to end.
    package enum StopReason: Sendable, Equatable {
        /// A client asked.
        case asked(StopManner)
        /// Nothing to do and nobody there.
        case idle

        var manner: StopManner { if case .asked(let manner) = self { manner } else { .now } }
    }

    nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    nonisolated let queue: TransferQueue
    nonisolated let engine: any EngineControl
    nonisolated let identity: Identity
    let log: EngineLog
    let startedAt = MonotonicInstant.now
    let settings: ServiceSettings

    // Clients
    private var listener: OwnedDescriptor?
    private var listening: Registration?
    private var lastClient = 0
    private let chunk = ReceiveChunk()
    private let longLines: LongLines
    var clients: [Int: ServiceClient] = [:]

    // Views: `TransferService+Views.swift`, `TransferService+Filters.swift`
    /// The task that listens to the queue's commits.
    private var watcher: Task<Void, Never>?
    var liveWatch = LiveWatch()
    var flushing = ViewFlush()
    var chains = FolderChains()
    /// Searches are numbered: one may rest while its filter goes and another one comes.
    var lastSearch = 0

    // The file that declares the type of one of these has what is done with it.
    var eventFeed = EventFeed()
    var eventLogging = EventLogging()
    /// Clients that wait for a line of the log.
    var logWaiters = Waiters()
    var inForce: LimitsInForce
    var desktop: DesktopTeller
    /// Files that are being read back.
    var readBacks: [UUID: ReadBackRun] = [:]
    var questions = ServerQuestions()
    var ending: EngineEnding

    /// - Parameter onStop: called on the loop when the process is to end; perhaps again, with less patience. Ending is `stop()`.
    package init(
        loop: EventLoop, queue: TransferQueue, engine: any EngineControl, log: sending EngineLog, identity: Identity,
        settings: ServiceSettings = ServiceSettings(), onStop: @escaping @Sendable (StopReason) -> Void
    ) {
        self.loop = loop
        self.queue = queue
        self.engine = engine
        self.log = log
        self.identity = identity
        self.settings = settings
        longLines = LongLines(clock: loop, patience: settings.longLinePatience)
        inForce = LimitsInForce(plan: settings.limits)
        desktop = DesktopTeller(bus: settings.sessionBus)
        ending = EngineEnding(onStop: onStop)
    }

    /// Takes in clients from now on.
    package func start(listener: OwnedDescriptor) async throws {
        log.onLine = { [weak self] line in self?.assumeIsolated { $0.wakeLogWaiters(for: line) } }
        eventFeed.last = try await queue.reader.lastEvent()
        eventLogging.last = eventFeed.last
        try await followLimits()
        let changes = queue.changes()
        watcher = Task { for await change in changes { noted(change) } }
        self.listener = listener
        listening = try loop.register(listener.rawValue, .read) { [weak self] _ in
            self?.assumeIsolated { $0.accept() }
        }
        clientsChanged()
    }

    /// Lets nobody in any more and ends what the service does by itself. Clients stay connected until ``dismiss()``.
    package func stop() async {
        if let listening { loop.cancel(listening) }
        listening = nil
        listener = nil
        let timers = [
            liveWatch.timer, flushing.timer, flushing.sortTimer, eventLogging.timer, inForce.timer, desktop.timer,
            ending.idleTimer,
        ]
        for timer in timers.compactMap(\.self) { loop.cancel(timer) }
        ending.onStop = nil
        watcher?.cancel()
        if liveWatch.isOn { await engine.watchLive(nil) }
    }

    // MARK: Clients

    private func accept() {
        guard let listener else { return }
        do {
            // A few at a time: the others make the listener ready again.
            for _ in 0..<16 {
                guard let socket = try System.accept(listener.rawValue) else { return }
                admit(socket)
            }
        } catch {
            // Out of descriptors, for one. Level-triggered, the loop would spin: look again later.
            log.write(.error, "no client can be let in: \(error)")
            if let listening { loop.cancel(listening) }
            listening = nil
            listenLater()
        }
    }

    private func listenLater() {
        loop.schedule(after: .seconds(1)) { [weak self] in self?.assumeIsolated { $0.listenAgain() } }
    }

    private func listenAgain() {
        guard let listener, listening == nil else { return }
        listening = try? loop.register(listener.rawValue, .read) { [weak self] _ in
            self?.assumeIsolated { $0.accept() }
        }
        if listening == nil { listenLater() }
    }

    /// Takes a connected socket as a client when its process is the user's own.
    package func admit(_ socket: OwnedDescriptor) {
        guard let peer = try? System.peerCredentials(socket.rawValue), settings.mayConnect(peer.userID) else {
            return log.write(.warning, "a process of another user tried to connect and was sent away")
        }
        guard clients.count < settings.clientLimit else {
            return log.write(.warning, "more than \(settings.clientLimit) clients: one was sent away")
        }
        lastClient += 1
        let number = lastClient
        let made = try? ServiceClient(
            number: number, loop: loop, socket: socket, chunk: chunk.bytes, longLines: longLines)
        guard let client = made else { return }
        client.onLine = { [weak self] line in self?.assumeIsolated { $0.take(line, from: number) } }
        client.onDrained = { [weak self] in self?.assumeIsolated { $0.drained(number) } }
        client.onEnd = { [weak self] in self?.assumeIsolated { $0.ended(number) } }
        clients[number] = client
        clientsChanged()
    }

    private func ended(_ number: Int) {
        clients[number] = nil
        endWaiting(of: number)
        viewsChanged()
        clientsChanged()
    }

    private func drained(_ number: Int) {
        scheduleFlush()
        pump(number)
    }

    private func noted(_ change: QueueChange) {
        noteViews(change)
        if let sequence = change.lastEvent { noteEvents(upTo: sequence) }
        if clients.isEmpty { armIdleTimer() }
    }

    // MARK: Leaving

    /// Asks the process to end.
    func requestStop(_ reason: StopReason) { ending.onStop?(reason) }

    /// Takes a line of the engine's for the log.
    package func note(_ report: EngineReport) {
        let level: LogLevel =
            switch report.level {
            case .error: .error
            case .warning: .warning
            case .info: .info
            case .debug: .debug
            }
        log.write(level, report.message, task: report.task)
    }

    private func clientsChanged() {
        if clients.isEmpty { armIdleTimer() }
    }

    /// While nobody is there, looks now and then whether there is anything to do; not at all when nothing happens.
    private func armIdleTimer() {
        ending.idleSince = .now
        guard let delay = settings.idleExit, ending.idleTimer == nil else { return }
        ending.idleTimer = loop.schedule(after: delay) { [weak self] in self?.assumeIsolated { $0.idleTimerFired() } }
    }

    private func idleTimerFired() {
        ending.idleTimer = nil
        guard clients.isEmpty, let delay = settings.idleExit else { return }
        let passed = ending.idleSince.duration(to: .now)
        if passed < delay {
            let since = ending.idleSince
            armIdleTimer()
            ending.idleSince = since
            return
        }
        Task {
            // What waits for a person or a clock keeps the engine; what is held, or paused by no clock, does not.
            guard let statistics = try? await queue.reader.statistics(), !statistics.awaitsPauseEnd,
                !statistics.isLooking
            else { return }
            let counts = statistics.counts
            guard counts.active + counts.queued + counts.waiting == 0, clients.isEmpty else { return }
            // Cancelled uploads may still lie at a server that is away.
            let owesRemovals = await engine.owesRemovals
            // Something has happened meanwhile: it is looked again later.
            guard clients.isEmpty, ending.idleTimer == nil else { return }
            if owesRemovals { return armIdleTimer() }
            // What is wanted from here on the next engine does.
            ending.isLeaving = true
            requestStop(.idle)
        }
    }
}

/// One buffer that all clients of a loop are read into.
final class ReceiveChunk {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    deinit { bytes.deallocate() }
}
