import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// Without `--follow-links` nothing is read behind a link that no person has named, whenever it came there.
@Suite(.timeLimit(.minutes(2))) struct SourcePlaceTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func link(_ target: String, _ path: [UInt8]) {
        #expect(symlink(target, String(decoding: path, as: UTF8.self)) == 0)
    }

    /// Puts a link to another folder, which has files of the same names, in a folder's place.
    private func swap(_ folder: String, in box: Sandbox) throws {
        try System.rename(box.path(folder), to: box.path("aside"))
        link(String(decoding: box.path("secret"), as: UTF8.self), box.path(folder))
    }

    private func putBack(_ folder: String, in box: Sandbox) throws {
        try System.unlink(box.path(folder))
        try System.rename(box.path("aside"), to: box.path(folder))
    }

    private func place(_ below: String) -> SourcePlace {
        SourcePlace(named: RawPath(sandbox.path("d")), below: RawPath(below))
    }

    private func open(_ place: SourcePlace, followsLinks: Bool = false) -> Result<SourceFile, TransferError> {
        Result { () throws(LocalRefusal) in try SourceFile(place, followsLinks: followsLinks) }.mapError(\.error)
    }

    @Test("a file behind a link is refused, and the refusal names the link and what to do")
    func behind() throws {
        try sandbox.write("d/a/b/key", [1])
        try sandbox.write("secret/b/key", [2])
        #expect(try open(place("a/b/key")).get().bytes == [1])
        try swap("d/a", in: sandbox)
        #expect(throws: TransferError.self) { try open(place("a/b/key")).get() }
        guard case .failure(let error) = open(place("a/b/key")) else { return }
        #expect(error.code == .sourceUnreadable && error.finding.isOfFile)
        #expect(error.happening.contains("d/a/b/key was not read, because a folder above it became a link ("))
        #expect(error.happening.hasSuffix("d/a)"))
        #expect(error.finding.advice == "put the folder back and retry, or queue it again with --follow-links")
        #expect(try open(place("a/b/key"), followsLinks: true).get().bytes == [2])
        try putBack("d/a", in: sandbox)
        #expect(try open(place("a/b/key")).get().bytes == [1])
    }

    @Test("a link in a file's own place is refused below the named folder, and followed where it was named")
    func itself() throws {
        try sandbox.write("secret/key", [2])
        try sandbox.write("d/x", [1])
        link("../secret/key", sandbox.path("d/key"))
        guard case .failure(let error) = open(place("key")) else {
            Issue.record("a link was followed")
            return
        }
        #expect(error.code == .sourceUnreadable && error.happening.hasSuffix("d/key is a link now"))
        #expect(try open(SourcePlace(named: RawPath(sandbox.path("d/key")))).get().bytes == [2])
        #expect(try open(place("key"), followsLinks: true).get().bytes == [2])
    }

    @Test("links in the named path are followed, and names of any bytes, and paths as long as there can be")
    func named() throws {
        let odd: [UInt8] = [0xFF, 0x0A, 0x20, 0x2E]
        try sandbox.write(Array("d/".utf8) + odd + Array("/".utf8) + odd, [7])
        link("d", sandbox.path("link"))
        let below = RawPath(odd + Array("/".utf8) + odd)
        #expect(try open(SourcePlace(named: RawPath(sandbox.path("link")), below: below)).get().bytes == [7])
        // Together longer than a path may be: each part is one of its own.
        let folder = String(repeating: "n", count: 200)
        let deep = Array(repeating: folder, count: 15).joined(separator: "/")
        try sandbox.write("d/\(deep)/f", [8])
        #expect(try open(place("\(deep)/f")).get().bytes == [8])
        let top = Array(repeating: folder, count: 14).joined(separator: "/")
        try sandbox.write("\(top)/f", [9])
        let long = SourcePlace(named: RawPath(sandbox.path("\(top)")), below: RawPath("f"))
        #expect(try open(long).get().bytes == [9])
    }

    @Test("what was opened stays whole when a link comes above it; another file under its name is a change")
    func changes() throws {
        try sandbox.write("d/a/f", pattern(100_000))
        try sandbox.write("secret/f", pattern(100_000, seed: 1))
        let source = try open(place("a/f")).get()
        #expect(source.change == nil)
        try swap("d/a", in: sandbox)
        #expect(source.change == nil, "nobody looks behind the link")
        try putBack("d/a", in: sandbox)
        try System.rename(sandbox.path("d/a/f"), to: sandbox.path("d/a/g"))
        #expect(source.change == nil, "a name that is gone")
        link("../../secret/f", sandbox.path("d/a/f"))
        #expect(source.change != nil, "a link is another file")
        try System.unlink(sandbox.path("d/a/f"))
        try sandbox.write("d/a/f", [1])
        #expect(source.change?.size == 1)
    }

    @Test("a folder that becomes a link between the listing of its parent and its own is not listed")
    func walk() async throws {
        let harness = try await EngineHarness(started: false)
        let box = harness.sandbox
        try box.write("d/a/b/key", [1])
        try box.write("d/z", [1])
        try box.write("secret/b/key", [2])
        try box.write("secret/other", [2])
        for followsLinks in [false, true] {
            let batch = try await harness.queue.writer.add(
                harness.request(upload: ["d"]) { request in
                    request.held = true
                    request.options.followLinks = followsLinks
                }
            ).batch
            let writer = harness.queue.writer
            let walker = try DirectoryWalker()
            let source = try #require(try await writer.unscannedSources(of: batch).first)
            try await writer.begin(try await walker.inspect([source]))
            // The root, then `a`, which is a folder when its name is read.
            var folders = try await writer.foldersToWalk(of: source.source, limit: 64)
            folders = try await writer.insert(walked: await walker.list(folders, of: source, limit: 500)).folders
            #expect(folders.map(\.relative) == [RawPath("a")])
            try swap("d/a", in: box)
            let chunk = try #require(try await walker.list(folders, of: source, limit: 500).first)
            try putBack("d/a", in: box)
            if followsLinks {
                #expect(chunk.files.map(\.name) == [RawPath("other")] && chunk.folders == [RawPath("b")])
            } else {
                #expect(chunk.files.isEmpty && chunk.folders.isEmpty && chunk.isLast)
                #expect(chunk.unreadable?.code == .sourceUnreadable)
                #expect(chunk.unreadable?.happening.hasSuffix("d/a is a link now") == true)
            }
            // One further down.
            folders = try await writer.insert(
                walked: await walker.list(folders, of: source, limit: 500)
            ).folders
            #expect(folders.map(\.relative) == [RawPath("a/b")])
            try swap("d/a", in: box)
            let below = try #require(try await walker.list(folders, of: source, limit: 500).first)
            try putBack("d/a", in: box)
            #expect(below.files.count == (followsLinks ? 1 : 0))
            #expect((below.unreadable == nil) == followsLinks)
            await walker.stop()
        }
        await harness.stop()
    }

    @Test(
        "a folder that becomes a link between queueing and sending is not read, and a retry sends it once it is back",
        arguments: [UploadSource.Placement.named(RawPath("d")), .contents])
    func attempt(placement: UploadSource.Placement) async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        try box.write("d/a/key", [1])
        try box.write("d/top", [1])
        try box.write("secret/key", [2, 2])
        var request = harness.request(upload: ["d"]) { $0.held = true }
        request.work = .upload(
            [UploadSource(path: RawPath(box.path("d")), placement: placement)], to: harness.store.url("/in/"))
        let batch = try await harness.add(request)
        try await harness.batch(batch) { !$0.scanning && $0.filesTotal == 2 }
        try swap("d/a", in: box)
        // A file at the top, whose remote path may have no slash.
        try System.unlink(box.path("d/top"))
        link("../secret/key", box.path("d/top"))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesFailed == 2 && snapshot.causes.map(\.code) == [.sourceUnreadable])
        #expect(harness.store.paths.isEmpty)
        try putBack("d/a", in: box)
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.queueChanged()
        let retried = try await harness.batch(batch) { $0.filesCompleted == 1 && $0.filesFailed == 1 }
        #expect(retried.bytesSent == 1 && harness.store.paths.count == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("with links followed a folder that becomes a link is read behind it, as before")
    func followed() async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        try box.write("d/a/key", [1])
        try box.write("secret/key", [2, 2])
        let batch = try await harness.add(
            harness.request(upload: ["d"]) { request in
                request.held = true
                request.options.followLinks = true
            })
        try await harness.batch(batch) { !$0.scanning && $0.filesTotal == 1 }
        try swap("d/a", in: box)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).bytesSent == 2)
        #expect(harness.store.paths == ["/in/d/a/key"])
        await harness.stop()
    }
}
