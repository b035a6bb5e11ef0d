import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// Work at a disk that does not end, and what goes on beside it.
@Suite(.timeLimit(.minutes(2))) struct DiskLaneTests {
    private static let size = 300_000
    /// A folder on a disk of its own.
    private static let other = "/dev/shm"
    private static let hasOther: Bool = {
        let own = (try? Sandbox()).flatMap { try? System.stat($0.path).device }
        let other = try? System.stat(Array(Self.other.utf8)).device
        return access(Self.other, W_OK) == 0 && own != nil && other != nil && own != other
    }()

    private func download(
        _ harness: EngineHarness, _ name: String, into folder: [UInt8]? = nil, digest: Bool = false
    ) async throws -> BatchID {
        harness.store.put("/" + name, pattern(Self.size))
        let source = DownloadSource(
            url: harness.store.url("/" + name), directory: RawPath(folder ?? harness.sandbox.path("out")),
            fileName: nil)
        var request = BatchRequest(work: .download([source]))
        if digest { request.options.sha256 = DigestAlgorithm.sha256.digest(of: pattern(Self.size)).hex }
        return try await harness.add(request)
    }

    @Test("a disk that does not answer holds up the downloads that go there and no others", .enabled(if: hasOther))
    func otherDisk() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        let folder = Array("\(Self.other)/martlet-lanes-\(System.processID)".utf8)
        try System.mkdirs(folder)
        defer {
            if let reader = try? DirectoryReader(path: folder) {
                while let entry = try? reader.next() { try? System.unlink(folder + [UInt8(ascii: "/")] + entry.name) }
            }
            try? System.rmdir(folder)
        }
        try System.mkdirs(harness.sandbox.path("out"))
        for kind in [DiskWorkers.Kind.sync, .digest, .name] {
            try await harness.engine.occupy(kind, of: harness.sandbox.path("out"), until: hold)
        }
        let held = try await download(harness, "f", digest: true)
        try await until { await harness.engine.live().tasks.first?.bytesSent == Int64(Self.size) }
        let free = try await download(harness, "g", into: folder, digest: true)
        try await harness.finished(free)
        let task = try #require(try await harness.tasks(free).first)
        #expect(task.state == .completed && task.verified == .digest, "\(task)")
        #expect(try await harness.tasks(held).first?.state.isTerminal == false)
        #expect(harness.downloads() == ["f.part"])
        hold.reach()
        try await harness.finished(held)
        #expect(try await harness.tasks(held).first?.verified == .digest)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("one file that the disk does not take holds no other download up")
    func oneSync() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        try System.mkdirs(harness.sandbox.path("out"))
        try await harness.engine.occupyOne(.sync, of: harness.sandbox.path("out"), until: hold)
        let batch = try await download(harness, "f", digest: true)
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        hold.reach()
        await harness.stop()
    }

    @Test("a digest that takes long holds no sync and no name up, a name that takes long no sync and no digest")
    func kinds() async throws {
        let (digest, name) = (try Milestone(), try Milestone())
        let harness = try await EngineHarness()
        let out = harness.sandbox.path("out")
        try System.mkdirs(out)
        try await harness.engine.occupy(.digest, of: out, until: digest)
        let compared = try await download(harness, "f", digest: true)
        try await harness.task(of: compared) { $0.state == .finishing && $0.bytesAccepted == Int64(Self.size) }
        let plain = try await download(harness, "g")
        try await harness.finished(plain)
        #expect(try await harness.tasks(plain).first?.state == .completed)
        #expect(harness.downloads() == ["f.part", "g"])
        try await harness.engine.occupy(.name, of: out, until: name)
        digest.reach()
        let third = try await download(harness, "h", digest: true)
        try await harness.task(of: third) { $0.state == .finishing && $0.bytesAccepted == Int64(Self.size) }
        // That it returns says that the thread for digests is free.
        try await harness.engine.awaitLane(.digest, of: out)
        #expect(harness.downloads() == ["f.part", "g", "h.part"])
        name.reach()
        for batch in [compared, third] {
            try await harness.finished(batch)
            #expect(try await harness.tasks(batch).first?.verified == .digest)
        }
        try await harness.expectSound()
        await harness.stop()
    }
}

extension TransferEngine {
    /// Keeps one thread busy that does such work for the disk of a folder.
    fileprivate func occupyOne(_ kind: DiskWorkers.Kind, of folder: [UInt8], until milestone: Milestone) throws {
        disks.worker(kind, device: try System.stat(folder).device).submit {
            milestone.waitBlocking(milliseconds: -1)
        }
    }

    /// Returns when such work for the disk of a folder is done that was there before.
    fileprivate func awaitLane(_ kind: DiskWorkers.Kind, of folder: [UInt8]) async throws {
        await disks.worker(kind, device: try System.stat(folder).device).run {}
    }
}
