import LinuxSystem
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("What stands in the way of the queue") struct HealthTests {
    @Test(
        "a queue that takes nothing says so as long as something waits to be stored, and goes on by itself",
        .timeLimit(.minutes(1)))
    func trouble() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        #expect(queue.writer.health.trouble == nil)
        queue.writer.record(.running, for: task.id)
        // The interval, which has begun, is longer than the test: the pause after a failure does not wait for it.
        try await until { await queue.writer.isTimerSet }
        try System.rename(sandbox.path("queue.sqlite").bytes, to: sandbox.path("away").bytes)
        await #expect(throws: QueueError.self) { try await queue.writer.commit() }
        #expect(queue.writer.health.trouble == .gone(sandbox.path("queue.sqlite").displayed))
        try System.rename(sandbox.path("away").bytes, to: sandbox.path("queue.sqlite").bytes)
        // The next try comes by itself, a second later.
        var changes = queue.changes().makeAsyncIterator()
        while queue.writer.health.trouble != nil, await changes.next() != nil {}
        #expect(queue.writer.health.trouble == nil)
        #expect(try await queue.reader.task(task.id)?.state == .running)
        // A request that fails alone leaves nothing behind that stands still.
        try System.rename(sandbox.path("queue.sqlite").bytes, to: sandbox.path("away").bytes)
        await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["https://host/a"])) }
        #expect(queue.writer.health.trouble == nil)
        await queue.abandon()
    }
}
