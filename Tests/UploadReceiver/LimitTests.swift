import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("What a stranger can take of a running receiver")
struct LimitTests {
    /// Room for many connections in this process.
    private func allowManyDescriptors() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 8192))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    @Test("connections that say nothing, or not the token, keep nobody out")
    func idle() throws {
        allowManyDescriptors()
        let sandbox = try ReceiverSandbox { $0.access = .token(Array("secret".utf8)) }
        let fields: KeyValuePairs = ["Authorization": "Bearer secret"]
        let early = try sandbox.client()
        #expect(try early.exchange("PUT", "/early", fields, body: [1]).status == 201)
        var strangers: [RawClient] = []
        for number in 0..<700 {
            let client = try sandbox.client()
            if number % 3 == 0 { try? client.send("GET /f HTTP/1.1\r\nHo") }
            if number % 3 == 1 { try? client.send(RawClient.head("GET", "/f")) }
            strangers.append(client)
        }
        #expect(try sandbox.client().exchange("PUT", "/late", fields, body: [1]).status == 201)
        // What was let in before is not closed for their sake.
        #expect(try early.exchange("PUT", "/again", fields, body: [1]).status == 201)
        strangers.removeAll()
    }

    @Test("connections that rest after an answer make room for new ones")
    func resting() throws {
        let sandbox = try ReceiverSandbox {
            $0.limits.connections = 8
            $0.limits.unprovenConnections = 4
        }
        var clients: [RawClient] = []
        for number in 0..<30 {
            clients.append(try sandbox.client())
            #expect(try clients[number].exchange("PUT", "/\(number)", body: [1]).status == 201)
        }
        clients[0].awaitEnd()
        #expect(try clients[29].exchange("GET", "/29").status == 200)
    }

    @Test("when all are busy a new one is told to come again", arguments: ["all", "address"])
    func busy(limit: String) throws {
        let sandbox = try ReceiverSandbox {
            if limit == "all" { $0.limits.connections = 4 } else { $0.limits.connectionsPerAddress = 4 }
        }
        var clients: [RawClient] = []
        for number in 0..<4 {
            let client = try sandbox.client()
            clients.append(client)
            try client.send(RawClient.head("PUT", "/\(number)", ["Expect": "100-continue"], length: 2))
            #expect(try client.interim() == 100)
        }
        let fifth = try sandbox.client().exchange("GET", "/")
        #expect(fifth.status == 503)
        #expect(fifth.fields["retry-after"] == "1")
        for client in clients {
            try client.send("ok")
            #expect(try client.reply().status == 201)
        }
        #expect(try sandbox.client().exchange("GET", "/0").text == "ok")
    }

    @Test("a head alone takes no room on the disk")
    func reserved() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: 330 << 20))
        #expect(try client.interim() == 100)
        let parts = try paths(below: sandbox.folder)
        var status = Glibc.stat()
        #expect(parts.count == 1 && lstat(String(decoding: parts[0], as: UTF8.self), &status) == 0)
        #expect(status.st_blocks == 0)
    }

    /// The disk that a receiver is told to have.
    private final class Disk: Sendable {
        let free: Mutex<UInt64>
        init(_ free: UInt64) { self.free = Mutex(free) }
    }

    private func sandbox(_ disk: Disk) throws -> ReceiverSandbox {
        try ReceiverSandbox {
            $0.limits.keepFree = 10 << 20
            $0.freeSpace = { disk.free.withLock { $0 } }
        }
    }

    @Test(
        "the room that must stay free stays free while bytes arrive",
        arguments: ["put", "chunked", "tus", "ietf", "piece"])
    func keepsFree(way: String) throws {
        let disk = Disk(500 << 20)
        let sandbox = try sandbox(disk)
        let client = try sandbox.client()
        let size = 64 << 20
        let text: String
        switch way {
        case "put": text = RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: size)
        case "chunked": text = RawClient.head("PUT", "/f", ["Expect": "100-continue", "Transfer-Encoding": "chunked"])
        case "ietf":
            let fields: KeyValuePairs = [
                "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1", "Expect": "100-continue",
            ]
            text = RawClient.head("PUT", "/f", fields, length: size)
        default:
            let url = try TusClient(sandbox: sandbox).create("f", size)
            var fields = [("Upload-Offset", "0"), ("Expect", "100-continue")]
            // It is stored apart until its checksum is known.
            if way == "piece" { fields.append(("Upload-Checksum", "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=")) }
            text = String(decoding: TusClient.request("PATCH", url, fields, length: size), as: UTF8.self)
        }
        try client.send(text)
        #expect(try client.interim() >= 100)
        // Somebody else fills the disk.
        disk.free.withLock { $0 = 10 << 20 }
        if way == "chunked" { try client.send(String(size, radix: 16) + "\r\n") }
        // The receiver may have heard enough before all of it was sent.
        try? client.send(pattern(size))
        if way == "chunked" { try? client.send("\r\n0\r\n\r\n") }
        #expect(try client.reply().status == 507)
        #expect(try !sandbox.files().contains("f"))
        // What is written before the disk is asked again: a step, and what had been granted before.
        let stored = try paths(below: sandbox.folder).map { try System.stat($0).size }.reduce(0, +)
        #expect(stored <= 32 << 20)
    }

    @Test("the room that must stay free stays free when pieces are joined, and no piece is copied twice")
    func joins() throws {
        let disk = Disk(500 << 20)
        let sandbox = try sandbox(disk)
        let tus = TusClient(sandbox: sandbox)
        let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(3 << 20)")]
        let piece = try #require(
            try tus.send("POST", "/", fields, body: pattern(3 << 20)).fields["location"])
        func join(_ urls: [String]) throws -> Reply {
            try tus.send(
                "POST", "/", [TusClient.named("joined"), ("Upload-Concat", "final;" + urls.joined(separator: " "))])
        }
        #expect(try join(Array(repeating: piece, count: 500)).status == 400)
        #expect(try join([piece, piece]).text.contains("named more than once"))
        disk.free.withLock { $0 = 12 << 20 }
        #expect(try join([piece]).status == 507)
        #expect(try sandbox.files().count == 2)
        disk.free.withLock { $0 = 500 << 20 }
        #expect(try join([piece]).status == 201)
        #expect(try contents(sandbox.path("joined")) == pattern(3 << 20))
    }

    @Test("a join that is asked for again while it is made is not taken away")
    func joinedTwice() throws {
        let sandbox = try ReceiverSandbox()
        let tus = TusClient(sandbox: sandbox)
        let body = pattern(48 << 20)
        let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(body.count)")]
        let piece = try #require(try tus.send("POST", "/", fields, body: body).fields["location"])
        let request = TusClient.request(
            "POST", "/",
            [TusClient.named("joined"), ("Upload-Concat", "final;\(piece)"), ("Want-Repr-Digest", "sha-256=1")],
            length: nil)
        let clients = try (0..<8).map { _ in try sandbox.client() }
        for client in clients { try client.send(request) }
        let statuses = try clients.map { try $0.reply().status }
        #expect(statuses.contains(201))
        // 503: ask again.
        #expect(statuses.allSatisfy { $0 == 201 || $0 == 503 }, "\(statuses)")
        #expect(try contents(sandbox.path("joined")) == body)
    }

    @Test("a request makes no more than a hundred folders")
    func depth() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        let deep = Array(repeating: "d", count: 99).joined(separator: "/")
        #expect(try client.exchange("PUT", "/\(deep)/f", body: [1]).status == 201)
        #expect(try client.exchange("PUT", "/e/\(deep)/f", body: [1]).status == 414)
        #expect(try client.exchange("PUT", "/" + String(repeating: "x/", count: 13_000) + "f", body: [1]).status == 414)
        let relative = Array(repeating: "r", count: 13_000).joined(separator: "/")
        let metadata = "filename \(base64("f")),relativePath \(base64(relative))"
        let reply = try TusClient(sandbox: sandbox).send(
            "POST", "/", [("Upload-Metadata", metadata), ("Upload-Length", "1")], body: [1])
        #expect(reply.status == 414)
        #expect(try sandbox.files() == ["\(deep)/f"])
    }

    private func base64(_ text: String) -> String { TusClient.named(text).1.split(separator: " ")[1].description }

    @Test("unfinished uploads have a number, and an end makes room for another")
    func unfinished() throws {
        let sandbox = try ReceiverSandbox { $0.limits.unfinishedUploads = 3 }
        let tus = TusClient(sandbox: sandbox)
        let urls = try (0..<3).map { try tus.create("\($0)", 1) }
        func begin() throws -> Int {
            try tus.send("POST", "/", [TusClient.named("more"), ("Upload-Length", "1")]).status
        }
        #expect(try begin() == 507)
        #expect(try sandbox.client().exchange("PUT", "/plain", body: [1]).status == 201)
        #expect(try tus.patch(urls[0], at: 0, [1]).status == 204)
        #expect(try begin() == 201)
        #expect(try begin() == 507)
        #expect(try tus.send("DELETE", urls[1]).status == 204)
        #expect(try begin() == 201)
        #expect(try sandbox.files().count { $0.hasSuffix(".data") } <= 3)
    }

    @Test("of complete uploads the oldest are forgotten")
    func remembered() throws {
        let sandbox = try ReceiverSandbox { $0.limits.rememberedUploads = 2 }
        let tus = TusClient(sandbox: sandbox)
        let urls = try (0..<5).map { try tus.create("\($0)", 0) }
        // Forgetting is a job of its own.
        let deadline = MonotonicInstant.now.advanced(by: .seconds(30))
        while try sandbox.files().count(where: { $0.hasSuffix(".info") }) > 2, MonotonicInstant.now < deadline {
            sched_yield()
        }
        #expect(try sandbox.files().filter { !$0.hasPrefix(".") } == ["0", "1", "2", "3", "4"])
        #expect(try urls.map { try tus.offset($0) } == [nil, nil, nil, 0, 0])
    }

    @Test("uploads are counted by what is on the disk")
    func census() throws {
        let ids = try (0..<4).map { _ in try UploadID() }
        var census = UploadCensus()
        census.made(ids[0])
        census.made(ids[1])
        census.count(unfinished: [ids[2]], complete: [ids[3]], live: [ids[1]])
        #expect(census.unfinished == [ids[1], ids[2]])
        census.published(ids[1])
        census.published(ids[2])
        #expect(census.unfinished.isEmpty)
        #expect(census.forget(beyond: 3).isEmpty)
        #expect(census.forget(beyond: 1) == [ids[3], ids[1]])
        #expect(census.forget(beyond: 1).isEmpty)
        #expect(census.forget(beyond: 0) == [ids[2]])
    }

    @Test("a refused body that does not end ends its connection")
    func endless() throws {
        let sandbox = try ReceiverSandbox { $0.access = .token(Array("secret".utf8)) }
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/f", length: 1 << 40))
        let piece = pattern(1 << 20)
        var sent = 0
        while sent < 4096, (try? client.send(piece)) != nil { sent += 1 }
        #expect(sent < 200)
    }
}

