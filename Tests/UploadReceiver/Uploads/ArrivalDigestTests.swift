import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("Digests of uploads as they are told")
struct ToldDigestTests {
    private let sandbox: ReceiverSandbox
    private let tus: TusClient
    private let body = pattern(300_000)

    init() throws {
        sandbox = try ReceiverSandbox()
        tus = TusClient(sandbox: sandbox)
    }

    private static let wanted = ("Want-Repr-Digest", "sha-256=10")

    private func create(_ name: String, _ length: Int) throws -> String {
        let fields = [TusClient.named(name), ("Upload-Length", "\(length)"), Self.wanted]
        return try #require(try tus.send("POST", "/", fields, body: []).fields["location"])
    }

    private func told(_ body: [UInt8]) -> String { DigestFields.field(DigestAlgorithm.sha256.digest(of: body)) }

    /// The answer to the rest, from where the receiver says that it is.
    private func rest(_ tus: TusClient, _ url: String, of body: [UInt8]) throws -> Reply {
        let offset = try #require(try tus.offset(url))
        return try tus.patch(url, at: offset, Array(body[offset...]))
    }

    private func begin(_ url: String, at offset: Int, _ bytes: [UInt8]) throws -> RawClient {
        let client = try sandbox.client()
        let fields = [("Upload-Offset", "\(offset)"), ("Expect", "100-continue")]
        try client.send(TusClient.request("PATCH", url, fields, length: body.count - offset))
        #expect(try client.interim() == 100)
        try client.send(bytes)
        return client
    }

    @Test("several appends, with a checksum and without, give the digest of the whole")
    func appends() throws {
        let url = try create("f", body.count)
        #expect(try tus.patch(url, at: 0, Array(body[..<1000])).fields["repr-digest"] == nil)
        let piece = Array(body[1000..<200_000])
        let wrong = ("Upload-Checksum", "sha1 \(DigestAlgorithm.sha1.digest(of: [1]).base64)")
        #expect(try tus.patch(url, at: 1000, piece, [wrong]).status == 460)
        let right = ("Upload-Checksum", "sha1 \(DigestAlgorithm.sha1.digest(of: piece).base64)")
        #expect(try tus.patch(url, at: 1000, piece, [right]).status == 204)
        #expect(try rest(tus, url, of: body).fields["repr-digest"] == told(body))
    }

    @Test("what a cut and a half-dead connection left is in it once")
    func cuts() throws {
        let url = try create("f", body.count)
        try begin(url, at: 0, Array(body[..<50_001])).close()
        _ = try sandbox.line(beginning: "interrupted")
        let dead = try begin(url, at: 50_001, Array(body[50_001..<120_000]))
        // It asks for a place that was reached long ago, as after a lost answer, and takes the upload over by that.
        #expect(try tus.patch(url, at: 50_000, Array(body[50_000...])).status == 409)
        try? dead.send(pattern(1000, seed: 3))
        dead.awaitEnd()
        #expect(try rest(tus, url, of: body).fields["repr-digest"] == told(body))
        #expect(try contents(sandbox.path("f")) == body)
    }

    @Test("many at once that all write the same upload change nothing about it")
    func race() throws {
        let body = pattern(2 << 20)
        let url = try create("f", body.count)
        for _ in 0..<5 {
            let offset = try #require(try tus.offset(url))
            let clients = try (0..<4).map { _ in
                let client = try sandbox.client()
                try client.send(
                    TusClient.request("PATCH", url, [("Upload-Offset", "\(offset)")], length: body.count - offset))
                return client
            }
            for client in clients { try? client.send(Array(body[offset..<min(body.count - 1, offset + 300_000)])) }
        }
        // Each of the twenty may still be unread and can take the upload over once; who lost it comes back, as a client does.
        let answers = (0...20).lazy.compactMap { _ in try? rest(tus, url, of: body) }
        #expect(answers.first { $0.status == 204 }?.fields["repr-digest"] == told(body))
    }

