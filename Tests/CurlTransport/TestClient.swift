import LinuxSystem
import TestSupport
import WireOperations

@testable import CurlTransport

/// Time that moves when the test says so. On the loop.
final class ManualClock: TransportClock {
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// A clock of its own, which is not to be compared with the other.
    var awake: MonotonicInstant { now.advanced(by: .zero - asleep) }
    private var asleep = Duration.milliseconds(700)
    private var timers: [(deadline: MonotonicInstant, number: UInt64, handler: () -> Void)] = []
    private var lastNumber: UInt64 = 0

    func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
        lastNumber += 1
        timers.append((now.advanced(by: delay), lastNumber, handler))
        return LoopTimer(number: lastNumber)
    }

    func cancel(_ timer: LoopTimer) {
        timers.removeAll { LoopTimer(number: $0.number) == timer }
    }

    /// Fires what becomes due, each at its own moment.
    func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = timers.min(by: { ($0.deadline, $0.number) < ($1.deadline, $1.number) }), next.deadline <= end {
            timers.removeAll { $0.number == next.number }
            now = max(now, next.deadline)
            next.handler()
        }
        now = end
    }

    /// The machine sleeps: on waking all that became due meanwhile is done at once.
    func sleep(for duration: Duration) {
        asleep += duration
        now = now.advanced(by: duration)
        advance(by: .zero)
    }
}

/// A body of a pattern that a server can check, which may end or fail early.
struct PatternBody: Sendable {
    var length: Int64
    /// Where the source has no more, as a file that shrank.
    var endsAt = Int64.max
    var failsAt = Int64.max

    static func byte(_ offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: offset &* 31 &+ offset >> 8) }
}

final class PatternSource: TransferBodySource {
    private let body: PatternBody
    init(_ body: PatternBody) { self.body = body }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        if offset >= body.failsAt { throw .inputOutput }
        let count = max(0, min(Int64(buffer.count), min(body.endsAt, body.failsAt) - offset))
        for index in 0..<Int(count) { buffer[index] = PatternBody.byte(offset + Int64(index)) }
        return Int(count)
    }
}

/// Remembers what it was given; shared with the test, which reads it between events.
final class RecordingSink: TransferBodySink, Sendable {
    private let state = Mutex<(bytes: [UInt8], writes: Int)>(([], 0))
    private let failsAfter: Int
    /// Bytes from which on it is full, until it is emptied.
    private let isFullFrom: Mutex<Int>
    /// Who waits for room. Only the loop's thread calls them.
    private nonisolated(unsafe) var callers: [() -> Void] = []

    init(failsAfter: Int = Int.max, isFullFrom: Int = Int.max) {
        self.failsAfter = failsAfter
        self.isFullFrom = Mutex(isFullFrom)
    }

    var isFull: Bool { bytes.count >= isFullFrom.withLock { $0 } }
    var isWaitedFor: Bool { !callers.isEmpty }
    func whenRoom(_ goOn: @escaping () -> Void) { callers.append(goOn) }

    /// It has room from now on. On the loop.
    func empty() {
        isFullFrom.withLock { $0 = Int.max }
        let waiting = callers
        callers = []
        for goOn in waiting { goOn() }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        let fits = state.withLock { state in
            state.writes += 1
            if state.bytes.count + bytes.count > failsAfter { return false }
            state.bytes += bytes
            return true
        }
        if !fits { throw .noSpace }
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var writes: Int { state.withLock { $0.writes } }
}

/// The transport's caller: an actor on the loop, as the engine is.
actor TestClient {
    let loop: EventLoop
    let clock: ManualClock?
    private(set) var events: [HTTPEvent] = []
    private var transport: HTTPTransport?
    private var waiting: [(matches: (HTTPEvent) -> Bool, found: CheckedContinuation<HTTPEvent, Never>)] = []
    /// Opens gates as soon as a head is told.
    private var gates: [WireID: RecordingSink] = [:]
    private var buckets: [TokenBucket] = []
    private var lastSent: Int64 = 0
    private var looks = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop, manualClock: Bool) {
        self.loop = loop
        clock = manualClock ? ManualClock() : nil
    }

    func open(_ capacity: TransportCapacity) throws {
        transport = try HTTPTransport(loop: loop, clock: clock, capacity: capacity) { [weak self] batch in
            self?.assumeIsolated { $0.take(batch) }
        }
    }

    func close() {
        transport?.shutDown()
        transport = nil
    }

    private func take(_ batch: [HTTPEvent]) {
        for event in batch {
            events.append(event)
            if case .head(let id, _, _, _) = event, let sink = gates[id] { transport?.openGate(id, to: .sink(sink)) }
            let found = waiting.filter { $0.matches(event) }
            waiting.removeAll { $0.matches(event) }
            for waiter in found { waiter.found.resume(returning: event) }
        }
    }

    private func first(_ matches: @escaping (HTTPEvent) -> Bool) async -> HTTPEvent {
        if let event = events.first(where: matches) { return event }
        return await withCheckedContinuation { waiting.append((matches, $0)) }
    }

    // MARK: What tests say

