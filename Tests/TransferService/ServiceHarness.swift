import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

/// A service on a real socket over a real queue in a directory of its own, with an engine that only does what a test says.
final class ServiceHarness: Sendable {
    let home: String
    let places: Places
    let queue: TransferQueue
    let engine: FakeEngineControl
    let service: TransferService
    let socket: ControlSocket
    let stops = Mutex<[TransferService.StopReason]>([])
    private let loop: EventLoop

    /// - Parameters:
    ///   - below: more path, to make the home long.
    ///   - owing: times that the engine says that it is to remove something yet.
    init(
        below: String = "", settings: ServiceSettings = ServiceSettings(idleExit: nil), owing: Int = 0,
        log: sending EngineLog? = nil
    ) async throws {
        let name = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        home = "/tmp/martlet-service-\(name)"
        places = try Places(environment: ["MARTLET_HOME": home + below], currentDirectory: "/")
        queue = try TransferQueue.open(directory: RawPath(places.stateDirectory), version: "test")
        // What a test takes back it takes back in time, however busy the machine is.
        await queue.writer.setGraceTime(.seconds(3600))
        loop = try EventLoop(name: "service under test")
        engine = FakeEngineControl(queue, owing: owing)
        socket = try ControlSocket(places: places, handedOver: nil)
        let stops = Holder(stops: { _ in })
        service = TransferService(
            loop: loop, queue: queue, engine: engine, log: log ?? EngineLog(directory: places.logDirectory),
            identity: .init(version: "0", socketPath: places.socketFile, queuePath: places.queueFile, pid: 4711),
            settings: settings
        ) { reason in stops.take(reason) }
        stops.give { [weak self] reason in self?.stops.withLock { $0.append(reason) } }
        try await service.start(listener: socket.listener)
    }

    func end() async throws {
        await service.stop()
        socket.remove(places: places)
        try await queue.close()
        await service.dismiss()
        loop.stop()
        try FileManager.default.removeItem(atPath: home)
    }

    func client(greets: Bool = true) async throws -> RawClient {
        let client = try RawClient(places)
        if greets { _ = try await client.call(Methods.hello, Hello(client: "test")) }
        return client
    }

    /// Queues a batch of downloads, held or not, and gives its ID.
    @discardableResult
    func add(_ count: Int, name: String = "batch", session: SessionName = .default) async throws -> BatchID {
        try await queue.writer.add(.downloads(count, name: name, session: session)).batch
    }

    /// Completes every task that can be claimed.
    func completeAll() async throws {
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        for lane in try await queue.writer.lanes() {
            for task in try await queue.writer.claim(lane.lane, limit: 10_000, now: now) {
                queue.writer.record(.completed(Completion(size: 10, verified: .size)), for: task.claim)
            }
        }
        try await queue.writer.commit()
    }

    private final class Holder: Sendable {
        private let stops: Mutex<@Sendable (TransferService.StopReason) -> Void>
        init(stops: @escaping @Sendable (TransferService.StopReason) -> Void) { self.stops = Mutex(stops) }
        func give(_ stops: @escaping @Sendable (TransferService.StopReason) -> Void) {
            self.stops.withLock { $0 = stops }
        }
        func take(_ reason: TransferService.StopReason) { stops.withLock { $0 }(reason) }
    }
}

extension BatchRequest {
    static func downloads(_ count: Int, name: String, session: SessionName = .default) -> BatchRequest {
        let sources = (0..<count).map {
            DownloadSource(url: "http://host/\(name)/\($0)", directory: RawPath("/dst"), fileName: RawPath("f\($0)"))
        }
        return BatchRequest(session: session, name: BatchName(rawValue: name), work: .download(sources))
    }
}

