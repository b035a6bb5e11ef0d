import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// A file of somebody else under the final name of a download that has a digest.
@Suite(.timeLimit(.minutes(2))) struct StandingFileTests {
    /// A file with a hole of 64 GiB in it, whose digest takes longer than any test.
    private func putHole(_ harness: EngineHarness, _ name: String) throws {
        try harness.sandbox.write(name, [])
        let file = try System.open(harness.sandbox.path(name), flags: O_WRONLY)
        try System.ftruncate(file.rawValue, to: 64 << 30)
    }

    private func sha256(_ bytes: [UInt8]) -> String { DigestAlgorithm.sha256.digest(of: bytes).hex }

    @Test("one of another length than the server tells is another file: it is not read")
    func otherLength() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        harness.store.put("/f", pattern(1000))
        try putHole(harness, "out/f")
        try await harness.engine.occupy(.digest, of: harness.sandbox.path("out"), until: hold)
        let task = try await harness.run(
            harness.request(download: ["/f"]) { $0.options.sha256 = sha256(pattern(1000)) })
        #expect(task.state == .failed && task.cause == .destinationExists)
        hold.reach()
        await harness.stop()
    }

    @Test("the comparison with it keeps no other digest waiting, and ends by a pause, a cancel and the engine's end")
    func endless() async throws {
        let harness = try await EngineHarness()
        try putHole(harness, "out/f")
        harness.store.put("/g", pattern(1000))
        let hole = harness.sandbox.path("out/f")
        func add(_ name: String, _ digest: String) async throws -> BatchID {
            try await harness.add(harness.request(download: ["/" + name], as: name) { $0.options.sha256 = digest })
        }

        /// Returns when the comparison stands in line at its disk, whose thread is kept busy until the milestone.
        func standing() async throws -> Milestone {
            let hold = try Milestone()
            try await harness.engine.occupy(.digest, of: harness.sandbox.path("out"), until: hold)
            await harness.engine.queueChanged()
            try await until { descriptor(of: hole) != nil }
            return hold
        }

        let batch = try await add("f", sha256([]))
        let first = try await standing()
        let other = try await add("g", sha256(pattern(1000)))
        try await harness.task(of: other) { $0.state == .finishing && $0.bytesAccepted == 1000 }
        first.reach()
        try await harness.finished(other)
        #expect(try await harness.tasks(other).map(\.verified) == [.digest])
        var change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        await harness.engine.waitUntilIdle()
        #expect(try await harness.tasks(batch).map(\.state) == [.paused])

        _ = try await harness.queue.writer.resume([.batch(batch)])
        let second = try await standing()
        change = try await harness.queue.writer.cancel([.batch(batch)])
        await harness.engine.stop(change.stopped)
        second.reach()
        await harness.engine.waitUntilIdle()
        #expect(try await harness.tasks(batch).map(\.state) == [.cancelled])
        try await harness.expectSound()

        _ = try await add("f", sha256([]))
        let third = try await standing()
        _ = await harness.engine.shutdown(.now)
        third.reach()
        await harness.engine.waitUntilIdle()
        #expect(harness.sandbox.names("out") == ["f", "g"])
        await harness.stop()
    }

    @Test("a link to an endless device that takes its place in the last moment is not followed")
    func swapped() async throws {
        let harness = try await EngineHarness()
        let name = "swapped-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        try harness.sandbox.write("out/" + name, [1])
        let path = harness.sandbox.path("out/" + name)
        ForcedFailures.act(before: .open, on: .path(containing: name)) {
            try? System.unlink(path)
            symlink("/dev/zero", String(decoding: path, as: UTF8.self))
        }
        let task = try await harness.run(
            harness.request(download: ["/f"], as: name) { $0.options.sha256 = sha256([1]) })
        #expect(task.state == .failed && task.cause == .destinationExists)
        await harness.stop()
    }
}