    /// Starts it, and sets its pauses before libcurl has a connection for it.
    func startPausing(_ id: UInt64, _ request: HTTPRequest, body: PatternBody? = nil) throws {
        try start(id, request, body: body)
        if let transport, let exchange = transport.exchanges[WireID(rawValue: id)] {
            transport.applyStandstills(of: exchange)
        }
    }

    func start(
        _ id: UInt64, _ request: HTTPRequest, body: PatternBody? = nil, opening sink: RecordingSink? = nil,
        up: [Int] = [], down: [Int] = []
    ) throws {
        let id = WireID(rawValue: id)
        gates[id] = sink
        try transport?.start(
            id, request, source: body.map { PatternSource($0) },
            limits: RateLimits(up: up.map { buckets[$0] }, down: down.map { buckets[$0] }))
    }

    func makeBucket(_ rate: Int64?) -> Int {
        buckets.append(TokenBucket(rate: rate, now: clock?.now ?? .now))
        return buckets.count - 1
    }

    func setRate(_ rate: Int64?, of bucket: Int) { transport?.setRate(rate, of: buckets[bucket]) }

    func end(of id: UInt64) async -> HTTPTransferEnd {
        let event = await first {
            if case .ended(let ended, _) = $0 { ended.rawValue == id } else { false }
        }
        guard case .ended(_, let end) = event else { preconditionFailure("matched above") }
        return end
    }

    func head(of id: UInt64) async -> HTTPAnswer {
        let event = await first {
            if case .head(let told, _, _, _) = $0 { told.rawValue == id } else { false }
        }
        guard case .head(_, let head, _, _) = event else { preconditionFailure("matched above") }
        return head
    }

    /// Starts and waits for the end.
    func run(
        _ id: UInt64, _ request: HTTPRequest, body: PatternBody? = nil, opening sink: RecordingSink? = nil
    ) async throws -> HTTPTransferEnd {
        try start(id, request, body: body, opening: sink)
        return await end(of: id)
    }

    func hasEnded(_ id: UInt64) -> Bool {
        events.contains { if case .ended(let ended, _) = $0 { ended.rawValue == id } else { false } }
    }

    /// Events told of an exchange, in short.
    func story(of id: UInt64) -> [String] {
        events.filter { $0.id.rawValue == id }.map { event in
            switch event {
            case .interim(_, let head): "interim \(head.status)"
            case .head(_, let head, _, _): "head \(head.status)"
            case .ended(_, let end): end.failure.map { "failed \($0.code.rawValue)" } ?? "ended"
            }
        }
    }

    func openGate(_ id: UInt64, to sink: RecordingSink) {
        transport?.openGate(WireID(rawValue: id), to: .sink(sink))
    }

    func openGateToMemory(_ id: UInt64, limit: Int) {
        transport?.openGate(WireID(rawValue: id), to: .buffer(limit: limit))
    }

    func empty(_ sink: RecordingSink) { sink.empty() }
    func abandon(_ id: UInt64) { transport?.abandon(WireID(rawValue: id)) }
    func flush(_ id: UInt64) { transport?.flush(WireID(rawValue: id)) }
    func progress(_ id: UInt64) -> CurlProgress? { transport?.progress(WireID(rawValue: id)) }
    func advance(by duration: Duration) { clock?.advance(by: duration) }
    func sleep(for duration: Duration) { clock?.sleep(for: duration) }
    var openSockets: [Int32] { transport.map { Array($0.sockets.keys) } ?? [] }
    var throttledCount: Int { transport?.throttledExchanges.count ?? 0 }
    var activeCount: Int { transport?.activeCount ?? 0 }

    /// libcurl has offered the first bytes of a body and was told to wait.
    func gateHolds(_ id: UInt64) -> Bool {
        transport?.exchanges[WireID(rawValue: id)]?.standstills.contains(.gate) ?? false
    }

    /// Some bytes were sent and none since the last fifty looks.
    func standsStill(_ id: UInt64) -> Bool {
        let sent = progress(id)?.arrived ?? 0
        if sent != lastSent { looks = 0 }
        lastSent = sent
        looks += 1
        return sent > 0 && looks > 50
    }

    /// Turns the loop until a condition holds; only a hang reaches the limit.
    func turn(until condition: @Sendable (isolated TestClient) -> Bool) async {
        for _ in 0..<20_000 {
            if condition(self) { return }
            await withCheckedContinuation { done in loop.schedule(after: .milliseconds(1)) { done.resume() } }
        }
    }
}

/// A server with a script, a client, and their orderly end.
func withServer(
    manualClock: Bool = false, capacity: TransportCapacity = TransportCapacity(),
    _ script: @escaping @Sendable (ServerConnection) throws -> Void,
    test: (ScriptedServer, TestClient) async throws -> Void
) async throws {
    let server = try ScriptedServer(script)
    let loop = try EventLoop(name: "client")
    let client = TestClient(loop, manualClock: manualClock)
    try await client.open(capacity)
    do { try await test(server, client) } catch {
        await client.close()
        server.stop()
        throw error
    }
    await client.close()
    loop.stop()
    loop.join()
    server.stop()
}
