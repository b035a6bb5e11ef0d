import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import CurlTransport
@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct LifeTests {
    @Test("priority goes first, then the queue's order, and never more than the limit at a time")
    func order() async throws {
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1, transfersPerHost: 1), started: false)
        for name in ["low", "normal", "high"] {
            for index in 0..<3 { try harness.sandbox.write("\(name)/\(index)", [1]) }
        }
        var batches: [BatchID] = []
        for (name, priority) in [("low", TransferPriority.low), ("normal", .normal), ("high", .high)] {
            let request = harness.request(upload: [name]) { request in
                request.priority = priority
                request.held = true
            }
            batches.append(try await harness.queue.writer.add(request).batch)
        }
        try await harness.engine.start()
        for batch in batches { try await harness.batch(batch) { !$0.scanning } }
        _ = try await harness.queue.writer.resume(batches.map { .batch($0) })
        await harness.engine.queueChanged()
        for batch in batches { try await harness.finished(batch) }
        let order = harness.store.server.requests.map { $0.target.split(separator: "/")[1] }
        #expect(order == ["high", "high", "high", "normal", "normal", "normal", "low", "low", "low"])
        await harness.stop()
    }

    @Test("live shows what moves, never more than there is, and nothing afterwards")
    func live() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, _ in
            request.method == "PUT" ? .holdBody(1_000_000, hold) : .ordinary
        }
        try harness.sandbox.write("f", [UInt8](repeating: 1, count: 3_000_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.task(of: batch) { $0.state == .running }
        let snapshot = await harness.engine.live()
        let task = try #require(snapshot.tasks.first)
        #expect(task.state == .running && task.bytesTotal == 3_000_000 && task.bytesSent <= 3_000_000)
        #expect(task.bytesAccepted == 0 && task.batch == batch)
        let figures = try #require(await harness.engine.figures(of: task.task))
        #expect(figures.resumable == (task.bytesSent > 0 ? false : nil), "a PUT begins again")
        // A limit that is set now holds for what is under way.
        #expect(await harness.engine.upBucketUsers == 1)
        hold.reach()
        try await harness.finished(batch)
        await harness.engine.waitUntilIdle()
        #expect(await harness.engine.live().tasks.isEmpty)
        #expect(await harness.engine.figures(of: task.task) == nil)
        await harness.stop()
    }

    @Test("what was sent today is known over a restart, each batch has its own graph, and failures are counted")
    func throughput() async throws {
        let first = try await EngineHarness { request, _ in
            request.target.hasSuffix("no") ? .answer("403 Forbidden") : .ordinary
        }
        try first.sandbox.write("d/f", pattern(300_000))
        try first.sandbox.write("other/no", [1, 2, 3])
        let batch = try await first.add(first.request(upload: ["d"]))
        try await first.finished(batch)
        let other = try await first.add(first.request(upload: ["other"]))
        try await first.finished(other)
        let all = await first.engine.throughput(of: nil)
        #expect(all.batch == nil && all.series.count == 3 && all.receivedToday == 0)
        #expect(try #require(all.sentToday) >= 300_000)
        #expect(all.errors == 1)
        let own = await first.engine.throughput(of: batch)
        #expect(own.batch == batch && own.sentToday == all.sentToday)
        #expect(try #require(own.series.first).up.contains { $0 > 0 })
        #expect(await first.engine.throughput(of: BatchID(rawValue: 99)).series.isEmpty)
        // A kill from here on costs nothing of it.
        await first.engine.waitUntilIdle()
        let kept = try #require(try await first.queue.writer.storedSpeeds())
        #expect(try await first.queue.writer.storedDay()?.up == all.sentToday)
        #expect(kept.spans.map { ByteSum.of($0.up) } == [all.sentToday, all.sentToday, all.sentToday])
        await first.stop()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        let later = await second.engine.throughput(of: nil)
        #expect(later.sentToday == all.sentToday && later.errors == 0)
        #expect(later.series.allSatisfy { $0.up.contains { $0 > 0 } }, "the graphs go on, too")
        await second.stop()
    }

    @Test("who watches is told while something moves and when it ends")
    func watching() async throws {
        let harness = try await EngineHarness()
        let (notices, told) = AsyncStream<Void>.makeStream()
        await harness.engine.watchLive { told.yield() }
        try harness.sandbox.write("f", [1])
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.finished(batch)
        var iterator = notices.makeAsyncIterator()
        await iterator.next()
        await harness.stop()
    }

    @Test("a stop breaks uploads off and they begin again at the next start; what is completed is not sent again")
    func stopAndStart() async throws {
        let hold = try Milestone()
        let first = try await EngineHarness { request, earlier in
            request.target == "/in/d/big" && request.method == "PUT" && earlier == 0
                ? .holdBody(500_000, hold) : .ordinary
        }
        try first.sandbox.write("d/small", [1])
        // More than the sockets on the way hold: a server that has all of it stores it though it was broken off.
        let big = [UInt8](repeating: 7, count: 30_000_000)
        try first.sandbox.write("d/big", big)
        let batch = try await first.add(first.request(upload: ["d"]))
        try await first.batch(batch) { $0.filesCompleted == 1 && $0.filesActive == 1 }
        await first.stop()
        hold.reach()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        let snapshot = try await second.finished(batch)
        #expect(snapshot.filesCompleted == 2)
        #expect(second.store.count("PUT", "/in/d/small") == 1)
        #expect(second.store["/in/d/big"] == big)
        #expect(try await second.events(.taskCompleted).count == 2)
        try await second.expectSound()
        await second.stop()
    }

    @Test("a start ends without an error after a stop that comes before or during it", arguments: [false, true])
    func stoppedWhileStarting(during: Bool) async throws {
        let harness = try await EngineHarness(started: false)
        try harness.sandbox.write("a", pattern(1000))
        _ = try await harness.queue.writer.add(harness.request(upload: ["a"]))
        if during {
            try await stopInTheMiddle(of: harness)
        } else {
            #expect(await harness.engine.shutdown(.now))
            try await harness.engine.start()
        }
        #expect(await harness.engine.phase == .stopping)
        #expect(await harness.engine.listener == nil, "nobody listens to the queue of an engine that has stopped")
        #expect(harness.store.server.requests.isEmpty)
        await harness.stop()
    }

    /// Starts an engine, and stops it while it waits for its queue.
    private func stopInTheMiddle(of harness: EngineHarness) async throws {
        let (waits, goOn) = (SharedValue(false), try Milestone())
        let lock = String(decoding: harness.sandbox.path("state/queue.lock"), as: UTF8.self)
        // Every durable change looks whether the lock still has its name.
        ForcedFailures.act(before: .stat, on: .path(containing: lock)) {
            waits.withLock { $0 = true }
            goOn.waitBlocking()
        }
        async let started: Void = harness.engine.start()
        try await until { waits.withLock { $0 } }
        async let stopped = harness.engine.shutdown(.now)
        try await until { await harness.engine.phase == .stopping }
        goOn.reach()
        try await started
        #expect(await stopped)
    }

    @Test("draining finishes what runs and starts nothing")
    func draining() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .ordinary
        }
        for name in ["a", "b", "c"] { try harness.sandbox.write("d/" + name, pattern(200_000)) }
        let batch = try await harness.add(harness.request(upload: ["d"]))
        try await harness.batch(batch) { $0.filesActive == 1 }
        async let stopped = harness.engine.shutdown(.finishingRunning)
        try await until { await harness.engine.phase == .draining }
        hold.reach()
        #expect(await stopped)
        let snapshot = try #require(try await harness.queue.reader.batch(batch))
        #expect(snapshot.filesCompleted == 1 && snapshot.filesActive == 0 && snapshot.filesWaiting == 2)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a drain that is taken back starts what stood in line, and walks what came meanwhile")
    func drainingTakenBack() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .ordinary
        }
        for name in ["a", "b"] { try harness.sandbox.write("d/" + name, pattern(200_000)) }
        for name in ["c", "e"] { try harness.sandbox.write("later/" + name, pattern(1000)) }
        let batch = try await harness.add(harness.request(upload: ["d"]))
        try await harness.batch(batch) { $0.filesActive == 1 }
        async let stopped = harness.engine.shutdown(.finishingRunning)
        try await until { await harness.engine.phase == .draining }
        let later = try await harness.add(harness.request(upload: ["later"]))
        #expect(await harness.engine.live().isStopping)
        #expect(try await harness.queue.reader.batch(later)?.scanning == true)
        #expect(await harness.engine.goOn() == .takenBack)
        #expect(await !stopped, "another call does not find it ended")
        #expect(await !harness.engine.live().isStopping)
        hold.reach()
        #expect(try await harness.finished(batch).filesCompleted == 2)
        #expect(try await harness.finished(later).filesCompleted == 2)
        #expect(await harness.engine.goOn() == .runs, "there is nothing to take back")
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "a walk that is broken off in the middle of a directory finds every name of it once",
        arguments: ["drained", "cancelled"])
    func walkBrokenOff(by deed: String) async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .ordinary
        }
        let count = 30_000
        try harness.sandbox.write("first", pattern(200_000))
        let first = try await harness.add(harness.request(upload: ["first"]))
        try await harness.batch(first) { $0.filesActive == 1 }
        for number in 0..<count { try harness.sandbox.write("d/\(number)", []) }
        // A walk may be over before it can be broken off: then the next one.
        var wasInTheMiddle = false
        for _ in 0..<20 where !wasInTheMiddle {
            let batch = try await harness.add(harness.request(upload: ["d"]))
            func found() async throws -> Int64 { try await harness.queue.reader.batch(batch)?.filesTotal ?? 0 }
            try await until { try await found() > 0 }
            if deed == "drained" {
                async let stopped = harness.engine.shutdown(.finishingRunning)
                try await until { await harness.engine.phase != .running }
                wasInTheMiddle = try await found() < count
                #expect(await harness.engine.goOn() == .takenBack)
                #expect(await !stopped)
            } else {
                let change = try await harness.queue.writer.cancel([.batch(batch)])
                wasInTheMiddle = try await found() < count
                await harness.engine.stop(change.stopped)
                _ = try await harness.queue.writer.undo(.last, now: Timestamp(milliseconds: WallClock.milliseconds))
                await harness.engine.batchAdded(batch)
            }
            try await harness.batch(batch) { !$0.scanning }
            #expect(try await found() == Int64(count))
            try await harness.expectSound()
        }
        #expect(wasInTheMiddle)
        hold.reach()
        await harness.stop()
    }

    @Test("a cancelled upload is broken off at once and ends once")
    func cancel() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .ordinary
        }
        // More than the sockets between hold, so that the server cannot have it all.
        try harness.sandbox.write("f", [UInt8](repeating: 1, count: 32_000_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.batch(batch) { $0.filesActive == 1 }
        let change = try await harness.queue.writer.cancel([.batch(batch)])
        await harness.engine.stop(change.stopped)
        hold.reach()
        #expect(try await harness.finished(batch).filesCancelled == 1)
        #expect(try await harness.events(.taskCancelled).count == 1)
        #expect(harness.store.paths.isEmpty)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a resume that overtakes its pause leaves one attempt, not two")
    func overtaken() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0 ? .holdBody(100_000, hold) : .ordinary
        }
        try harness.sandbox.write("f", [UInt8](repeating: 1, count: 32_000_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.batch(batch) { $0.filesActive == 1 }
        // The engine hears of both together, and of the pause last.
        let pause = try await harness.queue.writer.pause([.batch(batch)])
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        await harness.engine.stop(pause.stopped)
        #expect(await harness.engine.hosts.slots.inUse == 0)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        hold.reach()
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a batch that may not begin yet waits for its time")
    func notBefore() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let due = Timestamp(milliseconds: WallClock.milliseconds + 1500)
        let task = try await harness.run(harness.request(upload: ["f"]) { $0.options.notBefore = due })
        #expect(task.state == .completed)
        #expect(try #require(task.finishedAt) >= due)
        await harness.stop()
    }

    @Test(
        "a host that could not be reached is open for all again as soon as bytes move, not when the first file is over")
    func hostBack() async throws {
        let harness = try await EngineHarness()
        for name in ["a", "b", "c"] { try harness.sandbox.write(name, pattern(3_000_000)) }
        harness.store.stop()
        let batch = try await harness.add(harness.request(upload: ["a", "b", "c"]))
        try await harness.batch(batch) { $0.waitReasons.contains(.hostBackoff) }
        let hold = try Milestone()
        let first = Mutex(true)
        let back = try FakeStore(port: harness.store.server.port) { request, _ in
            let isFirst = request.method == "PUT" && first.withLock { was in (was, was = false).0 }
            return isFirst ? .holdBody(1000, hold) : .ordinary
        }
        try await harness.batch(batch) { $0.filesCompleted == 2 }
        hold.reach()
        try await harness.finished(batch)
        #expect(back.paths.count == 3)
        await harness.stop()
    }

    @Test("thousands of small files go up with few commits to wait for, each once")
    func many() async throws {
        let harness = try await EngineHarness()
        for index in 0..<1500 { try harness.sandbox.write("d/\(index)", [UInt8(truncatingIfNeeded: index)]) }
        let batch = try await harness.add(harness.request(upload: ["d"]))
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesCompleted == 1500 && harness.store.paths.count == 1500)
        #expect(harness.store.server.requests.count == 1500)
        #expect(harness.store.server.connectionCount <= 8)
        try await harness.expectSound()
        await harness.stop()
    }
}

extension TransferEngine {
    /// Exchanges that draw from the engine's limit.
    fileprivate var upBucketUsers: Int? { limitBook.up?.users }
}