/// Moves nothing; remembers what it was told, and shows what a test says that moves.
actor FakeEngineControl: EngineControl {
    var added: [BatchID] = []
    var stopped: [TaskID] = []
    var changes = 0
    private var snapshot = LiveSnapshot()
    private var notice: (@Sendable () -> Void)?
    private var currentLimits = EngineLimits()
    private let queue: TransferQueue

    init(_ queue: TransferQueue, owing: Int) { (self.queue, owes) = (queue, owing) }

    private(set) var owes: Int
    var owesRemovals: Bool {
        owes -= 1
        return owes >= 0
    }

    /// What moves from now on; who watches is told.
    func show(_ snapshot: LiveSnapshot) {
        self.snapshot = snapshot
        notice?()
    }

    var isWatched: Bool { notice != nil }

    func start() {}
    func batchAdded(_ batch: BatchID) { added.append(batch) }
    /// How many were stopped at once.
    var stops: [Int] = []
    func stop(_ claims: [TaskClaim]) {
        stopped += claims.map(\.task)
        stops.append(claims.count)
    }
    func queueChanged() { changes += 1 }
    var orders: [Set<BatchID>] = []
    var settings = 0
    func reordered(_ batches: Set<BatchID>) { orders.append(batches) }
    func settingsChanged() { settings += 1 }
    func live() -> LiveSnapshot { snapshot }
    func throughput(of batch: BatchID?) -> ThroughputReport {
        var report = ThroughputReport(series: [SpeedSeries(seconds: 5, up: [7], down: [9])], batch: batch)
        (report.sentToday, report.receivedToday, report.errors, report.errorSeconds) = (11, 12, 2, 300)
        return report
    }
    var partRuns: [TaskID: [PartRun]] = [:]
    func setParts(_ runs: [PartRun], of task: TaskID) { partRuns[task] = runs }
    func parts(of task: TaskID) -> [PartRun] { partRuns[task] ?? [] }
    func figures(of task: TaskID) -> AttemptFigures? {
        AttemptFigures(averageBytesPerSecond: 4, bestBytesPerSecond: 6, resumable: true)
    }
    func watchLive(_ notice: (@Sendable () -> Void)?) { self.notice = notice }
    func setLimits(_ limits: EngineLimits) { currentLimits = limits }
    func limits() -> EngineLimits { currentLimits }
    /// Batches that wait for servers which asked for a pause.
    var pausedByServers: Set<BatchID> = []
    func pauseByServer(_ batch: BatchID) { pausedByServers.insert(batch) }
    func connectivityChanged() { snapshot.held = snapshot.held.filter { pausedByServers.contains($0.key) } }
    func tryAgain() { connectivityChanged() }
    func useAgent(_ socket: RawPath) {}
    /// Why nothing can be removed from servers; `nil`: it can.
    var removalFails: TransferError?
    var removed: [TaskID] = []
    var uploads: [FoundUpload] = []
    var aborted: [String] = []

    func failRemovals(_ error: TransferError?) { removalFails = error }
    func place(_ found: [FoundUpload]) { uploads = found }
    func remove(_ remains: Remains, for purpose: RemovalPurpose) async -> TransferError? {
        if let removalFails { return removalFails }
        removed.append(remains.task.id)
        // As the engine does: the queue knows of nothing any more.
        _ = try? await queue.writer.forget(remains)
        return nil
    }
    /// Why no folder can be listed; `nil`: they can.
    var unlistable: TransferError?
    var verified: [DueLook] = []
    func cannotList(_ error: TransferError?) { unlistable = error }
    /// Files that are said to be there.
    var listed: Int64 = 0
    func lists(_ files: Int64) { listed = files }
    func verify(_ look: DueLook, only task: TaskID?) async throws -> FolderVerification {
        verified.append(look)
        return unlistable.map { FolderVerification($0) } ?? FolderVerification(listed: listed)
    }
    /// What comes of reading files back, by their numbers; the same for others.
    var outcomes: [TaskID: ReadBackOutcome] = [:]
    func outcome(of task: TaskID, _ outcome: ReadBackOutcome) { outcomes[task] = outcome }
    func readBack(
        _ file: FileToReadBack, in look: DueLook, _ meter: ReadBackMeter
    ) async throws -> ReadBackOutcome {
        try await beforeReading()
        return outcomes[file.task] ?? .same
    }
    /// What happens while a file is read back.
    private var beforeReading: @Sendable () async throws -> Void = {}
    func beforeReading(_ body: @escaping @Sendable () async throws -> Void) { beforeReading = body }
    var searches: [BucketSearch] = []
    /// A search goes on until nobody waits for it; then it is counted here.
    var searchesForever = false
    var endedSearches = 0
    func searchForever() { searchesForever = true }
    func endSearches() { searchesForever = false }
    /// There are more uploads than a search finds.
    var findsAll = true
    func findSome() { findsAll = false }
    func search(_ search: BucketSearch) async -> Result<FoundUploads, TransferError> {
        searches.append(search)
        while searchesForever, !Task.isCancelled { await Task.yield() }
        if searchesForever { endedSearches += 1 }
        return .success(FoundUploads(uploads, isWhole: findsAll))
    }
    func abort(_ upload: FoundUpload, _ search: BucketSearch) async -> TransferError? {
        aborted.append(upload.uploadID)
        return nil
    }
    /// A test goes on until nobody waits for it; then it is counted here.
    var testsForever = false
    var endedTests = 0
    func testForever() { testsForever = true }
    func endTests() { testsForever = false }
    /// What was asked about, with which login.
    var tests: [(url: String, secrets: TransferSecrets)] = []
    func test(_ url: String, _ options: TransferOptions, _ secrets: TransferSecrets) async -> DestinationReport {
        tests.append((url, secrets))
        if testsForever {
            // Only the end of the task ends it: nothing ever comes.
            let (silence, source) = AsyncStream<Void>.makeStream()
            for await _ in silence {}
            source.finish()
            endedTests += 1
        }
        return DestinationReport(ok: true, milliseconds: 7, protocol: "put")
    }
    func shutdown(_ manner: StopManner) -> Bool { true }
    var ends = false
    func end() { ends = true }
    func goOn() -> GoingOn {
        defer { snapshot.isStopping = false }
        return ends ? .ends : snapshot.isStopping ? .takenBack : .runs
    }
    func waitUntilIdle() {}
}

