import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct SetClockTests {
    @Test(
        "a clock that is set after the start lets go on at once what a person has timed, and what counts seconds counts on"
    )
    func forward() async throws {
        let ahead = SharedValue<Int64>(0)
        let harness = try await EngineHarness(clockAhead: ahead)
        harness.store.put("/f", [1])
        let hour: Int64 = 3_600_000
        let time = Timestamp(milliseconds: WallClock.milliseconds + hour)
        let batch = try await harness.add(harness.request(download: ["/f"]) { $0.options.notBefore = time })
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.isEmpty)
        await harness.engine.close("http://127.0.0.1:9", for: .seconds(30))
        ahead.withLock { $0 = 2 * hour }
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).state == .completed)
        let left = await harness.engine.closedFor("http://127.0.0.1:9")
        #expect(left.map { $0 > .zero && $0 <= .seconds(30) } == true)
        await harness.stop()
    }

    @Test("what is paused until a time goes on when the clock that was set says so, and not before")
    func pausedUntil() async throws {
        let ahead = SharedValue<Int64>(0)
        let harness = try await EngineHarness(started: false, clockAhead: ahead)
        harness.store.put("/f", [1])
        let hour: Int64 = 3_600_000
        let batch = try await harness.queue.writer.add(harness.request(download: ["/f"])).batch
        let time = Timestamp(milliseconds: WallClock.milliseconds + hour)
        _ = try await harness.queue.writer.pause([.batch(batch)], until: time)
        try await harness.engine.start()
        for early in [hour / 2, -hour] {
            ahead.withLock { $0 = early }
            await harness.engine.queueChanged()
            await harness.engine.waitUntilIdle()
            #expect(harness.store.server.requests.isEmpty)
            #expect(try await harness.queue.reader.batch(batch)?.state == .paused)
        }
        ahead.withLock { $0 = 2 * hour }
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).state == .completed)
        await harness.stop()
    }

    @Test("an engine that sees the clock set back remembers until when two clocks are not to be told apart")
    func back() async throws {
        let ahead = SharedValue<Int64>(600_000)
        let harness = try await EngineHarness(clockAhead: ahead)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        #expect(try await harness.queue.writer.clockSetBack() == nil)
        ahead.withLock { $0 = 0 }
        await harness.engine.queueChanged()
        await harness.engine.waitUntilIdle()
        let known = try #require(try await harness.queue.writer.clockSetBack())
        #expect(known >= now.advanced(by: .seconds(599)) && known < now.advanced(by: .seconds(720)))
        await harness.stop()
    }

    @Test(
        "what an attempt began by a clock that was ahead is not shown to be somebody else's by that time",
        arguments: [(-60, nil), (60, TransferErrorCode.unknownOutcome)] as [(Int64, TransferErrorCode?)])
    func doubt(setBack seconds: Int64, cause: TransferErrorCode?) async throws {
        let first = try await EngineHarness(started: false)
        let store = first.store
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        try await kill(first, at: now)
        let harness = try await EngineHarness(sandbox: first.sandbox, store: store, started: false)
        // There by whomever; whether it is older than the attempt only the clock of that time tells.
        store.put("/in/f", [1], modified: "Sat, 21 Nov 2020 12:00:00 GMT")
        try await harness.queue.writer.keepClockSetBack(now.advanced(by: .seconds(seconds)))
        try await harness.engine.start()
        let batch = try #require(try await harness.queue.reader.batches(limit: 1).first?.id)
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.cause == cause && task.skipped == (cause == nil))
        await harness.stop()
    }

    /// Leaves a queue whose engine was killed when it had claimed an upload of a file that may be skipped.
    private func kill(_ harness: EngineHarness, at now: Timestamp) async throws {
        try harness.sandbox.write("f", pattern(20))
        let request = harness.request(upload: ["f"]) { $0.options.ifExists = .skip }
        let batch = try await harness.queue.writer.add(request).batch
        let status = try System.stat(harness.sandbox.path("f"))
        let identity = SourceIdentity(
            size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(identity))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        _ = try await harness.queue.writer.claim(lane.lane, limit: 1, now: now)
        await harness.stop()
    }
}

extension TransferEngine {
    fileprivate func close(_ origin: String, for time: Duration) {
        var standing = HostStanding(limit: 8)
        _ = standing.learn(.overloaded(until: timeline.now.advanced(by: time)), limit: 8, now: timeline.now, random: 0)
        hosts.standings[origin] = standing
    }

    fileprivate func closedFor(_ origin: String) -> Duration? {
        hosts.standings[origin]?.closedUntil?.since(timeline.now)
    }
}
