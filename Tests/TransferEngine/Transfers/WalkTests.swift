import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct WalkTests {
    private func link(_ target: String, _ path: [UInt8]) { symlink(target, String(decoding: path, as: UTF8.self)) }

    @Test("links, pipes and excluded names are left out, and a link is followed only on demand")
    func selection() async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        for name in ["d/a.jpg", "d/b.raw", "d/.git/x.jpg", "d/sub/c.jpg", "elsewhere/e.jpg"] {
            try box.write(name, [1])
        }
        link("a.jpg", box.path("d/link.jpg"))
        link("../elsewhere", box.path("d/linked"))
        mkfifo(String(decoding: box.path("d/pipe.jpg"), as: UTF8.self), 0o600)
        mkdir(String(decoding: box.path("d/nothing"), as: UTF8.self), 0o700)
        var batch = try await harness.add(
            harness.request(upload: ["d"], to: "/one/") { request in
                request.options.include = ["*.jpg"]
                request.options.exclude = [".git"]
            })
        let first = try await harness.finished(batch)
        #expect(harness.store.paths == ["/one/d/a.jpg", "/one/d/sub/c.jpg"])
        #expect(first.leftOut == LeftOut(links: 1, special: 1, emptyFolders: 1), "of the names that were meant")
        batch = try await harness.add(
            harness.request(upload: ["d"], to: "/two/") { request in
                request.options.include = ["*.jpg"]
                request.options.followLinks = true
            })
        try await harness.finished(batch)
        #expect(
            Set(harness.store.paths.filter { $0.hasPrefix("/two/") }) == [
                "/two/d/a.jpg", "/two/d/link.jpg", "/two/d/sub/c.jpg", "/two/d/.git/x.jpg", "/two/d/linked/e.jpg",
            ])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a pattern may have the name under which a folder arrives in front; its contents alone have none")
    func nameInFront() async throws {
        let harness = try await EngineHarness()
        for name in ["d/a", "d/b", "d/d/b"] { try harness.sandbox.write(name, [1]) }
        let ways: [(UploadSource.Placement, String)] = [(.named(RawPath("d")), "/one/"), (.contents, "/two/")]
        for (placement, folder) in ways {
            var request = harness.request(upload: [], to: folder) { $0.options.exclude = ["d/b", "*/a"] }
            let source = UploadSource(path: RawPath(harness.sandbox.path("d")), placement: placement)
            request.work = .upload([source], to: harness.store.url(folder))
            try await harness.finished(try await harness.add(request))
        }
        #expect(Set(harness.store.paths) == ["/one/d/a", "/two/a", "/two/b"])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("links in a circle end")
    func circle() async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        try box.write("d/a/f", [1])
        try box.write("d/b/g", [1])
        link("..", box.path("d/a/up"))
        link("../b", box.path("d/a/other"))
        link("../a", box.path("d/b/other"))
        let batch = try await harness.add(harness.request(upload: ["d"]) { $0.options.followLinks = true })
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesFailed == 0)
        #expect(
            harness.store.paths == [
                "/in/d/a/f", "/in/d/b/g", "/in/d/a/other/g", "/in/d/b/other/f",
            ])
        await harness.stop()
    }

    @Test("a folder to which many links lead is walked once by a link, and told as left out after that")
    func graph() async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        // Each level leads to the next one twice: two links more for each of them, and twice as many ways.
        let levels = 12
        for level in 0..<levels {
            try box.write("levels/\(level)/f", [1])
            guard level + 1 < levels else { continue }
            for name in ["a", "b"] { link("../\(level + 1)", box.path("levels/\(level)/\(name)")) }
        }
        link("../levels/0", try box.write("d/g", [1]).dropLast() + Array("top".utf8))
        let batch = try await harness.add(
            harness.request(upload: ["d"]) {
                $0.options.followLinks = true
                $0.held = true
            })
        let snapshot = try await harness.batch(batch) { !$0.scanning }
        #expect(snapshot.filesTotal == Int64(levels) + 1)
        #expect(snapshot.leftOut == LeftOut(links: Int64(levels) - 1))
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "a source that is a pipe, or missing, becomes a failed task; an empty directory is no failure",
        .tells(
            "/pipe is neither a file nor a directory: put the file back in its place"))
    func oddSources() async throws {
        let harness = try await EngineHarness()
        let box = harness.sandbox
        try box.write("empty/x", [])
        try System.unlink(box.path("empty/x"))
        mkfifo(String(decoding: box.path("pipe"), as: UTF8.self), 0o600)
        let batch = try await harness.add(harness.request(upload: ["pipe", "gone", "empty"]))
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesTotal == 2 && snapshot.filesFailed == 2)
        #expect(Set(snapshot.causes.map(\.code)) == [.unsupported, .sourceMissing])
        _ = try await harness.tasks(batch)
        await harness.stop()
    }

    @Test("DIR/. means the contents alone, and a single file arrives under exactly the name")
    func placements() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("d/sub/f", [1])
        try harness.sandbox.write("g", [2])
        var request = harness.request(upload: ["d"])
        request.work = .upload(
            [UploadSource(path: RawPath(harness.sandbox.path("d")), placement: .contents)], to: harness.store.url("/c/")
        )
        try await harness.finished(try await harness.add(request))
        request = harness.request(upload: ["g"])
        request.work = .upload(
            [UploadSource(path: RawPath(harness.sandbox.path("g")), placement: .exactly)],
            to: harness.store.url("/exact/name?x=1"))
        try await harness.finished(try await harness.add(request))
        #expect(harness.store.paths == ["/c/sub/f", "/exact/name?x=1"])
        await harness.stop()
    }

    @Test("a large directory goes in piece by piece, each file once")
    func manyFiles() async throws {
        let harness = try await EngineHarness(started: false)
        for index in 0..<12_000 { try harness.sandbox.write("d/\(index)", []) }
        let batch = try await harness.queue.writer.add(
            harness.request(upload: ["d"]) { $0.held = true }
        ).batch
        try await harness.engine.start()
        let snapshot = try await harness.batch(batch) { !$0.scanning }
        #expect(snapshot.filesTotal == 12_000)
        try await harness.expectSound()
        await harness.stop()
    }

    /// A walk of `d` that a kill cut off: `d` itself and the first entries of its folder `e` are in the queue.
    private func cutOff(_ killed: EngineHarness, followLinks: Bool = false) async throws -> BatchID {
        let request = killed.request(upload: ["d"]) { ($0.held, $0.options.followLinks) = (true, followLinks) }
        let batch = try await killed.queue.writer.add(request).batch
        let writer = killed.queue.writer
        let walker = try DirectoryWalker()
        let source = try #require(try await writer.unscannedSources(of: batch).first)
        try await writer.begin(try await walker.inspect([source]))
        var folders = try await writer.foldersToWalk(of: source.source, limit: 64)
        folders = try await writer.insert(walked: try await walker.list(folders, of: source, limit: 500)).folders
        folders = try await writer.insert(walked: try await walker.list(folders, of: source, limit: 500)).folders
        #expect(folders.count == 1)
        await walker.stop()
        await killed.stop()
        return batch
    }

    @Test("a walk that was cut off begins its open directory again, and no file is there twice or missing")
    func cutOff() async throws {
        let killed = try await EngineHarness(started: false)
        for index in 0..<700 { try killed.sandbox.write("d/e/\(index)", []) }
        let batch = try await cutOff(killed)
        let harness = try await EngineHarness(sandbox: killed.sandbox, store: killed.store)
        #expect(try await harness.batch(batch) { !$0.scanning }.filesTotal == 700)
        try await harness.expectSound()
        await harness.stop()
    }

    /// Puts an empty folder in the place of one. - Returns: what brings the first one back.
    private func replace(_ name: String, in box: Sandbox) throws -> () throws -> Void {
        let (folder, away) = (box.path(name), box.path("away"))
        try System.rename(folder, to: away)
        try System.mkdir(folder, mode: 0o700)
        return {
            try System.rmdir(folder)
            try System.rename(away, to: folder)
        }
    }

    /// What a person is told of another directory in a folder's place, and that all of the right one is listed once it is back.
    private func expectListedOnce(
        _ harness: EngineHarness, _ batch: BatchID, known: Int64, all: Int64, back: () throws -> Void
    ) async throws {
        #expect(try await harness.batch(batch) { !$0.scanning }.filesTotal == known + 1)
        // A retry does not take it for the folder either.
        for isBack in [false, true] {
            let failed = try await harness.tasks(batch).filter { $0.state == .failed }
            #expect(failed.map(\.error?.code) == [.sourceMissing])
            #expect(failed.first?.error?.message.contains("is another folder than the one that was queued") == true)
            if isBack { try back() }
            _ = try await harness.queue.writer.retry([.task(try #require(failed.first).id)])
            await harness.engine.batchAdded(batch)
            try await harness.batch(batch) { !$0.scanning }
        }
        #expect(try await harness.batch(batch) { !$0.scanning }.filesTotal == all)
        #expect(try await harness.tasks(batch).allSatisfy { $0.state == .created })
        try await harness.expectSound()
    }

    @Test("a walk that goes on takes no other folder for the one that it had begun, however often it is retried")
    func otherFolder() async throws {
        let killed = try await EngineHarness(started: false)
        for index in 0..<700 { try killed.sandbox.write("d/e/\(index)", []) }
        let batch = try await cutOff(killed)
        let back = try replace("d/e", in: killed.sandbox)
        let harness = try await EngineHarness(sandbox: killed.sandbox, store: killed.store)
        try await expectListedOnce(harness, batch, known: 500, all: 700, back: back)
        await harness.stop()
    }

    @Test("a source is the folder that it was when it was first looked at, also when its turn comes much later")
    func otherSource() async throws {
        let first = try await EngineHarness(started: false)
        for name in ["a/1", "a/2", "b/1", "b/2", "b/3"] { try first.sandbox.write(name, [1]) }
        let batch = try await first.queue.writer.add(first.request(upload: ["a", "b"]) { $0.held = true }).batch
        let walker = try DirectoryWalker()
        let sources = try await first.queue.writer.unscannedSources(of: batch)
        try await first.queue.writer.begin(try await walker.inspect(sources))
        await walker.stop()
        await first.stop()
        let back = try replace("b", in: first.sandbox)
        let harness = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        try await expectListedOnce(harness, batch, known: 2, all: 5, back: back)
        await harness.stop()
    }

    @Test(
        "a disk that lies in a folder, or behind a link there, is not taken for empty when it is not mounted any more",
        .enabled(if: Mounting.isAllowed, "nothing can be mounted here"), arguments: [false, true])
    func unmountedDisk(isLinked: Bool) async throws {
        let killed = try await EngineHarness(started: false)
        let place = isLinked ? "media" : "d/e/disk"
        let path = killed.sandbox.path(place)
        for index in 0..<300 { try killed.sandbox.write("d/e/\(index)", []) }
        try System.mkdir(path, mode: 0o700)
        if isLinked { link("../../media", killed.sandbox.path("d/e/disk")) }
        let disk = String(decoding: path, as: UTF8.self)
        func mountDisk() throws { try #require(mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=700") == 0) }
        try mountDisk()
        defer { umount2(disk, Int32(MNT_DETACH)) }
        let batch = try await cutOff(killed, followLinks: isLinked)
        try #require(umount(disk) == 0)
        let harness = try await EngineHarness(sandbox: killed.sandbox, store: killed.store)
        try await expectListedOnce(harness, batch, known: 300, all: 302) {
            try mountDisk()
            for name in ["1", "2"] { try killed.sandbox.write("\(place)/\(name)", []) }
        }
        await harness.stop()
    }

    @Test(
        "a walk that goes on after a kill, or a cancel that was taken back, walks no folder by a second link",
        arguments: [false, true])
    func linksAfterBreak(isCancelled: Bool) async throws {
        let first = try await EngineHarness(started: false)
        let box = first.sandbox
        try box.write("elsewhere/deep/f", [1])
        for name in ["a", "b"] {
            link("../../elsewhere", try box.write("d/\(name)/g", [1]).dropLast() + Array("x".utf8))
        }
        link("../../elsewhere/deep", try box.write("d/c/g", [1]).dropLast() + Array("y".utf8))
        let batch = try await first.queue.writer.add(
            first.request(upload: ["d"]) {
                $0.options.followLinks = true
                $0.held = true
            }
        ).batch
        let writer = first.queue.writer
        let walker = try DirectoryWalker()
        let source = try #require(try await writer.unscannedSources(of: batch).first)
        try await writer.begin(try await walker.inspect([source]))
        var folders = try await writer.foldersToWalk(of: source.source, limit: 64)
        folders = try await writer.insert(walked: await walker.list(folders, of: source, limit: 500)).folders
        // Whichever of the folders was found first: one link is known when the walk breaks off.
        let one = folders.filter { $0.relative.displayed != "c" }.prefix(1)
        try await writer.insert(walked: await walker.list(Array(one), of: source, limit: 500))
        if isCancelled {
            _ = try await writer.cancel([.batch(batch)])
            _ = try await writer.undo(.last, now: Timestamp(milliseconds: WallClock.milliseconds))
        }
        await walker.stop()
        await first.stop()
        let harness = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        let snapshot = try await harness.batch(batch) { !$0.scanning }
        // What lies in the linked folder is there by that link once; another folder, by another link, too.
        #expect(snapshot.filesTotal == 5 && snapshot.leftOut == LeftOut(links: 1))
        try await harness.expectSound()
        await harness.stop()
    }
}
