import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// A batch that is given a later time starts nothing before it, whatever the engine has at hand.
@Suite("Times before which nothing starts", .timeLimit(.minutes(2))) struct StartTimeTests {
    /// An engine that sends the first of four files and has the others at hand.
    private func sending(
        _ hold: Milestone, runNow: Bool = false, size: Int = 200_000
    ) async throws -> (EngineHarness, BatchID) {
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1, transfersPerHost: 1)) {
            request, earlier in
            request.method == "PUT" && earlier == 0 ? .holdBody(100_000, hold) : .ordinary
        }
        let batch = try await harness.addAndList(files: 4, of: size, in: "d") { request in
            if runNow { request.options.notBefore = .inSeconds(86_400) }
        }
        if runNow {
            _ = try await harness.queue.writer.runNow([.batch(batch)])
            await harness.engine.queueChanged()
        }
        try await harness.batch(batch) { $0.filesActive > 0 }
        try await until { await harness.engine.filesAtHand + harness.engine.hosts.slots.inUse >= 4 }
        return (harness, batch)
    }

    // More than the sockets between hold, so that the server cannot have it all.
    private let large = 32_000_000

    @Test("a later time stops what runs and what is claimed ahead, and a time that has passed lets it go on")
    func later() async throws {
        let hold = try Milestone()
        let (harness, batch) = try await sending(hold, size: large)
        let change = try await harness.queue.writer.set([.batch(batch)], NodeSettings(notBefore: .inSeconds(86_400)))
        #expect(change.stopped.count == 4)
        await harness.engine.stop(change.stopped)
        await harness.engine.queueChanged()
        hold.reach()
        await harness.engine.waitUntilIdle()
        #expect(Set(harness.store.server.requests.map(\.target)).count == 1)
        #expect(try await harness.queue.reader.batch(batch)?.filesActive == 0)
        _ = try await harness.queue.writer.set([.batch(batch)], NodeSettings(notBefore: .inSeconds(-1)))
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).filesCompleted == 4)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "an upload that may replace nothing any more does not, though it had begun", arguments: [false, true])
    func mayNotReplace(isUndone: Bool) async throws {
        let hold = try Milestone()
        @Sendable func replaces(_ request: ScriptedServer.Request) -> Bool {
            request.method == "PUT" && request.fields["if-none-match"] == nil
        }
        let harness = try await EngineHarness { request, _ in
            replaces(request) ? .holdBody(100_000, hold) : .ordinary
        }
        harness.store.put("/in/a", [9])
        try harness.sandbox.write("a", pattern(large))
        let request = harness.request(upload: ["a"]) { $0.options.ifExists = isUndone ? .fail : .replace }
        let batch = try await harness.add(request)
        var setAt = Timestamp.inSeconds(0)
        if isUndone {
            try await harness.finished(batch)
            _ = try await harness.queue.writer.set([.batch(batch)], NodeSettings(ifExists: .replace))
            // Within the time in which it can be taken back, however long what follows takes.
            setAt = .inSeconds(0)
            await harness.engine.settingsChanged()
            _ = try await harness.queue.writer.retry([.batch(batch)])
            await harness.engine.queueChanged()
        }
        try await until { harness.store.server.requests.contains(where: replaces) }
        let change =
            isUndone
            ? try await harness.queue.writer.undo(.last, now: setAt)
            : try await harness.queue.writer.set([.batch(batch)], NodeSettings(ifExists: .fail))
        #expect(change.stopped.isEmpty && change.begunAnew.count == 1)
        await harness.engine.follow(change)
        hold.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        // What was sent before cannot have made a file that is older than it; of one as old nobody knows.
        let causes: [TransferErrorCode] = [.destinationExists, .unknownOutcome]
        #expect(task.state == .failed && task.cause.map { causes.contains($0) } == true, "\(task)")
        // Not the bytes themselves: 32 MB of them are no message.
        #expect(harness.store["/in/a"]?.count == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a run-now that is taken back brings the batch's time back")
    func runNowTakenBack() async throws {
        let hold = try Milestone()
        let (harness, _) = try await sending(hold, runNow: true, size: large)
        let change = try await harness.queue.writer.undo(.last, now: .inSeconds(0))
        #expect(change.undone == .runNow && change.stopped.count == 4)
        await harness.engine.stop(change.stopped)
        await harness.engine.queueChanged()
        hold.reach()
        await harness.engine.waitUntilIdle()
        // What is wanted now has one slot more.
        #expect(Set(harness.store.server.requests.map(\.target)).count <= 2)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("what is at hand of a batch whose time is later does not start, before its claims are given back too")
    func atHand() async throws {
        let hold = try Milestone()
        let (harness, batch) = try await sending(hold)
        let change = try await harness.queue.writer.set([.batch(batch)], NodeSettings(notBefore: .inSeconds(86_400)))
        await harness.engine.queueChanged()
        try await until { await harness.engine.knowsOfTime }
        hold.reach()
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.count == 1)
        await harness.engine.stop(change.stopped)
        await harness.stop()
    }

    @Test("files that a person wanted at once go on when their batch is given a later time")
    func wantedNow() async throws {
        let hold = try Milestone()
        let (harness, batch) = try await sending(hold, size: large)
        let last = try #require(try await harness.tasks(batch).last)
        let now = try await harness.queue.writer.runNow([.task(last.id)])
        await harness.engine.reordered(now.reordered)
        let change = try await harness.queue.writer.set([.batch(batch)], NodeSettings(notBefore: .inSeconds(86_400)))
        #expect(!change.stopped.isEmpty && !change.stopped.contains { $0.task == last.id })
        await harness.engine.stop(change.stopped)
        await harness.engine.queueChanged()
        hold.reach()
        try await harness.batch(batch) { $0.filesCompleted > 0 }
        #expect(try await harness.queue.reader.task(last.id)?.state == .completed)
        await harness.stop()
    }
}

extension Timestamp {
    static func inSeconds(_ seconds: Double) -> Timestamp {
        Timestamp(milliseconds: WallClock.milliseconds + Int64(seconds * 1000))
    }
}

extension TransferEngine {
    fileprivate var knowsOfTime: Bool { lanes.all.contains { $0.summary.notBefore != nil } }
}
