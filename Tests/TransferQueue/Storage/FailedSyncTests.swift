import LinuxSystem
import Testing
import TransferModel

@testable import TransferQueue

/// Linux tells of a failed sync once, and then takes pages for written that are not.
@Suite("A disk that failed to sync the log") struct FailedSyncTests {
    /// The queue as a power cut leaves it now: the database, and what the disk has of the log.
    private func afterPowerCut(_ sandbox: Sandbox, _ disk: ForgetfulDisk) async throws -> [BatchID] {
        let next = try Sandbox()
        try next.write("queue.sqlite", sandbox.contents("queue.sqlite"))
        try next.write("queue.sqlite-wal", disk.durable)
        let queue = try next.open()
        let batches = try await queue.reader.batches().map(\.id)
        #expect(try await queue.reader.check() == [])
        await queue.abandon()
        return batches
    }

    private func sandbox() throws -> (Sandbox, ForgetfulDisk) {
        let sandbox = try Sandbox()
        return (sandbox, ForgetfulDisk(sandbox.path("queue.sqlite-wal").displayed))
    }

    /// The queue's files as a kill leaves them, with all that the kernel shows of them. (Who closes a queue in an orderly way copies its log.)
    private func killed(
        _ queue: TransferQueue, _ sandbox: Sandbox, _ disk: ForgetfulDisk
    ) async throws -> (Sandbox, ForgetfulDisk) {
        let next = try Sandbox()
        for name in ["queue.sqlite", "queue.sqlite-wal"] { try next.write(name, sandbox.contents(name)) }
        await queue.abandon()
        return (next, ForgetfulDisk(next.path("queue.sqlite-wal").displayed, durable: disk.durable))
    }

    @Test("what is queued after it is there after a power cut, though the engine was killed in between")
    func killed() async throws {
        let (sandbox, disk) = try sandbox()
        var queue = try sandbox.open()
        let first = try await queue.writer.add(.downloads(["https://host/a"])).batch
        disk.failNextSync()
        let error = await #expect(throws: QueueError.self) {
            try await queue.writer.add(.downloads(["https://host/b"]))
        }
        #expect(
            "\(try #require(error))"
                == "the queue cannot be used: disk I/O error (SQLite 1034): check the disk and its permissions")
        let (next, nextDisk) = try await killed(queue, sandbox, disk)
        queue = try next.open()
        let second = try await queue.writer.add(.downloads(["https://host/c"])).batch
        #expect(try await afterPowerCut(next, nextDisk) == [first, second])
        await queue.abandon()
    }

    @Test("what was refused because of it is not there, though the engine was killed right after")
    func refused() async throws {
        let (sandbox, disk) = try sandbox()
        let queue = try sandbox.open()
        let first = try await queue.writer.add(.downloads(["https://host/a"])).batch
        disk.failNextSync()
        await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["https://host/b"])) }
        let (next, nextDisk) = try await killed(queue, sandbox, disk)
        let again = try next.open()
        #expect(!nextDisk.isFailing)
        #expect(try await again.reader.batches().map(\.id) == [first])
        await again.abandon()
    }

    @Test("the entries of a walk that it lost come before what was committed after them")
    func later() async throws {
        let (sandbox, disk) = try sandbox()
        let queue = try sandbox.open()
        let first = try await queue.writer.add(.downloads(["https://host/a"])).batch
        try await queue.writer.commitLater()
        disk.failNextSync()
        await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["https://host/b"])) }
        let second = try await queue.writer.add(.downloads(["https://host/c"])).batch
        #expect(!disk.isFailing)
        #expect(try await afterPowerCut(sandbox, disk) == [first, second])
        await queue.abandon()
    }
}

extension QueueWriter {
    /// A commit by which the log grows; on the disk with the next one.
    fileprivate func commitLater() throws(QueueError) {
        try change(.later) { try store.queue.acknowledge("nobody", through: EventSequence(rawValue: 1)) }
    }
}
