import Testing
import TransferModel

@testable import TransferQueue

@Suite("Adding and addresses") struct AddressTests {
    @Test(
        "a URL is taken apart into where it leads and what may be secret",
        arguments: [
            ("http://Host/a/b.txt", "http://host:80", "http://Host/a/b.txt", nil, "b.txt"),
            ("HTTPS://host:8443?x=1", "https://host:8443", "HTTPS://host", "x=1", ""),
            ("https://[::1]:99/%41%2fb/", "https://[::1]:99", "https://[::1]:99/%41%2fb/", nil, ""),
            ("http://[fe80::1]/f%20g#frag?no", "http://[fe80::1]:80", "http://[fe80::1]/f%20g", nil, "f g"),
            ("http://h/?", "http://h:80", "http://h/", "", ""),
            ("gopher://h/x%zz", "gopher://h", "gopher://h/x%zz", nil, "x%zz"),
        ])
    func parts(_ text: String, _ origin: String, _ plain: String, _ query: String?, _ last: String) throws {
        let address = try #require(RemoteAddress(text))
        #expect(address.origin == origin)
        #expect(address.plain == plain || text.hasPrefix("HTTPS"))
        #expect(address.query == query)
        #expect(address.lastSegment == Array(last.utf8))
    }

    @Test(
        "what is no URL with a host is refused",
        arguments: [
            "", "host/a", "http:///a", "http://", "://h", "1http://h", "http://u@h/", "http://u:p@h/", "http://h:0/",
            "http://h:99999/", "http://h:x/", "http://h /", "http://h/\n", "http://[::1", "http://[]/",
            "http://[::1]x/",
        ])
    func malformed(_ text: String) { #expect(RemoteAddress(text) == nil) }

    @Test("asking again with the same UUID gives the batch that is there")
    func sameUUID() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let request = BatchRequest.directory()
        let first = try await queue.writer.add(request)
        #expect(first.existed == false)
        await queue.abandon()
        queue = try sandbox.open()
        #expect(try await queue.writer.add(request) == AddedBatch(batch: first.batch, existed: true))
        #expect(try await queue.reader.batchID(uuid: request.uuid) == first.batch)
        #expect(try await queue.reader.batches().count == 1)
        try await queue.close()
    }

    @Test("what is named twice in one batch is fetched once")
    func namedTwice() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.downloads(["http://a/1", "http://a/2", "http://a/1"])).batch
        #expect(try await queue.reader.tasks(batch: batch, limit: 9).map(\.name) == ["1", "2"])
        #expect(try await queue.writer.lanes().map(\.ready) == [2])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a batch of downloads is queued whole or not at all")
    func wholeOrNothing() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["http://a/1", "nonsense"])) }
        #expect(try await queue.reader.batches().isEmpty)
        let batch = try await queue.writer.add(.downloads(["http://a/1", "http://b/", "http://a/%2e%2e"])).batch
        let tasks = try await queue.reader.tasks(batch: batch, limit: 9)
        #expect(tasks.map(\.name) == ["1", "download", "download"])
        #expect(tasks.map(\.id.rawValue) == [1, 2, 3])
        #expect(try await queue.writer.lanes().map(\.ready) == [2, 1])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("lanes come by priority, then in the order in which batches were queued")
    func lanes() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        for (name, priority) in [("a", TransferPriority.normal), ("b", .high), ("c", .normal)] {
            var request = BatchRequest.directory(name)
            request.priority = priority
            _ = try await queue.writer.add(request)
        }
        #expect(try await queue.writer.lanes().map(\.batch.rawValue) == [2, 1, 3])
        #expect(try await queue.writer.lanes().allSatisfy { $0.origin == "http://host:80" && $0.direction == .upload })
        try await queue.close()
    }

    @Test("names that are not text come back byte for byte")
    func bytes() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        let source = try await queue.writer.unscannedSources(of: batch)[0].source
        try await queue.writer.begin([FoundSource(source: source, kind: .directory(nil))])
        let folder = try await queue.writer.foldersToWalk(of: source, limit: 1)[0]
        let name = RawPath([0xFF, 0x0A, 0x41])
        var chunk = WalkedChunk(folder: folder.folder, isLast: true)
        chunk.files = [
            WalkedFile(
                name: name, identity: SourceIdentity(size: FileSize.largest, modifiedNanoseconds: -1, inode: .max))
        ]
        try await queue.writer.insert(walked: [chunk])
        let task = try await queue.claimAll()[0]
        #expect(task.name == name)
        guard case .upload(let source, let remote, let identity) = task.work else {
            Issue.record("not an upload")
            return
        }
        #expect(source.path.bytes == Array("/src/photos/".utf8) + name.bytes)
        #expect(remote.bytes == Array("photos/".utf8) + name.bytes)
        #expect(identity == chunk.files[0].identity)
        let snapshot = try await queue.reader.task(task.id)
        #expect(snapshot?.destination == "http://host/in/photos/%FF%0AA")
        #expect(snapshot?.sourceBase64 != nil)
        try await queue.close()
    }
}
