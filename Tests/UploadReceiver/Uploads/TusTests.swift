import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

/// A tus client that adds the fields every request has.
struct TusClient {
    let sandbox: ReceiverSandbox

    func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Reply {
        let client = try sandbox.client()
        try client.send(Self.request(method, target, fields, length: body?.count) + (body ?? []))
        return try client.reply(toHead: method == "HEAD")
    }

    static func request(
        _ method: String, _ target: String, _ fields: [(String, String)], length: Int?
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: test\r\nTus-Resumable: 1.0.0\r\n"
        if length ?? 0 > 0 { text += "Content-Type: application/offset+octet-stream\r\n" }
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    static func named(_ name: String) -> (String, String) {
        ("Upload-Metadata", "filename \(Base64.encode(Array(name.utf8)))")
    }

    /// Begins an upload and gives its URL back.
    func create(_ name: String, _ length: Int, in folder: String = "/") throws -> String {
        let reply = try send("POST", folder, [Self.named(name), ("Upload-Length", "\(length)")], body: [])
        #expect(reply.status == 201)
        return try #require(reply.fields["location"])
    }

    func offset(_ url: String) throws -> Int? {
        let reply = try send("HEAD", url)
        #expect(reply.fields["cache-control"] == "no-store")
        return reply.status == 200 ? reply.fields["upload-offset"].flatMap { Int($0) } : nil
    }

    func patch(_ url: String, at offset: Int, _ body: [UInt8], _ fields: [(String, String)] = []) throws -> Reply {
        try send("PATCH", url, [("Upload-Offset", "\(offset)")] + fields, body: body)
    }
}

@Suite("tus")
struct TusTests {
    private let sandbox: ReceiverSandbox
    private let tus: TusClient

    init() throws {
        sandbox = try ReceiverSandbox()
        tus = TusClient(sandbox: sandbox)
    }

    @Test("OPTIONS tells what the server can do, without a version")
    func discovery() throws {
        let small = try ReceiverSandbox { $0.limits.maximumSize = 99 }
        let reply = try small.client().exchange("OPTIONS", "/any/")
        #expect(reply.status == 204)
        #expect(reply.fields["tus-version"] == "1.0.0")
        #expect(reply.fields["tus-max-size"] == "99")
        #expect(reply.fields["tus-checksum-algorithm"] == "sha1,sha256,md5")
        let extensions = reply.fields["tus-extension"]?.split(separator: ",") ?? []
        for name in ["creation", "creation-with-upload", "checksum", "termination", "expiration", "concatenation"] {
            #expect(extensions.contains(Substring(name)))
        }
        #expect(reply.fields["upload-limit"] == nil)
    }

    @Test("a file arrives in pieces, and is seen when it is whole")
    func pieces() throws {
        let body = pattern(300_000)
        let url = try tus.create("a b", body.count, in: "/x/y/")
        #expect(try tus.offset(url) == 0)
        for start in stride(from: 0, to: body.count, by: 100_000) {
            #expect(try !sandbox.files().contains("x/y/a b"))
            let reply = try tus.patch(url, at: start, Array(body[start..<(start + 100_000)]))
            #expect(reply.status == 204)
            #expect(reply.fields["upload-offset"] == "\(start + 100_000)")
            #expect(reply.fields["tus-resumable"] == "1.0.0")
            #expect((reply.fields["upload-expires"] == nil) == (start == 200_000))
        }
        #expect(try contents(sandbox.path("x/y/a b")) == body)
        #expect(try tus.offset(url) == body.count)
        #expect(try sandbox.line(beginning: "received").hasSuffix("from 127.0.0.1"))
    }

    @Test("a file may come with its creation, and an empty one needs nothing more")
    func withUpload() throws {
        let fields = [TusClient.named("f"), ("Upload-Length", "5")]
        let half = try tus.send("POST", "/", fields, body: Array("hel".utf8))
        #expect(half.status == 201)
        #expect(half.fields["upload-offset"] == "3")
        #expect(try tus.patch(try #require(half.fields["location"]), at: 3, Array("lo".utf8)).status == 204)
        #expect(try contents(sandbox.path("f")) == Array("hello".utf8))
        let empty = try tus.create("empty", 0)
        #expect(try contents(sandbox.path("empty")) == [])
        #expect(try tus.offset(empty) == 0)
    }

