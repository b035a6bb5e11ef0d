import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("A server at which transfers crawl", .timeLimit(.minutes(2))) struct CrawlTests {
    /// The loop's clock, which a test may turn forward.
    final class TurnedClock: TransportClock, @unchecked Sendable {
        private let loop: EventLoop
        /// Read on the loop, turned by the test.
        private let ahead = Mutex(Duration.zero)

        init(_ loop: EventLoop) { self.loop = loop }

        func turn(by time: Duration) { ahead.withLock { $0 += time } }
        var now: MonotonicInstant { MonotonicInstant.now.advanced(by: ahead.withLock { $0 }) }
        func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
            loop.schedule(after: delay, handler)
        }
        func cancel(_ timer: LoopTimer) { loop.cancel(timer) }
    }

    @Test("it keeps its own slots and no more: files for another server start after a minute")
    func crawling() async throws {
        let end = try Milestone()
        let limits = EngineLimits(transfers: 2, transfersPerHost: 2)
        let harness = try await EngineHarness(limits: limits, turns: true) { _, _ in .holdBody(1, end) }
        let other = try FakeStore()
        for index in 0..<4 { try harness.sandbox.write("slow/\(index)", pattern(300_000)) }
        try harness.sandbox.write("quick/f", [1])
        let slow = try await harness.add(
            harness.request(upload: ["slow"]) { $0.options.requestTimeoutSeconds = 3600 })
        try await harness.batch(slow) { $0.filesActive == 2 && !$0.scanning }
        var request = harness.request(upload: ["quick"])
        if case .upload(let sources, _) = request.work { request.work = .upload(sources, to: other.url("/in/")) }
        let quick = try await harness.add(request)
        try await harness.batch(quick) { !$0.scanning }
        await harness.engine.waitUntilPumped()
        #expect(other.paths.isEmpty, "two at once are two at once")
        harness.turned?.turn(by: .seconds(61))
        #expect(try await harness.finished(quick).filesCompleted == 1)
        let standing = try #require(try await harness.queue.reader.batch(slow))
        #expect(standing.filesCompleted == 0 && standing.filesActive == 2, "none of its own has another's place")
        for _ in 0..<4 { end.reach() }
        await harness.stop()
        other.stop()
    }
}

extension TransferEngine {
    /// Returns when the look at what may start that is due has been made.
    fileprivate func waitUntilPumped() async {
        for _ in 0..<20 { await withCheckedContinuation { done in loop.atEndOfTurn { done.resume() } } }
    }
}
