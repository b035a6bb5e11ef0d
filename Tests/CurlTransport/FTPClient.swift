import LinuxSystem
import TestSupport
import WireOperations

@testable import CurlTransport

/// The FTP transport's caller: an actor on the loop, as the engine is.
actor FTPClient {
    let loop: EventLoop
    let clock: ManualClock?
    private var transport: FTPTransport?
    private var ends: [WireID: FTPTransferEnd] = [:]
    private var waiting: [WireID: CheckedContinuation<FTPTransferEnd, Never>] = [:]
    private var buckets: [TokenBucket] = []
    private var last: UInt64 = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop, manualClock: Bool) {
        self.loop = loop
        clock = manualClock ? ManualClock() : nil
    }

    func open(threads: Int) throws {
        transport = try FTPTransport(loop: loop, clock: clock, threads: threads) { [weak self] batch in
            self?.assumeIsolated { $0.take(batch) }
        }
    }

    func close() {
        transport?.shutDown()
        transport = nil
    }

    private func take(_ batch: [FTPEvent]) {
        for case .ended(let id, let end) in batch {
            precondition(ends[id] == nil, "one end")
            ends[id] = end
            waiting.removeValue(forKey: id)?.resume(returning: end)
        }
    }

    /// Starts an exchange and gives its number.
    func start(_ request: FTPRequest, _ source: FTPSource? = nil, up: [Int] = [], down: [Int] = []) throws -> UInt64 {
        last += 1
        try transport?.start(
            WireID(rawValue: last), request, source: source,
            limits: RateLimits(up: up.map { buckets[$0] }, down: down.map { buckets[$0] }))
        return last
    }

    func end(of number: UInt64) async -> FTPTransferEnd {
        let id = WireID(rawValue: number)
        if let end = ends[id] { return end }
        return await withCheckedContinuation { waiting[id] = $0 }
    }

    func run(_ request: FTPRequest, _ source: FTPSource? = nil) async throws -> FTPTransferEnd {
        await end(of: try start(request, source))
    }

    /// Receives a file whole.
    func receive(_ request: FTPRequest, _ sink: RecordingSink) async throws -> FTPTransferEnd {
        let number = try start(request)
        openGate(number, sink)
        return await end(of: number)
    }

    func hasEnded(_ number: UInt64) -> Bool { ends[WireID(rawValue: number)] != nil }
    func openGate(_ number: UInt64, _ sink: RecordingSink) {
        transport?.openGate(WireID(rawValue: number), to: sink)
    }
    func empty(_ sink: RecordingSink) { sink.empty() }
    func abandon(_ number: UInt64) { transport?.abandon(WireID(rawValue: number)) }
    func progress(_ number: UInt64) -> CurlProgress? { transport?.progress(WireID(rawValue: number)) }

    func advance(by duration: Duration) { clock?.advance(by: duration) }
    func sleep(for duration: Duration) { clock?.sleep(for: duration) }

    func makeBucket(_ rate: Int64?) -> Int {
        buckets.append(TokenBucket(rate: rate, now: .now))
        return buckets.count - 1
    }

    func setRate(_ rate: Int64?, of bucket: Int) {
        buckets[bucket].setRate(rate, now: .now)
        transport?.ratesChanged()
    }

    /// The exchange's thread waits for tokens.
    func isThrottled(_ number: UInt64) -> Bool {
        transport?.exchanges[WireID(rawValue: number)]?.job.state.withLock { $0.asksFor > 0 } ?? false
    }

    /// The exchange's thread is ahead of the gate as far as it may.
    func waitsForRoom(_ number: UInt64) -> Bool {
        transport?.exchanges[WireID(rawValue: number)]?.job.state.withLock { $0.waitsForRoom } ?? false
    }

    /// Turns the loop until a condition holds; only a hang reaches the limit.
    func turn(until condition: @Sendable (isolated FTPClient) -> Bool) async {
        for _ in 0..<30_000 {
            if condition(self) { return }
            await withCheckedContinuation { done in loop.schedule(after: .milliseconds(1)) { done.resume() } }
        }
    }
}

/// A client on a loop of its own, and its orderly end.
func withFTPClient(
    threads: Int = 4, manualClock: Bool = false, _ test: (FTPClient) async throws -> Void
) async throws {
    let loop = try EventLoop(name: "client")
    let client = FTPClient(loop, manualClock: manualClock)
    try await client.open(threads: threads)
    do { try await test(client) } catch {
        await client.close()
        throw error
    }
    await client.close()
    loop.stop()
    loop.join()
}

extension FTPTransferEnd {
    /// What a test compares: the reply's code and the verb it answers, or libcurl's code.
    var story: String {
        let said = answer.reply.map { "\($0.code) \(answer.command)" } ?? "-"
        return failure.map { "failed \($0.code.rawValue) \(said)" } ?? "ok \(said)"
    }
}