    @Test("nothing that is there is replaced unless the upload asks for it")
    func existing() throws {
        try write([1], to: sandbox.path("f"))
        let fields = [TusClient.named("f"), ("Upload-Length", "1")]
        #expect(try tus.send("POST", "/", fields, body: []).status == 409)
        #expect(try tus.send("POST", "/", fields + [("If-None-Match", "*")], body: []).status == 412)
        #expect(try tus.send("POST", "/", fields + [("Overwrite", "F")], body: []).status == 409)
        let replacing = try tus.send("POST", "/", fields + [("Overwrite", "T")], body: [])
        #expect(replacing.status == 201)
        #expect(try tus.patch(try #require(replacing.fields["location"]), at: 0, [2]).status == 204)
        #expect(try contents(sandbox.path("f")) == [2])
        let metadata = ("Upload-Metadata", fields[0].1 + ",overwrite dHJ1ZQ==")
        #expect(try tus.send("POST", "/", [metadata, fields[1]], body: [3]).status == 201)
        #expect(try contents(sandbox.path("f")) == [3])
        // The name is taken while the upload runs.
        let url = try tus.create("g", 2)
        #expect(try tus.patch(url, at: 0, [1]).status == 204)
        try write([9], to: sandbox.path("g"))
        #expect(try tus.patch(url, at: 1, [2]).status == 409)
        #expect(try contents(sandbox.path("g")) == [9])
        // It is not lost: when the name is free again, asking publishes it.
        try System.unlink(sandbox.path("g"))
        #expect(try tus.offset(url) == 2)
        #expect(try contents(sandbox.path("g")) == [1, 2])
    }

    @Test("a piece with the wrong checksum is thrown away, the right one counts", arguments: ["sha1", "sha256", "md5"])
    func checksums(name: String) throws {
        let algorithm = try #require(PieceClaim.algorithms.first { $0.name == name }?.algorithm)
        let body = pattern(200_000)
        let url = try tus.create("f", body.count)
        let right = ("Upload-Checksum", "\(name) \(algorithm.digest(of: body).base64)")
        let wrong = ("Upload-Checksum", "\(name) \(algorithm.digest(of: [1]).base64)")
        #expect(try tus.patch(url, at: 0, body, [wrong]).status == 460)
        #expect(try tus.offset(url) == 0)
        #expect(try tus.patch(url, at: 0, body, [("Upload-Checksum", "crc32 AAAAAA==")]).status == 400)
        #expect(try tus.patch(url, at: 0, body, [right]).status == 204)
        #expect(try contents(sandbox.path("f")) == body)
    }

    @Test("a piece with a checksum that is cut leaves nothing")
    func cutPiece() throws {
        let body = pattern(100_000)
        let url = try tus.create("f", body.count)
        let client = try sandbox.client()
        let checksum = "sha1 \(DigestAlgorithm.sha1.digest(of: body).base64)"
        try client.send(
            TusClient.request(
                "PATCH", url, [("Upload-Offset", "0"), ("Upload-Checksum", checksum)], length: body.count)
                + body.dropLast())
        client.close()
        _ = try sandbox.line(beginning: "interrupted")
        #expect(try tus.offset(url) == 0)
    }

    @Test("a deferred length is told once")
    func deferred() throws {
        let reply = try tus.send("POST", "/", [TusClient.named("f"), ("Upload-Defer-Length", "1")], body: [])
        let url = try #require(reply.fields["location"])
        #expect(try tus.patch(url, at: 0, [1, 2]).status == 204)
        #expect(try tus.send("HEAD", url).fields["upload-defer-length"] == "1")
        #expect(try tus.patch(url, at: 2, [3], [("Upload-Length", "2")]).status == 400)
        #expect(try tus.patch(url, at: 2, [3], [("Upload-Length", "4")]).status == 204)
        #expect(try tus.patch(url, at: 3, [4], [("Upload-Length", "5")]).status == 400)
        #expect(try tus.patch(url, at: 3, [4]).status == 204)
        #expect(try contents(sandbox.path("f")) == [1, 2, 3, 4])
    }