    @Test("a receiver that was started anew tells that of the whole file")
    func restart() throws {
        let url = try create("f", body.count)
        #expect(try tus.patch(url, at: 0, Array(body[..<100_000])).status == 204)
        sandbox.stop()
        let folder = sandbox.folder
        let next = TusClient(sandbox: try ReceiverSandbox { $0.folder = folder })
        #expect(try next.patch(url, at: 100_000, Array(body[100_000..<200_000])).status == 204)
        #expect(try rest(next, url, of: body).fields["repr-digest"] == told(body))
    }

    @Test("a file joined of pieces has its own, told and checked")
    func joined() throws {
        let urls = try [body[..<70_000], body[70_000...]].map { part in
            let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(part.count)"), Self.wanted]
            return try #require(try tus.send("POST", "/", fields, body: Array(part)).fields["location"])
        }
        let final = ("Upload-Concat", "final;" + urls.joined(separator: " "))
        let wrong = ("Repr-Digest", told([1]))
        #expect(try tus.send("POST", "/", [TusClient.named("joined"), final, wrong]).status == 400)
        let reply = try tus.send("POST", "/", [TusClient.named("joined"), final, Self.wanted])
        #expect(reply.status == 201)
        #expect(reply.fields["repr-digest"] == told(body))
        #expect(try contents(sandbox.path("joined")) == body)
    }

    @Test("the drafts tell it, too, and what was announced wrongly is found out in several appends", arguments: [5, 8])
    func drafts(version: Int) throws {
        let draft = DraftClient(sandbox: sandbox, version: try #require(InteropVersion(rawValue: version)))
        func end(_ field: (String, String)) throws -> Reply {
            let reply = try draft.send("POST", "/f", draft.fields(false) + [field], body: Array(body[..<9]))
            let url = try #require(reply.fields["location"])
            #expect(try draft.patch(url, at: 9, Array(body[9..<100_000]), last: false).status < 300)
            return try draft.patch(url, at: 100_000, Array(body[100_000...]), last: true)
        }
        #expect(try end(("Repr-Digest", told([1]))).status == 400)
        let reply = try end(Self.wanted)
        #expect(reply.status == 201)
        #expect(reply.fields["repr-digest"] == told(body))
    }

    @Test("OPTIONS says that digests are known, but for an upload's URL, where they come too late")
    func options() throws {
        #expect(try sandbox.client().exchange("OPTIONS", "/any/").fields["want-repr-digest"] == "sha-256=1")
        let url = try create("f", 1)
        #expect(try sandbox.client().exchange("OPTIONS", url).fields["want-repr-digest"] == nil)
    }
}

/// Whether the file must be read again at the end.
@Suite("Digests while bytes arrive")
struct ArrivalDigestTests {
    private let sandbox: ReceiverSandbox
    private let publisher: Publisher
    private let root: OwnedDescriptor
    private let body = pattern(300_000)
    private let record: UploadRecord

    init() throws {
        sandbox = try ReceiverSandbox()
        publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        root = try System.open(sandbox.folder)
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = UInt64(body.count)
        record.wantsDigest = true
        self.record = record
    }

    /// What is done with the uploads of one run.
    private func run(_ work: (UploadStore) throws -> Void) throws {
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        try work(store)
    }

    private func append(_ range: Range<Int>, to upload: LiveUpload) throws {
        let seat = try #require(upload.takeSeat(-1))
        #expect(try append(range, to: upload, seat) == .stored)
        upload.leave(seat)
    }

    private func append(_ range: Range<Int>, to upload: LiveUpload, _ seat: LiveUpload.Seat) throws
        -> LiveUpload.Appended
    {
        try body.withUnsafeBytes { try upload.append(UnsafeRawBufferPointer(rebasing: $0[range]), seat) }
    }

    private func known(_ upload: LiveUpload) -> DigestValue? {
        upload.arrivalDigest?.value(ofSize: upload.facts.offset)
    }

    private func digest(_ count: Int) -> DigestValue { DigestAlgorithm.sha256.digest(of: Array(body[..<count])) }