@Suite("A disk that loses bytes")
struct LostBytesTests {
    @Test("what was not synced before is taken back, though the next sync would succeed", arguments: [true, false])
    func lost(inCheckpoint: Bool) throws {
        let sandbox = try ReceiverSandbox()
        let root = try System.open(sandbox.folder)
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 10
        record.wantsDigest = true
        let upload = try store.create(record)
        defer { store.release(upload) }
        let data = try #require(upload.data).rawValue
        func append(_ bytes: [UInt8], _ seat: LiveUpload.Seat) throws -> LiveUpload.Appended {
            try bytes.withUnsafeBytes { try upload.append($0, seat) }
        }
        let first = try #require(upload.takeSeat(-1))
        #expect(try append([1, 2, 3], first) == .stored)
        #expect(try upload.sync() == 3)
        #expect(try append([4, 5, 6, 7], first) == .stored)
        ForcedFailures.fail(.fdatasync, on: .descriptor(data), with: .inputOutput)
        defer { ForcedFailures.clear(.descriptor(data)) }
        if inCheckpoint {
            upload.checkpoint()
        } else {
            #expect(throws: Errno.inputOutput) { try upload.sync() }
        }
        // Who wrote meanwhile is sent away, and asks where the upload stands.
        #expect(try append([8], first) == .seatLost)
        // What only a checkpoint has heard of is told once.
        if inCheckpoint { #expect(throws: Errno.inputOutput) { try upload.sync() } }
        #expect(try upload.sync() == 3)
        #expect(try System.fstat(data).size == 3)
        let second = try #require(upload.takeSeat(-1))
        #expect(try append([4, 5, 6, 7, 8, 9, 10], second) == .stored)
        guard case .published(_, 10, false, let digest) = store.finish(upload) else {
            Issue.record("it was not published")
            return
        }
        #expect(try contents(sandbox.path("f")) == Array(1...10))
        #expect(digest == (try FileDigester.digest(of: System.open(sandbox.path("f")), size: 10)))
    }

    @Test("a loss that is found when the body has ended publishes nothing", arguments: [UInt64(7), nil])
    func lostAtTheEnd(length: UInt64?) throws {
        let sandbox = try ReceiverSandbox()
        let root = try System.open(sandbox.folder)
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        var record = UploadRecord(
            path: TargetPath(components: [Array("f".utf8)]), completesByLength: length != nil)
        record.length = length
        let upload = try store.create(record)
        defer { store.release(upload) }
        let data = try #require(upload.data).rawValue
        let seat = try #require(upload.takeSeat(-1))
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        #expect(try bytes[..<3].withUnsafeBytes { try upload.append($0, seat) } == .stored)
        #expect(try upload.sync() == 3)
        #expect(try bytes[3...].withUnsafeBytes { try upload.append($0, seat) } == .stored)
        upload.leave(seat)
        ForcedFailures.fail(.fdatasync, on: .descriptor(data), with: .inputOutput)
        defer { ForcedFailures.clear(.descriptor(data)) }
        upload.checkpoint()
        guard case .refused = store.finish(upload) else {
            Issue.record("a part was published")
            return
        }
        if length != nil {
            guard case .refused = store.finish(upload) else {
                Issue.record("a part was published at the second try")
                return
            }
        }
        #expect(throws: Errno.noSuchFile) { try System.stat(sandbox.path("f")) }
        #expect(upload.facts.offset == 3)
    }

    @Test("a file whose name could not be synced is refused until a sync succeeds")
    func nameNotSynced() throws {
        let sandbox = try ReceiverSandbox()
        let root = try System.open(sandbox.folder)
        let served = try ServedFolder(path: sandbox.folder)
        let publisher = try Publisher(folder: served)
        defer { publisher.stop() }
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 3
        let upload = try store.create(record)
        defer { store.release(upload) }
        let seat = try #require(upload.takeSeat(-1))
        #expect(try [UInt8]([1, 2, 3]).withUnsafeBytes { try upload.append($0, seat) } == .stored)
        upload.leave(seat)
        let folder = ForcedFailures.Target.descriptor(served.root.rawValue)
        defer { ForcedFailures.clear(folder) }
        ForcedFailures.fail(.fsync, on: folder, with: .inputOutput)
        guard case .refused = store.finish(upload) else {
            Issue.record("it was told as published")
            return
        }
        ForcedFailures.clear(folder)
        ForcedFailures.fail(.fsync, on: folder, with: .inputOutput)
        guard case .refused = store.status(upload) else {
            Issue.record("it was told as whole")
            return
        }
        ForcedFailures.clear(folder)
        guard case .kept(offset: 3) = store.status(upload) else {
            Issue.record("it is whole, and not told so")
            return
        }
    }

    @Test("an upload that somebody takes up in the moment in which it expires stays")
    func takenUp() throws {
        let sandbox = try ReceiverSandbox()
        let root = try System.open(sandbox.folder)
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 10
        let upload = try store.create(record)
        #expect(upload.takeSeat(-1) != nil)
        let lifetime = ReceiverConfiguration.Limits().unfinishedLifetime
        store.sweep(now: upload.lastWritten + lifetime)
        #expect(!upload.isRemoved)
        store.release(upload)
        store.stop()
        #expect(try sandbox.files().count == 2)
    }
}