    @Test("an upload that was ended is gone, and its bytes with it")
    func termination() throws {
        let url = try tus.create("f", 10)
        #expect(try tus.patch(url, at: 0, [1]).status == 204)
        #expect(try tus.send("POST", url, [("X-HTTP-Method-Override", "DELETE")]).status == 204)
        #expect(try tus.offset(url) == nil)
        #expect(try tus.patch(url, at: 1, [1]).status == 404)
        #expect(try sandbox.files().isEmpty)
    }

    @Test("what does not fit the protocol is refused")
    func refusals() throws {
        let url = try tus.create("f", 10)
        #expect(try sandbox.client().exchange("HEAD", url).status == 412)
        let old = try sandbox.client().exchange("HEAD", url, ["Tus-Resumable": "0.2.2"])
        #expect(old.status == 412)
        #expect(old.fields["tus-version"] == "1.0.0")
        let typed: KeyValuePairs = ["Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "text/plain"]
        #expect(try sandbox.client().exchange("PATCH", url, typed, body: [1]).status == 415)
        #expect(try tus.send("PATCH", url, [], body: [1]).status == 400)
        let conflict = try tus.patch(url, at: 3, [1])
        #expect(conflict.status == 409)
        #expect(conflict.fields["upload-offset"] == "0")
        #expect(try tus.patch(url, at: 0, pattern(11)).status == 400)
        #expect(try tus.send("GET", url).status == 405)
        #expect(try tus.send("PUT", url, [], body: [1]).status == 405)
        #expect(try tus.send("GET", url + ".info").status == 403)
        #expect(try tus.send("POST", "/", [TusClient.named("f")], body: []).status == 400)
        #expect(try tus.send("POST", "/", [TusClient.named("../f"), ("Upload-Length", "1")], body: []).status == 400)
        #expect(try tus.send("POST", "/", [("Upload-Length", "x")], body: []).status == 400)
        let small = TusClient(sandbox: try ReceiverSandbox { $0.limits.maximumSize = 9 })
        #expect(try small.send("POST", "/", [TusClient.named("f"), ("Upload-Length", "10")], body: []).status == 413)
        let full = TusClient(sandbox: try ReceiverSandbox { $0.limits.keepFree = .max / 2 })
        #expect(try full.send("POST", "/", [TusClient.named("f"), ("Upload-Length", "10")], body: []).status == 507)
        let closed = TusClient(sandbox: try ReceiverSandbox { $0.access = .token([65]) })
        for method in ["POST", "HEAD", "PATCH", "DELETE", "OPTIONS"] {
            #expect(try closed.send(method, url, body: method == "HEAD" ? nil : []).status == 401)
        }
    }

    @Test("pieces are joined, and a join may be asked for twice")
    func concatenation() throws {
        let (one, other) = (pattern(70_000), pattern(50_000, seed: 2))
        let urls = try [one, other].map { body in
            let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(body.count)")]
            return try #require(try tus.send("POST", "/", fields, body: body).fields["location"])
        }
        #expect(try tus.send("HEAD", urls[0]).fields["upload-concat"] == "partial")
        let unfinished = try tus.send("POST", "/", [("Upload-Concat", "partial"), ("Upload-Length", "3")], body: [1])
        func join(_ urls: [String]) throws -> Reply {
            let list = "final;" + urls.joined(separator: " ")
            return try tus.send("POST", "/", [TusClient.named("joined"), ("Upload-Concat", list)])
        }
        #expect(try join(urls + [try #require(unfinished.fields["location"])]).status == 400)
        #expect(try join(["/nowhere"]).status == 400)
        let names = try (0..<255).map { _ in "/\(UploadID.folderName)/\(try UploadID().text)" }
        let many = try join(urls + names)
        #expect(many.status == 400 && String(decoding: many.body, as: UTF8.self).contains("up to 256 uploads"))
        let most = try join(urls + names.dropLast())
        #expect(most.status == 400 && String(decoding: most.body, as: UTF8.self).contains("missing or not complete"))
        let first = try join(urls)
        #expect(first.status == 201)
        #expect(try contents(sandbox.path("joined")) == one + other)
        let second = try join(urls)
        #expect(second.status == 201)
        let url = try #require(first.fields["location"])
        #expect(second.fields["location"] == url)
        #expect(try tus.offset(url) == 120_000)
        #expect(try tus.send("HEAD", url).fields["upload-concat"]?.hasPrefix("final;") == true)
        #expect(try tus.patch(url, at: 120_000, [1]).status == 403)
        #expect(try tus.offset(urls[0]) == nil)
    }

    @Test(
        "a join that a power cut tore is made anew, and other torn uploads go when somebody asks for them",
        arguments: [nil, "", "\0\0", "martlet-up", "martlet-upload 1\npath joi"])
    func torn(record: String?) throws {
        let body = pattern(70_000)
        let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(body.count)")]
        let piece = try #require(try tus.send("POST", "/", fields, body: body).fields["location"])
        let pieceID = try #require(UploadID(target: piece.utf8))
        let name = TargetPath(components: [Array("joined".utf8)])
        let joinID = UploadID(standingFor: "\(pieceID.text) \(name.target)")
        let otherID = try UploadID()
        for id in [joinID, otherID] {
            try write([1, 2, 3], to: sandbox.path("\(UploadID.folderName)/\(id.text).data"))
            if let record {
                try write(Array(record.utf8), to: sandbox.path("\(UploadID.folderName)/\(id.text).info"))
            }
        }
        let joined = try tus.send("POST", "/", [TusClient.named("joined"), ("Upload-Concat", "final;\(piece)")])
        #expect(joined.status == 201 && joined.fields["location"].flatMap { UploadID(target: $0.utf8) } == joinID)
        #expect(try contents(sandbox.path("joined")) == body)
        #expect(try tus.offset(otherID.target) == nil)
        // Bytes without a record have an hour to get one.
        let left = try sandbox.files().filter { $0.contains(otherID.text) }.count
        #expect(left == (record == nil ? 1 : 0))
    }

    @Test("pieces that a kill has left after their join go when it is asked for again")
    func leftPieces() throws {
        let body = pattern(70_000)
        let fields = [("Upload-Concat", "partial"), ("Upload-Length", "\(body.count)")]
        let piece = try #require(try tus.send("POST", "/", fields, body: body).fields["location"])
        let id = try #require(UploadID(target: piece.utf8))
        let paths = ["data", "info"].map { sandbox.path("\(UploadID.folderName)/\(id.text).\($0)") }
        let before = try paths.map { try contents($0) }
        func join() throws -> Reply {
            try tus.send("POST", "/", [TusClient.named("joined"), ("Upload-Concat", "final;\(piece)")])
        }
        #expect(try join().status == 201)
        for (path, bytes) in zip(paths, before) { try write(bytes, to: path) }
        #expect(try tus.offset(piece) == body.count)
        // Nobody knows whether the name is on the disk until the record says so.
        let name = TargetPath(components: [Array("joined".utf8)])
        let joined = UploadID(standingFor: "\(id.text) \(name.target)")
        let record = sandbox.path("\(UploadID.folderName)/\(joined.text).info")
        let published = String(decoding: try contents(record), as: UTF8.self)
        let unnamed = published.replacing("published\n", with: "")
        #expect(unnamed != published)
        try write(Array(unnamed.utf8), to: record)
        #expect(try join().status == 201)
        #expect(try contents(record) == Array(published.utf8))
        #expect(try !sandbox.files().contains { $0.contains(id.text) })
        #expect(try contents(sandbox.path("joined")) == body)
    }

    @Test("another file of that length under the name is no proof that an upload got it")
    func otherFile() throws {
        let fields = [TusClient.named("f"), ("Upload-Length", "3")]
        let url = try #require(try tus.send("POST", "/", fields).fields["location"])
        let id = try #require(UploadID(target: url.utf8))
        // Somebody has a file of that name, and has cleared the disk of the upload's bytes; in this order, or it could get their inode.
        try write([7, 7, 7], to: sandbox.path("f"))
        try System.unlink(sandbox.path("\(UploadID.folderName)/\(id.text).data"))
        // Whoever made it may hold it open for a moment after the answer; from then on it is not there.
        for _ in 0..<1000 where try tus.offset(url) != nil { poll(nil, 0, 10) }
        #expect(try tus.offset(url) == nil)
    }
}
