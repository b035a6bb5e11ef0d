import Testing
import TransferModel

@testable import TransferQueue

/// Two files of one batch that would get one name at the server.
@Suite struct SharedNameTests {
    let sandbox = try! Sandbox()

    /// Queues the contents of `/2025` and `/2026`, each with a file of that name, and all of it walked.
    private func add(
        _ queue: TransferQueue, _ rule: ExistingFilePolicy, below folder: String? = nil, sizes: [Int64] = [100, 200]
    ) async throws -> BatchID {
        let sources = ["/2025", "/2026"].map { UploadSource(path: RawPath($0), placement: .contents) }
        var request = BatchRequest(work: .upload(sources, to: "dav://host/in/"))
        request.options.ifExists = rule
        let batch = try await queue.writer.add(request).batch
        for (source, size) in zip(try await queue.writer.unscannedSources(of: batch), sizes) {
            try await queue.writer.begin([FoundSource(source: source.source, kind: .directory(nil))])
            var top = WalkedChunk(
                folder: try await queue.writer.foldersToWalk(of: source.source, limit: 1)[0].folder, isLast: true)
            let file = WalkedFile("a.jpg", size: size)
            if let folder {
                top.folders = [RawPath(folder)]
                try await queue.writer.insert(walked: [top])
                let below = try await queue.writer.foldersToWalk(of: source.source, limit: 1)[0].folder
                var chunk = WalkedChunk(folder: below, isLast: true)
                chunk.files = [file]
                try await queue.writer.insert(walked: [chunk])
            } else {
                top.files = [file]
                try await queue.writer.insert(walked: [top])
            }
        }
        #expect(try await queue.writer.finishScan(batch))
        return batch
    }

    private func states(_ queue: TransferQueue, _ batch: BatchID) async throws -> [TransferState] {
        try await queue.reader.tasks(batch: batch, limit: 10).map(\.state)
    }

    @Test(arguments: [nil, "raw"] as [String?], [ExistingFilePolicy.replace, .fail, .skip])
    func `the first file has the name, and no other of its batch gets it after that`(
        folder: String?, rule: ExistingFilePolicy
    ) async throws {
        let queue = try sandbox.open()
        let batch = try await add(queue, rule, below: folder)
        let first = try await queue.claimAll()
        #expect(first.map(\.id) == [TaskID(rawValue: 1)])
        #expect(try await states(queue, batch) == [.queued, .failed])
        let failed = try await queue.reader.tasks(batch: batch, limit: 10)[1]
        let below = folder.map { "\($0)/" } ?? ""
        #expect(failed.cause == .duplicateName)
        #expect(
            failed.error?.message
                == "/2026/\(below)a.jpg has the name of another file of this batch at the server, /2025/\(below)a.jpg: "
                + "rename one of them, then queue it again")
        try await queue.complete(first)
        _ = try await queue.writer.retry([.batch(batch)])
        #expect(try await queue.claimAll().isEmpty)
        #expect(try await states(queue, batch) == [.completed, .failed])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test func `one that is moved in front does not get the name of one that was found before it`() async throws {
        let queue = try sandbox.open()
        let batch = try await add(queue, .replace)
        _ = try await queue.writer.move([.task(TaskID(rawValue: 2))], to: .top)
        #expect(try await queue.claimAll().map(\.id) == [TaskID(rawValue: 1)])
        #expect(try await states(queue, batch) == [.queued, .failed])
        try await queue.close()
    }

    @Test func `a name is free again when its file is cancelled, and whoever has got it since keeps it`() async throws {
        let queue = try sandbox.open()
        let batch = try await add(queue, .replace)
        _ = try await queue.writer.cancel([.task(TaskID(rawValue: 1))])
        let second = try await queue.claimAll()
        #expect(second.map(\.id) == [TaskID(rawValue: 2)])
        _ = try await queue.writer.retry([.task(TaskID(rawValue: 1))])
        #expect(try await queue.claimAll().isEmpty, "the second is getting the name just now")
        try await queue.complete(second)
        _ = try await queue.writer.retry([.task(TaskID(rawValue: 1))])
        #expect(try await queue.claimAll().isEmpty)
        #expect(try await states(queue, batch) == [.failed, .completed])
        try await queue.close()
    }

    @Test(arguments: [(ExistingFilePolicy.fail, 2), (.skip, 2), (.replace, 1)])
    func `two of one size and second are the same, of which the server keeps the first`(
        rule: ExistingFilePolicy, claims: Int
    ) async throws {
        let queue = try sandbox.open()
        _ = try await add(queue, rule, sizes: [100, 100])
        #expect(try await queue.claimAll().count == claims)
        try await queue.close()
    }

    @Test func `a refused file does not end what its lane can give`() async throws {
        let queue = try sandbox.open()
        _ = try await add(queue, .replace)
        let lane = try #require(try await queue.writer.lanes().first).lane
        _ = try await queue.writer.move([.task(TaskID(rawValue: 2))], to: .top)
        #expect(try await queue.writer.claim(lane, limit: 1, now: sandbox.clock.now).isEmpty)
        #expect(try await queue.writer.lanes().map(\.ready) == [1])
        #expect(try await queue.writer.claim(lane, limit: 1, now: sandbox.clock.now).count == 1)
        try await queue.close()
    }

    @Test func `two sources of one name are refused`() async throws {
        let queue = try sandbox.open()
        let sources = ["/a/june", "/b/june"].map { UploadSource(path: RawPath($0), placement: .named(RawPath("june"))) }
        let error = await #expect(throws: QueueError.self) {
            try await queue.writer.add(BatchRequest(work: .upload(sources, to: "dav://host/in/")))
        }
        #expect("\(error as Any)".contains("two sources are named june: queue them as two batches"))
        try await queue.close()
    }

    @Test func `what another file of the same batch has written proves nothing`() async throws {
        let queue = try sandbox.open()
        _ = try await add(queue, .fail, sizes: [100, 100])
        let both = try await queue.claimAll()
        try await queue.complete([both[0]])
        sandbox.clock.advance(by: .seconds(5))
        try await queue.complete([both[1]])
        let looks = try await queue.writer.dueLooks(besides: LooksNotNow(), limit: 10, now: sandbox.clock.now)
        #expect(looks.count == 2)
        for look in looks {
            let later = try await queue.reader.later(
                than: RawPath("a.jpg"), finishedAt: sandbox.clock.now.advanced(by: .seconds(-5)), in: look)
            #expect(later == nil)
        }
        try await queue.close()
    }
}
