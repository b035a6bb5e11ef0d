import LinuxSystem
import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferQueue

/// What the engine owes the queue is done once the queue takes changes again.
@Suite("Commits that the queue refuses", .timeLimit(.minutes(2))) struct RefusedCommitTests {
    /// An engine that claims nothing, and a batch of it with so many small files.
    private func idle(_ reports: RecordingReports, files: Int = 1) async throws -> (EngineHarness, BatchID) {
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 0), reports: reports)
        return (harness, try await harness.addAndList(files: files, in: "d"))
    }

    @Test("what waits for its time goes on")
    func wakeDue() async throws {
        let reports = RecordingReports()
        let harness = try await EngineHarness(reports: reports)
        let batch = try await harness.addAndList(files: 1, in: "d") { $0.held = true }
        let task = try #require(try await harness.tasks(batch).first)
        _ = try await harness.queue.writer.set([.task(task.id)], NodeSettings(notBefore: .inSeconds(0.2)))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        try harness.refuseCommits()
        await harness.engine.queueChanged()
        try await reports.errors(1)
        try harness.acceptCommits()
        #expect(try await harness.finished(batch).filesCompleted == 1)
        await harness.stop()
    }

    @Test("a claim is tried after a pause, and a log says once that the queue cannot be written")
    func claim() async throws {
        let reports = RecordingReports()
        let (harness, first) = try await idle(reports)
        for count in 1...2 {
            await harness.engine.setLimits(EngineLimits(transfers: 0))
            let batch = count == 1 ? first : try await harness.addAndList(files: 1, in: "e")
            await harness.engine.waitUntilIdle()
            try harness.refuseCommits()
            await harness.engine.setLimits(EngineLimits())
            try await reports.errors(count)
            // A claim that is tried again at once comes in between these.
            for _ in 0..<300 { _ = try await harness.queue.writer.lanes() }
            #expect(reports.errors == count)
            try harness.acceptCommits()
            #expect(try await harness.finished(batch).filesCompleted == 1)
            await harness.engine.waitUntilIdle()
        }
        await harness.stop()
    }

    @Test("a claim that is wanted no more is not tried again, and a stop does not wait for it")
    func stop() async throws {
        let reports = RecordingReports()
        let (harness, batch) = try await idle(reports)
        try harness.refuseCommits()
        await harness.engine.setLimits(EngineLimits())
        try await reports.errors(1)
        #expect(await harness.engine.shutdown(.now))
        await harness.engine.waitUntilIdle()
        try harness.acceptCommits()
        #expect(try await harness.queue.reader.batch(batch)?.filesWaiting == 1)
        await harness.stop()
    }

    @Test("claims of another order are given back later, and nobody waits for that")
    func reordered() async throws {
        let hold = try Milestone()
        let reports = RecordingReports()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1), reports: reports) { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .ordinary
        }
        let batch = try await harness.addAndList(files: 3, of: 200_000, in: "d")
        try await harness.batch(batch) { $0.filesActive == 1 }
        try await until { await harness.engine.filesAtHand >= 2 }
        try harness.refuseCommits()
        await harness.engine.reordered([batch])
        #expect(await harness.engine.filesAtHand == 0)
        try await reports.errors(1)
        try harness.acceptCommits()
        hold.reach()
        #expect(try await harness.finished(batch).filesCompleted == 3)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("limits that could not be read hold as soon as they can be, though nobody sets them again")
    func limits() async throws {
        let reports = RecordingReports()
        let harness = try await EngineHarness(reports: reports)
        try harness.sandbox.write("f", [UInt8](repeating: 1, count: 400_000))
        // So slow that nobody waits for it.
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.bytesPerSecond = 1 })
        _ = try await harness.task(of: batch) { $0.state == .running }
        try await harness.queue.writer.changeLimits(scoped: [.host("127.0.0.1"): 2])
        try await harness.queue.writer.hideLimits(true)
        await harness.engine.settingsChanged()
        try await reports.errors(1)
        #expect(await harness.engine.limitsOfTheirOwn == 1)
        try await harness.queue.writer.hideLimits(false)
        try await until { await harness.engine.limitsOfTheirOwn >= 2 }
        try await harness.queue.writer.changeLimits(scoped: [.host("127.0.0.1"): 0])
        _ = try await harness.queue.writer.set([.batch(batch)], NodeSettings(limit: 0))
        await harness.engine.settingsChanged()
        try await harness.finished(batch)
        await harness.stop()
    }

    @Test("files that waited for a login are sent after another one was let in")
    func letIn() async throws {
        let wanted = SharedValue("another")
        let reports = RecordingReports()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1), reports: reports) { request, _ in
            request.fields["authorization"] == wanted.withLock { $0 }
                ? .ordinary : .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""])
        }
        let batch = try await harness.addAndList(files: 3, in: "d") { request in
            request.secrets.user = "me"
            request.secrets.password = "pw"
        }
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        wanted.withLock { $0 = "Basic bWU6cHc=" }
        try harness.refuseCommits()
        await harness.engine.tryAgain()
        try await until { harness.store.paths.count >= 2 }
        try await reports.errors(1)
        try harness.acceptCommits()
        #expect(try await harness.finished(batch).filesCompleted == 3)
        await harness.stop()
    }

    @Test("a clock that was set meanwhile is followed")
    func clock() async throws {
        let (reports, ahead) = (RecordingReports(), SharedValue<Int64>(0))
        let harness = try await EngineHarness(reports: reports, clockAhead: ahead)
        let batch = try await harness.addAndList(files: 1, in: "d") { $0.held = true }
        let task = try #require(try await harness.tasks(batch).first)
        _ = try await harness.queue.writer.set([.task(task.id)], NodeSettings(notBefore: .inSeconds(86_400)))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        await harness.engine.waitUntilIdle()
        try harness.refuseCommits()
        ahead.withLock { $0 = 2 * 86_400_000 }
        await harness.engine.setLimits(EngineLimits())
        try await reports.errors(1)
        try harness.acceptCommits()
        #expect(try await harness.finished(batch).filesCompleted == 1)
        await harness.stop()
    }

    @Test("purged batches are forgotten")
    func sweep() async throws {
        let reports = RecordingReports()
        let harness = try await EngineHarness(reports: reports)
        let batch = try await harness.addAndList(files: 1, in: "d")
        try await harness.finished(batch)
        await harness.engine.waitUntilIdle()
        await harness.queue.writer.setGraceTime(.zero)
        _ = try await harness.queue.writer.purge([.batch(batch)])
        try harness.refuseCommits()
        await harness.engine.planSweep(after: .zero)
        try await reports.errors(1)
        try harness.acceptCommits()
        try await until { try await harness.queue.writer.order(of: batch) == nil }
        await harness.stop()
    }
}

extension QueueWriter {
    /// Hides the table of limits, so that they cannot be read, or shows it again.
    fileprivate func hideLimits(_ hides: Bool) throws {
        let names = hides ? ("limits", "hidden_limits") : ("hidden_limits", "limits")
        try store.database.execute(script: "ALTER TABLE \(names.0) RENAME TO \(names.1)")
    }
}

extension TransferEngine {
    fileprivate var limitsOfTheirOwn: Int { limitBook.own.count }
}

extension RecordingReports {
    var errors: Int { all.withLock { $0.count { $0.level == .error } } }

    /// Waits until so many errors were told of.
    func errors(_ count: Int) async throws {
        try await until { errors >= count }
    }
}