    @Test("it is known at every place, also by the request after the one that brought the bytes")
    func goesOn() throws {
        defer { publisher.stop() }
        try run { store in
            let first = try store.create(record)
            try append(0..<1000, to: first)
            #expect(known(first) == digest(1000))
            store.release(first)
            let second = try #require(try store.acquire(first.id))
            try append(1000..<1001, to: second)
            // A piece that was checked before it counts.
            let piece = try store.folder.makeNameless()
            try body.withUnsafeBytes {
                try System.writeAll(piece.rawValue, UnsafeRawBufferPointer(rebasing: $0[1001..<200_000]))
            }
            try second.append(contentsOf: piece, unless: { false })
            store.release(second)
            let third = try #require(try store.acquire(first.id))
            try append(200_000..<body.count, to: third)
            #expect(known(third) == digest(body.count))
            guard case .published(_, _, _, let told) = store.finish(third) else {
                Issue.record("not published")
                return
            }
            #expect(told == digest(body.count))
            store.release(third)
        }
    }

    @Test("bytes of a lost seat are not in it")
    func lostSeat() throws {
        defer { publisher.stop() }
        try run { store in
            let upload = try store.create(record)
            defer { store.release(upload) }
            let lost = try #require(upload.takeSeat(-1))
            try append(0..<10, to: upload)
            #expect(try append(10..<30, to: upload, lost) == .seatLost)
            try append(10..<20, to: upload)
            #expect(known(upload) == digest(20))
        }
    }

    @Test("after a restart, or when another hand has written to the bytes, it is not known, and the file is read")
    func strangers() throws {
        defer { publisher.stop() }
        var id: UploadID?
        try run { store in
            let upload = try store.create(record)
            id = upload.id
            try append(0..<1000, to: upload)
            store.release(upload)
        }
        let left = try #require(id)
        try run { store in
            let upload = try #require(try store.acquire(left))
            try append(1000..<body.count, to: upload)
            #expect(known(upload) == nil)
            guard case .published(_, _, _, let told) = store.finish(upload) else {
                Issue.record("not published")
                return
            }
            #expect(told == digest(body.count))
            store.release(upload)
        }
        try run { store in
            let upload = try store.create(record)
            try append(0..<1000, to: upload)
            store.release(upload)
            let data = sandbox.path("\(UploadID.folderName)/\(upload.id.text).data")
            try write([UInt8](repeating: 7, count: 1000), to: data)
            // Two changes within a tick of the kernel's clock would have one time.
            let file = try System.open(data, flags: O_RDWR)
            try System.setModificationTime(file.rawValue, nanoseconds: 1)
            file.close()
            let again = try #require(try store.acquire(upload.id))
            #expect(again.facts.offset == 1000)
            #expect(known(again) == nil)
            store.release(again)
        }
    }

    @Test("nothing is hashed that nobody asked for")
    func unwanted() throws {
        defer { publisher.stop() }
        var plain = record
        plain.wantsDigest = false
        var part = record
        part.role = .partial
        var claimed = plain
        claimed.claim = digest(1)
        #expect(ArrivalDigest(for: plain) == nil)
        #expect(ArrivalDigest(for: part) == nil)
        #expect(ArrivalDigest(for: claimed) != nil)
    }

    @Test("bytes that do not follow end it for good", arguments: [9, 11, 0])
    func gaps(offset: UInt64) throws {
        defer { publisher.stop() }
        let digest = try #require(ArrivalDigest(for: record))
        body.withUnsafeBytes { bytes in
            let ten = UnsafeRawBufferPointer(rebasing: bytes[..<10])
            digest.update(ten, at: 0)
            #expect(digest.value(ofSize: 10) == self.digest(10))
            #expect(digest.value(ofSize: 11) == nil)
            digest.update(ten, at: offset)
            for size: UInt64 in [10, 19, 20, 21] { #expect(digest.value(ofSize: size) == nil) }
            digest.update(ten, at: 10)
            #expect(digest.value(ofSize: 20) == nil)
        }
    }
}
