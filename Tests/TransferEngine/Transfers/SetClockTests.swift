import LinuxSystem
import SQLiteConnection
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

    @Test("an engine that sees the clock set back tells the queue, and none that sees it set forward")
    func back() async throws {
        let ahead = SharedValue<Int64>(600_000)
        let harness = try await EngineHarness(clockAhead: ahead)
        for (time, clock) in [(1_200_000, nil), (0, 1), (500, 1), (-600_000, 2)] as [(Int64, Int64?)] {
            ahead.withLock { $0 = time }
            await harness.engine.queueChanged()
            await harness.engine.waitUntilIdle()
            let queue = try SQLiteConnection(path: harness.sandbox.path("state/queue.sqlite"), access: .readOnly)
            #expect(try queue.integer("SELECT value FROM meta WHERE name = 'clock'") == clock)
        }
        await harness.stop()
    }

    @Test(
        "an attempt that began before the clock was set back does not show by its time what is somebody else's",
        arguments: [(false, nil), (true, TransferErrorCode.unknownOutcome)] as [(Bool, TransferErrorCode?)])
    func doubt(setBackSince: Bool, cause: TransferErrorCode?) async throws {
        let first = try await EngineHarness(started: false)
        let store = first.store
        if !setBackSince { try await first.queue.writer.noteClockSetBack() }
        try await kill(first, at: Timestamp(milliseconds: WallClock.milliseconds))
        let harness = try await EngineHarness(sandbox: first.sandbox, store: store, started: false)
        // There by whomever; whether it is older than the attempt only the clock of that time tells.
        store.put("/in/f", [1], modified: "Sat, 21 Nov 2020 12:00:00 GMT")
        if setBackSince { try await harness.queue.writer.noteClockSetBack() }
        try await harness.engine.start()
        let batch = try #require(try await harness.queue.reader.batches(limit: 1).first?.id)
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.cause == cause && task.skipped == (cause == nil))
        await harness.stop()
    }

    @Test(
        "an upload that is at hand when the clock is set back starts in doubt of what it left before",
        arguments: [(false, nil), (true, TransferErrorCode.unknownOutcome)] as [(Bool, TransferErrorCode?)])
    func doubtAtHand(isSetBack: Bool, cause: TransferErrorCode?) async throws {
        let hold = try Milestone()
        let store = try FakeStore { request, _ in
            request.method == "PUT" && request.target == "/in/a" ? .holdBody(1, hold) : .ordinary
        }
        let first = try await EngineHarness(store: store, started: false)
        let hour: Int64 = 3_600_000
        // Before the time that the clock is set back to: that alone would be no doubt.
        try await kill(first, ["a", "f"], at: Timestamp(milliseconds: WallClock.milliseconds - 2 * hour))
        store.put("/in/f", [1], modified: "Sat, 21 Nov 2020 12:00:00 GMT")
        let ahead = SharedValue<Int64>(0)
        let harness = try await EngineHarness(
            sandbox: first.sandbox, store: store, limits: EngineLimits(transfers: 1), clockAhead: ahead)
        // The first has the only slot; the other one is claimed and waits for it.
        try await until { store.count("PUT", "/in/a") > 0 }
        let queue = try SQLiteConnection(path: harness.sandbox.path("state/queue.sqlite"), access: .readOnly)
        #expect(try queue.integer("SELECT count(*) FROM tasks WHERE claimed = 1") == 2)
        #expect(store.count("HEAD", "/in/f") == 0)
        if isSetBack { ahead.withLock { $0 = -hour } }
        await harness.engine.queueChanged()
        hold.reach()
        let batch = try #require(try await harness.queue.reader.batches(limit: 1).first?.id)
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first { $0.name == "f" })
        #expect(task.cause == cause && task.skipped == (cause == nil))
        await harness.stop()
    }

    @Test("a clock that was years ahead once leaves nothing in doubt that began after it was set back")
    func yearsAheadOnce() async throws {
        let ahead = SharedValue<Int64>(0)
        let first = try await EngineHarness(clockAhead: ahead)
        for years: Int64 in [12, 0] {
            ahead.withLock { $0 = years * 365 * 86_400_000 }
            await first.engine.queueChanged()
            await first.engine.waitUntilIdle()
        }
        await first.stop()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store, started: false)
        try await kill(second, at: Timestamp(milliseconds: WallClock.milliseconds))
        let harness = try await EngineHarness(sandbox: first.sandbox, store: first.store, started: false)
        harness.store.put("/in/f", [1], modified: "Sat, 21 Nov 2020 12:00:00 GMT")
        try await harness.engine.start()
        let batch = try #require(try await harness.queue.reader.batches(limit: 1).first?.id)
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.cause == nil && task.skipped, "somebody else's file, and older than the attempt")
        await harness.stop()
    }

    @Test(
        "a cancel of before can be taken back for a day, though the machine came up with a clock that was years behind")
    func yearsBehindAtStart() async throws {
        let ahead = SharedValue<Int64>(-10 * 365 * 86_400_000)
        let harness = try await EngineHarness(started: false, clockAhead: ahead)
        let batch = try await harness.queue.writer.add(harness.request(upload: ["f"]) { $0.held = true }).batch
        _ = try await harness.queue.writer.cancel([.batch(batch)])
        try await harness.engine.start()
        ahead.withLock { $0 = 0 }
        await harness.engine.queueChanged()
        await harness.engine.waitUntilIdle()
        // One that is named: the last change is another one after the grace time, which a busy machine may take for this.
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let back = try await harness.queue.writer.undo(.nodes([.batch(batch)]), now: now)
        #expect(back.results.map(\.result) == [.done])
        await harness.stop()
    }

    /// Leaves a queue whose engine was killed when it had claimed uploads of files that may be skipped.
    private func kill(_ harness: EngineHarness, _ files: [String] = ["f"], at now: Timestamp) async throws {
        for file in files { try harness.sandbox.write(file, pattern(20)) }
        let request = harness.request(upload: files) { $0.options.ifExists = .skip }
        let batch = try await harness.queue.writer.add(request).batch
        let sources = try await harness.queue.writer.unscannedSources(of: batch)
        let found = try zip(files, sources).map { file, source in
            let status = try System.stat(harness.sandbox.path(file))
            let identity = SourceIdentity(
                size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
            return FoundSource(source: source.source, kind: .file(identity))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        _ = try await harness.queue.writer.claim(lane.lane, limit: files.count, now: now)
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
