import Configuration
import Glibc
import LinuxSystem
import ServiceWire
import SessionBus
import TransferEngine
import TransferModel
import TransferQueue

/// One run of the engine: opens the queue, starts what works, waits for the end, and ends in order.
///
/// Lives on the main thread's loop, as the service does; the transfers have a loop of their own, the queue two threads.
actor EngineProcess {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let places: Places
    private let handedOver: OwnedDescriptor?

    private var queue: TransferQueue?
    private var engine: TransferEngine?
    private var service: TransferService?
    private var socket: ControlSocket?
    private var signals: SignalSource?
    private var isTornDown = false
    private var failure: EngineFailure?

    private init(loop: EventLoop, places: Places, handedOver: OwnedDescriptor?) {
        self.loop = loop
        self.places = places
        self.handedOver = handedOver
    }

    /// Runs the engine of these places on the calling thread until it is told to end. To be called once, by the main
    /// thread, before any other thread is started.
    /// - Parameter ready: called when clients are let in.
    static func run(_ places: Places, ready: @escaping @Sendable () -> Void) throws(EngineFailure) {
        let handedOver = ControlSocket.activatedDescriptor()
        EngineEnvironment.decide()
        let process: EngineProcess
        do {
            process = EngineProcess(
                loop: try EventLoop(adoptingCurrentThread: ()), places: places, handedOver: handedOver)
        } catch {
            throw EngineFailure(cannotStart: error)
        }
        process.assumeIsolated { $0.begin(ready: ready) }
        process.loop.run()
        if let failure = process.assumeIsolated({ $0.failure }) { throw failure }
    }

    private func begin(ready: @escaping @Sendable () -> Void) {
        Task {
            do throws(EngineFailure) {
                let days = try await start()
                if isTornDown { return }
                ready()
                // Old history can wait until all that is to go on goes on.
                await forgetOld(days: days)
            } catch {
                // Told to stop while it started, it finds its queue closed.
                if isTornDown { return }
                failure = error
                await tearDown()
            }
        }
    }

    // MARK: Starting

    /// - Returns: for how many days the history is kept.
    private func start() async throws(EngineFailure) -> Int {
        let queue = try openQueue()
        self.queue = queue
        do { try EngineLog.check(directory: places.logDirectory) } catch { throw EngineFailure(cannotStart: error) }
        let log = EngineLog(directory: places.logDirectory)
        log.write(.info, "martletd \(ProductVersion.current) starts, pid \(System.processID)")
        let settings = readSettings(log)
        log.keepsDetails = settings.logsDetails
        do {
            let socket = try ControlSocket(places: places, handedOver: handedOver)
            self.socket = socket
            await queue.writer.setGraceTime(.seconds(settings.grace.seconds))
            let engine = try makeEngine(queue, settings)
            self.engine = engine
            // Of the front that started us. Each that comes tells its own, but what is to go on does not wait for it.
            if let agent = getenv("SSH_AUTH_SOCK") { await engine.useAgent(RawPath(String(cString: agent))) }
            let service = makeService(queue, engine, log, settings, isActivated: socket.isActivated)
            self.service = service
            try await service.start(listener: socket.listener)
            // Not before: until then a signal ends the process, which loses nothing.
            signals = try SignalSource(on: loop, [SIGTERM, SIGINT]) { [weak self] _ in
                self?.assumeIsolated { $0.end(.now) }
            }
            try await engine.start()
            return settings.historyDays
        } catch {
            throw EngineFailure(cannotStart: error)
        }
    }

    private func openQueue() throws(EngineFailure) -> TransferQueue {
        do {
            return try TransferQueue.open(directory: RawPath(places.stateDirectory), version: ProductVersion.current)
        } catch {
            throw EngineFailure(error)
        }
    }

    /// A line of the file that does not count is named in the log and leaves the default.
    private func readSettings(_ log: EngineLog) -> EngineConfiguration {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try Self.read(places.configurationFile)
        } catch {
            if error != .noSuchFile {
                let file = RawPath(places.configurationFile).displayed
                log.write(.warning, "\(file) is not read (\(error)): make it a plain file that nobody else can write")
            }
            return EngineConfiguration()
        }
        var problems: [ConfigurationProblem] = []
        let settings = Settings(bytes: bytes, problems: &problems)
        for problem in problems { log.write(.warning, problem.description(file: places.configurationFile)) }
        return settings.engine
    }

    private static func read(_ path: String) throws(Errno) -> [UInt8] {
        let file = try System.openSettings(Array(path.utf8))
        let size = Int(min(1 << 20, try System.fstat(file.rawValue).size))
        var bytes = [UInt8](repeating: 0, count: size)
        let count = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try System.preadAll(file.rawValue, buffer, at: 0) }
        }
        return Array(bytes[..<(try count.get())])
    }

    private func makeEngine(
        _ queue: TransferQueue, _ given: EngineConfiguration
    ) throws(Errno) -> TransferEngine {
        var settings = EngineSettings(userAgent: "martlet/\(ProductVersion.current)")
        settings.limits = EngineLimits(transfers: given.transfers, transfersPerHost: given.transfersPerHost)
        settings.grace = .seconds(given.grace.seconds)
        settings.checkpointBytes = given.checkpointBytes.bytes
        settings.checkpointInterval = .seconds(given.checkpointInterval.seconds)
        settings.privateFolder = RawPath("\(places.socketDirectory)/ssh")
        settings.receiverState = RawPath(places.stateDirectory)
        settings.report = { [weak self] report in Task.immediate { await self?.service?.note(report) } }
        // Few events a turn: the next request is on its way before the other answers are looked at, or we and the server would
        // wait for each other in turns.
        let loop = try EventLoop(name: "transfers", eventsPerTurn: 2)
        return try TransferEngine(queue: queue, settings: settings, loop: loop)
    }

    private func makeService(
        _ queue: TransferQueue, _ engine: TransferEngine, _ log: sending EngineLog,
        _ given: EngineConfiguration, isActivated: Bool
    ) -> TransferService {
        let stays = isActivated || given.idleExit.seconds == 0
        var settings = ServiceSettings(idleExit: stays ? nil : .seconds(given.idleExit.seconds))
        settings.grace = .seconds(given.grace.seconds)
        if given.notify {
            settings.showsOnDesktop = { (notification, bus) throws(SessionBus.Failure) in try bus.show(notification) }
            let variable = getenv("DBUS_SESSION_BUS_ADDRESS").map { String(cString: $0) }
            let directory = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run/user/\(System.userID)"
            settings.sessionBus = SessionBus(variable: variable, runtimeDirectory: directory)
        }
        settings.limits.up = given.uploadLimit
        settings.limits.down = given.downloadLimit
        settings.limits.transfers = given.transfers
        settings.limits.transfersPerHost = given.transfersPerHost
        return TransferService(
            loop: loop, queue: queue, engine: engine, log: log,
            identity: TransferService.Identity(
                version: ProductVersion.current, socketPath: places.socketFile, queuePath: places.queueFile,
                pid: System.processID),
            settings: settings
        ) { [weak self] reason in
            self?.assumeIsolated { $0.end(reason.manner) }
        }
    }

    private func forgetOld(days: Int) async {
        guard days > 0, let queue else { return }
        // What still lies somewhere is known as long as it does. Tried again at the next start.
        guard let left = try? await queue.leftBehind() else { return }
        try? await queue.writer.forgetOld(days: days, except: Set(left.map(\.task.batch)))
    }

    // MARK: Ending

    /// Ends the engine, unless that is taken back. Asked again without patience while files are being finished, it breaks them off.
    private func end(_ manner: StopManner) {
        Task { if await engine?.shutdown(manner) ?? true { await tearDown() } }
    }

    /// The order matters: no client is let in any more, the socket's name goes, then the queue's lock, then the clients.
    private func tearDown() async {
        if isTornDown { return }
        isTornDown = true
        await service?.stop()
        socket?.remove(places: places)
        do {
            try await queue?.close()
        } catch {
            let message = "the queue could not be written at the end: \(error)"
            failure = failure ?? EngineFailure(status: 1, code: .internal, message: message)
        }
        await service?.dismiss()
        signals?.cancel()
        loop.stop()
    }
}