/// A client that sends bytes and reads lines, one call at a time. Reading waits on a thread of its own.
final class RawClient: Sendable {
    let socket: OwnedDescriptor
    private let reader: BlockingWorker
    private let state = Mutex(State())

    private struct State {
        var framer = LineFramer(limit: 64 << 20)
        var lines: [[UInt8]] = []
        var lastID: Int64 = 0
        /// Notifications that came while an answer was awaited.
        var notifications: [[UInt8]] = []
    }

    init(_ places: Places) throws {
        socket = try UnixSocket.connect(in: Array(places.socketDirectory.utf8), name: Places.socketName)
        try System.setNonBlocking(socket.rawValue, false)
        reader = try BlockingWorker(name: "raw client")
    }

    deinit {
        socket.close()
        reader.stop()
    }

    /// Sends everything; false when the other side has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) async -> Bool {
        await reader.run { [socket] in
            (try? bytes.withUnsafeBytes { try System.writeAll(socket.rawValue, $0) }) != nil
        }
    }

    func send(_ text: String) async { await send(Array((text + "\n").utf8)) }

    /// The next line; `nil`: the other side has closed.
    func line() async -> [UInt8]? {
        while true {
            if let line = state.withLock({ $0.lines.isEmpty ? nil : $0.lines.removeFirst() }) { return line }
            let chunk = await reader.run { [socket] () -> [UInt8] in
                var chunk = [UInt8](repeating: 0, count: 1 << 16)
                let count = (try? chunk.withUnsafeMutableBytes { try System.read(socket.rawValue, $0) }) ?? 0
                return Array(chunk[..<count])
            }
            if chunk.isEmpty { return nil }
            state.withLock { state in state.lines += (try? state.framer.append(chunk)) ?? [] }
        }
    }

    func call<P, R>(_ method: Method<P, R>, _ parameters: P) async throws -> R {
        let id = try await post(method, parameters)
        return try await answer(method, id)
    }

    func post<P, R>(_ method: Method<P, R>, _ parameters: P) async throws -> Int64 {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await send(try WireCoding.line(WireRequest(id: .number(id), method: method.name, params: parameters)))
        return id
    }

    func answer<P, R>(_: Method<P, R>, _ id: Int64) async throws -> R {
        while let line = await line() {
            let head = try WireCoding.value(AnswerHead.self, from: line)
            if head.method != nil {
                state.withLock { $0.notifications.append(line) }
                continue
            }
            if let error = head.error { throw error }
            guard head.id == .number(id) else { continue }
            return try WireCoding.value(AnswerValue<R>.self, from: line).result
        }
        throw ClosedByService()
    }

    /// The next notification of a kind.
    func notification<P: Decodable>(_ name: NotificationName, _: P.Type) async throws -> P {
        while true {
            let early = state.withLock { $0.notifications.isEmpty ? nil : $0.notifications.removeFirst() }
            let next: [UInt8]?
            if let early { next = early } else { next = await line() }
            guard let next else { throw ClosedByService() }
            guard try WireCoding.value(AnswerHead.self, from: next).method == name.rawValue else { continue }
            return try WireCoding.value(NotificationValue<P>.self, from: next).params
        }
    }

    /// Notifications that have come before the last answer and were not asked for.
    var earlyNotifications: Int { state.withLock { $0.notifications.count } }
}

struct ClosedByService: Error {}
private struct AnswerValue<R: Decodable>: Decodable { var result: R }
private struct NotificationValue<P: Decodable>: Decodable { var params: P }
