import Glibc
import LinuxSystem
import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("What stands in the way of the queue") struct HealthTests {
    @Test(
        "a disk without room is told as that, whatever SQLite calls it, and a quota as a quota",
        arguments: [
            // SQLITE_FULL, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE, SQLITE_CANTOPEN.
            (Int32(13), Int32(0), "the disk that holds the queue is full: make room there"),
            (4874, ENOSPC, "the disk that holds the queue is full: make room there"),
            (778, EDQUOT, "the quota of the disk that holds the queue is used up: make room there"),
            (14, EDQUOT, "the quota of the disk that holds the queue is used up: make room there"),
            // The number is of an earlier failure.
            (11, ENOSPC, "the queue cannot be used: told (SQLite 11): check the disk and its permissions"),
        ])
    func room(code: Int32, system: Int32, told: String) {
        let error = SQLiteError(extendedCode: code, message: "told", sql: nil, systemError: system)
        #expect(QueueError.database(error).description == told)
        guard error.code != .corrupt else { return }
        #expect(QueueOpenError.database(error).description == told)
        let secrets = SecretsFailure(error, file: RawPath("/s/secrets.sqlite"))
        #expect(secrets.isFullDisk)
        #expect(secrets.description == told.replacing("the queue", with: "/s/secrets.sqlite"))
    }

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
