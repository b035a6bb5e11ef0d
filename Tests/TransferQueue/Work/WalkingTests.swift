import Testing
import TransferModel

@testable import TransferQueue

@Suite("Walking directories") struct WalkingTests {
    private func chunk(_ folder: FolderID, _ files: [String], folders: [String] = [], isLast: Bool) -> WalkedChunk {
        var chunk = WalkedChunk(folder: folder, isLast: isLast)
        chunk.files = files.map { WalkedFile($0) }
        chunk.folders = folders.map { RawPath($0) }
        return chunk
    }

    @Test("paths of walked files follow from their folders, here and at the other end")
    func paths() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("my photos", folders: ["raw": 1])
        let task = try await queue.claimAll()[0]
        guard case .upload(let source, let remote, let identity) = task.work else {
            Issue.record("not an upload")
            return
        }
        #expect(source == SourcePlace(named: RawPath("/src/my photos"), below: RawPath("raw/file0")))
        #expect(source.path == RawPath("/src/my photos/raw/file0"))
        #expect(remote == RawPath("my photos/raw/file0"))
        #expect(identity == SourceIdentity(size: 100, modifiedNanoseconds: 7, inode: 9))
        let snapshot = try await queue.reader.task(task.id)
        #expect(snapshot?.source == "/src/my photos/raw/file0")
        #expect(snapshot?.destination == "http://host/in/my%20photos/raw/file0")
        #expect(snapshot?.folder == "my photos/raw")
        #expect(snapshot?.rules == nil && snapshot?.modifiedAt == nil)
        let told = try await queue.reader.task(task.id, rules: true)
        #expect(told?.rules == TaskRules(giveUpAfterSeconds: 14 * 86_400))
        #expect(told?.modifiedAt == Timestamp(milliseconds: 0), "7 nanoseconds after the epoch")
        try await queue.close()
    }

    @Test("a walk that begins again after a kill adds what is missing, nothing twice, nothing lost")
    func again() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        let names = (0..<10).map { "file\($0)" }
        try await queue.writer.insert(walked: [
            chunk(top.folder, Array(names[..<4]), folders: ["a", "b"], isLast: false)
        ])
        try await queue.writer.insert(walked: [chunk(top.folder, Array(names[4..<6]), isLast: false)])
        await queue.abandon()

        queue = try sandbox.open()
        let walk = try await queue.writer.unscannedSources()
        #expect(walk.map(\.isBegun) == [true])
        let folders = try await queue.writer.foldersToWalk(of: walk[0].source, limit: 10)
        #expect(folders.map(\.place.path.displayed) == ["/src/photos", "/src/photos/a", "/src/photos/b"])
        // The directory changed its order meanwhile, as directories do.
        try await queue.writer.insert(walked: [
            chunk(top.folder, Array(names.reversed()[..<7]), folders: ["b"], isLast: false)
        ])
        try await queue.writer.insert(walked: [
            chunk(top.folder, Array(names[..<3]), folders: ["c", "a"], isLast: true)
        ])
        var next = try await queue.writer.foldersToWalk(of: walk[0].source, limit: 10)
        #expect(next.map(\.relative.displayed) == ["a", "b", "c"])
        #expect(try await queue.writer.finishScan(batch) == false)
        next = try await queue.writer.insert(walked: next.map { chunk($0.folder, ["x"], isLast: true) }).folders
        #expect(next.isEmpty)
        #expect(try await queue.writer.finishScan(batch))
        let tasks = try await queue.reader.tasks(batch: batch, limit: 100)
        #expect(
            tasks.map { $0.folder + "/" + $0.name }.sorted()
                == (names.map { "photos/" + $0 } + ["photos/a/x", "photos/b/x", "photos/c/x"]).sorted())
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a directory whose listing begins anew twice has each entry once")
    func twiceAgain() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        try await queue.writer.insert(walked: [chunk(top.folder, ["1"], folders: ["a"], isLast: false)])
        for _ in 0..<2 {
            #expect(try await queue.writer.foldersToWalk(of: top.source, limit: 1).map(\.folder) == [top.folder])
            try await queue.writer.insert(walked: [
                chunk(top.folder, ["1", "2"], folders: ["a", "b"], isLast: false)
            ])
        }
        let tasks = try await queue.reader.tasks(batch: batch, limit: 10)
        #expect(tasks.map(\.name) == ["1", "2"])
        let folders = try await queue.writer.foldersToWalk(of: top.source, limit: 10)
        #expect(folders.map(\.relative.displayed) == ["", "a", "b"])
        try await queue.close()
    }

    @Test(
        "a directory that could not be read is listed again by a retry of it, its folder or its batch",
        arguments: [0, 1, 2])
    func listedAgain(what: Int) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        let next = try await queue.writer.insert(walked: [
            chunk(top.folder, ["good"], folders: ["closed"], isLast: true)
        ])
        // Half of it was listed before the disk gave an error.
        try await queue.writer.insert(walked: [chunk(next.folders[0].folder, ["a"], isLast: false)])
        var broken = chunk(next.folders[0].folder, ["b"], isLast: true)
        broken.unreadable = TransferError(.sourceUnreadable, "input/output error")
        try await queue.writer.insert(walked: [broken])
        try await queue.writer.finishScan(batch)
        let claimed = try await queue.claimAll()
        try await queue.complete(claimed)
        let before = try await queue.reader.tasks(batch: batch, limit: 10)
        let failed = try #require(before.first { $0.state == .failed })
        let nodes: [NodeID] = [.task(failed.id), .folder(batch, path: RawPath("photos")), .batch(batch)]
        let change = try await queue.writer.retry([nodes[what]])
        #expect(change.results.map(\.result) == [.done] && change.walked == [batch])
        #expect(try await queue.reader.batch(batch)?.scanning == true)
        #expect(try await queue.reader.check() == [])
        let walk = try #require(try await queue.writer.unscannedSources(of: batch).first)
        let again = try await queue.writer.foldersToWalk(of: walk.source, limit: 9)
        #expect(again.map(\.place.path) == [RawPath("/src/photos/closed")] && walk.isBegun)
        let rest = chunk(again[0].folder, ["a", "b", "c"], isLast: true)
        #expect(try await queue.writer.insert(walked: [rest]).folders.isEmpty)
        try await queue.writer.finishScan(batch)
        let tasks = try await queue.reader.tasks(batch: batch, limit: 10)
        #expect(tasks.map(\.name).sorted() == ["a", "b", "c", "good"] && tasks.allSatisfy { $0.state != .failed })
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what cannot be read becomes a failed task with its reason, and the rest goes on")
    func unreadable() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        let error = TransferError(.sourceUnreadable, "permission denied")
        var first = chunk(top.folder, ["good"], folders: ["closed"], isLast: true)
        first.failures = [WalkedFailure(name: RawPath("bad"), error: error)]
        let next = try await queue.writer.insert(walked: [first]).folders
        var second = WalkedChunk(folder: next[0].folder, isLast: false)
        second.unreadable = TransferError(.sourceMissing, "the directory vanished")
        try await queue.writer.insert(walked: [second])
        try await queue.writer.finishScan(batch)
        let tasks = try await queue.reader.tasks(batch: batch, limit: 10)
        #expect(tasks.map(\.name) == ["good", "bad", "closed"])
        #expect(tasks.map(\.cause) == [nil, .sourceUnreadable, .sourceMissing])
        #expect(tasks[2].source == "/src/photos/closed")
        #expect(try await queue.eventTypes().filter { $0 == .taskFailed }.count == 2)
        let retry = try await queue.writer.retry([.task(tasks[1].id), .task(tasks[2].id)])
        #expect(retry.results.map(\.result) == [.done, .done] && retry.walked == [batch])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a file is not forgotten while its folder is listed, or may be listed again: it would come back as a new one")
    func forgottenTooSoon() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        let next = try await queue.writer.insert(walked: [chunk(top.folder, ["x"], folders: ["long"], isLast: true)])
        let long = next.folders[0].folder
        try await queue.writer.insert(walked: [chunk(long, ["a", "b"], isLast: false)])
        let file = try #require(try await queue.reader.tasks(batch: batch, limit: 9).first { $0.name == "a" })
        _ = try await queue.writer.cancel([.task(file.id)])
        func purge() async throws -> String? { try await queue.writer.purge([.task(file.id)]).results[0].message }
        #expect(try await purge()?.contains("still being listed") == true)
        var broken = WalkedChunk(folder: long, isLast: false)
        broken.unreadable = TransferError(.sourceUnreadable, "input/output error")
        try await queue.writer.insert(walked: [broken])
        try await queue.writer.finishScan(batch)
        #expect(try await purge()?.contains("could not be listed whole") == true)
        // The folder that it lies in was listed whole.
        let beside = try #require(try await queue.reader.tasks(batch: batch, limit: 9).first { $0.name == "x" })
        _ = try await queue.writer.cancel([.task(beside.id)])
        #expect(try await queue.writer.purge([.task(beside.id)]).results.map(\.result) == [.done])
        let failure = try #require(try await queue.reader.tasks(batch: batch, limit: 9).first { $0.name == "long" })
        #expect(try await queue.writer.purge([.task(failure.id)]).results.map(\.result) == [.done])
        #expect(try await purge() == nil)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("folders that could not be listed keep no file beside them, and not one another, from being forgotten")
    func besideUnlisted() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let source = UploadSource(path: RawPath("/src/d"), placement: .contents)
        let batch = try await queue.writer.add(BatchRequest(work: .upload([source], to: "http://host/in/"))).batch
        let top = try await queue.topToWalk(of: batch)
        let first = chunk(top.folder, ["f"], folders: ["a", "b"], isLast: true)
        for folder in try await queue.writer.insert(walked: [first]).folders {
            var broken = WalkedChunk(folder: folder.folder, isLast: false)
            broken.unreadable = TransferError(.sourceUnreadable, "permission denied")
            try await queue.writer.insert(walked: [broken])
        }
        try await queue.writer.finishScan(batch)
        let tasks = try await queue.reader.tasks(batch: batch, limit: 9)
        #expect(tasks.map(\.name) == ["f", "a", "b"])
        _ = try await queue.writer.cancel([.task(tasks[0].id)])
        #expect(
            try await queue.writer.purge(tasks.map { .task($0.id) }).results.map(\.result) == [.done, .done, .done])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a source that vanished is a failed task, a file is a task, and each knows its own path")
    func sources() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let request = BatchRequest(
            work: .upload(
                [
                    UploadSource(path: RawPath("/src/one.txt"), placement: .named(RawPath("one.txt"))),
                    UploadSource(path: RawPath("/gone/two.txt"), placement: .named(RawPath("two.txt"))),
                    UploadSource(path: RawPath("/src/dir"), placement: .contents),
                    UploadSource(path: RawPath("/other/dir"), placement: .contents),
                ], to: "http://host/in/"))
        let batch = try await queue.writer.add(request).batch
        let sources = try await queue.writer.unscannedSources(of: batch)
        let identity = SourceIdentity(size: 5, modifiedNanoseconds: 1, inode: 2)
        let found: [FoundSource.Kind] = [
            .file(identity), .unreadable(TransferError(.sourceMissing, "not there")), .directory(nil), .directory(nil),
        ]
        try await queue.writer.begin(zip(sources, found).map { FoundSource(source: $0.source, kind: $1) })
        for source in sources[2...] {
            let folder = try await queue.writer.foldersToWalk(of: source.source, limit: 1)[0]
            try await queue.writer.insert(walked: [chunk(folder.folder, ["same"], isLast: true)])
        }
        // A kill between the last of them and this would leave a batch that is scanned for ever.
        #expect(try await queue.writer.unscannedSources(of: nil).map(\.isBegun) == [true, true])
        #expect(try await queue.writer.walkedBatches() == [])
        #expect(try await queue.writer.finishScan(batch))
        #expect(try await queue.writer.walkedBatches() == [])
        let tasks = try await queue.reader.tasks(batch: batch, limit: 10)
        #expect(tasks.map(\.source) == ["/src/one.txt", "/gone/two.txt", "/src/dir/same", "/other/dir/same"])
        // The contents of both directories lie in the destination itself.
        #expect(tasks.map(\.destination) == ["one.txt", "two.txt", "same", "same"].map { "http://host/in/" + $0 })
        #expect(tasks[1].cause == .sourceMissing)
        // A folder is found by its path: each of the two has its own.
        let second = NodeID.folder(batch, path: RawPath("dir (2)"))
        #expect(try await queue.writer.cancel([second]).results.map(\.result) == [.done])
        let states = try await queue.reader.tasks(batch: batch, limit: 10).map(\.state)
        #expect(states == [.queued, .failed, .queued, .cancelled])
        try await queue.close()
    }

    @Test("many directories that end in the same name get names of their own, and each costs the same")
    func manyOfOneName() async throws {
        func steps(_ count: Int) async throws -> Int64 {
            let sandbox = try Sandbox()
            let queue = try sandbox.open()
            let sources = (0..<count).map { UploadSource(path: RawPath("/src/\($0)/src"), placement: .contents) }
            let batch = try await queue.writer.add(BatchRequest(work: .upload(sources, to: "http://host/in/"))).batch
            let found = try await queue.writer.unscannedSources(of: batch)
            let before = await queue.writer.virtualMachineSteps()
            try await queue.writer.begin(found.map { FoundSource(source: $0.source, kind: .directory(nil)) })
            let steps = await queue.writer.virtualMachineSteps() - before
            let last = NodeID.folder(batch, path: RawPath("src (\(count))"))
            #expect(try await queue.writer.cancel([last]).results.map(\.result) == [.done])
            try await queue.close()
            return steps
        }
        let (few, many) = (try await steps(100), try await steps(400))
        #expect(many < few * 6, "\(few) steps for 100, \(many) for 400")
    }

    @Test("one file can be sent to exactly one URL, one directory's contents into the destination")
    func placements() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let exact = try await queue.writer.add(
            BatchRequest(
                work: .upload([UploadSource(path: RawPath("/src/a"), placement: .exactly)], to: "http://host/in/b?t=1"))
        )
        let source = try await queue.writer.unscannedSources(of: exact.batch)[0].source
        let identity = SourceIdentity(size: 5, modifiedNanoseconds: 1, inode: 2)
        try await queue.writer.begin([FoundSource(source: source, kind: .file(identity))])
        try await queue.writer.finishScan(exact.batch)
        #expect(try await queue.reader.tasks(batch: exact.batch, limit: 1)[0].destination == "http://host/in/b")
        #expect(try await queue.writer.order(of: exact.batch)?.destinationQuery == "t=1")

        let contents = try await queue.writer.add(
            BatchRequest(
                work: .upload([UploadSource(path: RawPath("/src/d"), placement: .contents)], to: "http://host/in/")))
        let top = try await queue.topToWalk(of: contents.batch)
        try await queue.writer.insert(walked: [chunk(top.folder, ["f"], isLast: true)])
        let task = try await queue.reader.tasks(batch: contents.batch, limit: 1)[0]
        #expect(task.source == "/src/d/f")
        #expect(task.destination == "http://host/in/f")
        #expect(task.folder == "")
        try await queue.close()
    }

    @Test("a batch that is cancelled while it is walked takes no more; undo walks on")
    func cancelled() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        try await queue.writer.insert(walked: [chunk(top.folder, ["a"], isLast: false)])
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await queue.reader.batch(batch)?.state == .cancelled)
        #expect(try await queue.reader.batch(batch)?.scanning == false)
        try await queue.writer.insert(walked: [chunk(top.folder, ["b"], isLast: false)])
        #expect(try await queue.reader.batch(batch)?.filesTotal == 1)
        #expect(try await queue.writer.unscannedSources().isEmpty)

        _ = try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now)
        #expect(try await queue.reader.batch(batch)?.scanning == true)
        #expect(try await queue.writer.unscannedSources().map(\.batch) == [batch])
        try await queue.writer.insert(walked: [chunk(top.folder, ["a", "b"], isLast: true)])
        try await queue.writer.finishScan(batch)
        #expect(try await queue.reader.batch(batch)?.filesTotal == 2)
        #expect(try await queue.claimAll().count == 2)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what is found below a paused folder is paused")
    func paused() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        let next = try await queue.writer.insert(walked: [chunk(top.folder, ["a"], folders: ["sub"], isLast: true)])
            .folders
        let folder = NodeID.folder(batch, path: RawPath("photos"))
        _ = try await queue.writer.pause([folder])
        try await queue.writer.insert(walked: [chunk(next[0].folder, ["b"], isLast: true)])
        try await queue.writer.finishScan(batch)
        #expect(try await queue.claimAll().isEmpty)
        #expect(try await queue.reader.check() == [])
        _ = try await queue.writer.resume([folder])
        #expect(try await queue.claimAll().count == 2)
        try await queue.close()
    }

    @Test("a batch without any file is finished when it is walked")
    func empty() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 0)
        #expect(try await queue.reader.batch(batch)?.state == .completed)
        #expect(try await queue.eventTypes().suffix(3) == [.batchScanned, .batchFinished, .sessionIdle])
        try await queue.close()
    }

    @Test("a batch of files alone is known as walked before that is written down")
    func walkedButNotFinished() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let source = UploadSource(path: RawPath("/src/one.txt"), placement: .named(RawPath("one.txt")))
        let request = BatchRequest(work: .upload([source], to: "http://host/in/"))
        let batch = try await queue.writer.add(request).batch
        #expect(try await queue.writer.walkedBatches() == [])
        let sources = try await queue.writer.unscannedSources(of: batch)
        let identity = SourceIdentity(size: 5, modifiedNanoseconds: 1, inode: 2)
        try await queue.writer.begin(sources.map { FoundSource(source: $0.source, kind: .file(identity)) })
        #expect(try await queue.writer.unscannedSources(of: nil).isEmpty)
        #expect(try await queue.writer.walkedBatches() == [batch])
        #expect(try await queue.writer.finishScan(batch))
        #expect(try await queue.writer.walkedBatches() == [])
    }
}
