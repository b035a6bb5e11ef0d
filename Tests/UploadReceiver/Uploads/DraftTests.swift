import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

/// A client of the IETF's drafts, in one of their versions.
struct DraftClient {
    let sandbox: ReceiverSandbox
    let version: InteropVersion

    /// The fields of a request.
    func fields(_ isComplete: Bool?, at offset: Int? = nil, length: Int? = nil) -> [(String, String)] {
        var fields = [("Upload-Draft-Interop-Version", "\(version.rawValue)")]
        if let isComplete {
            let field = version.completeness(isComplete)
            fields.append((field.name, field.value))
        }
        if let offset { fields.append(("Upload-Offset", "\(offset)")) }
        if let length { fields.append(("Upload-Length", "\(length)")) }
        return fields
    }

    func send(
        _ method: String, _ target: String, _ fields: [(String, String)], body: [UInt8]? = nil
    ) throws -> Reply {
        let client = try sandbox.client()
        try client.send(Self.request(method, target, fields, length: body?.count) + (body ?? []))
        return try client.reply(toHead: method == "HEAD")
    }

    static func request(_ method: String, _ target: String, _ fields: [(String, String)], length: Int?) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: test\r\n"
        if method == "PATCH" { text += "Content-Type: application/partial-upload\r\n" }
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    func isComplete(_ reply: Reply) -> Bool? {
        switch (reply.fields["upload-complete"], reply.fields["upload-incomplete"]) {
        case ("?1", nil), (nil, "?0"): true
        case ("?0", nil), (nil, "?1"): false
        default: nil
        }
    }

    func create(_ target: String, length: Int?) throws -> String {
        let reply = try send("POST", target, fields(false, length: length), body: [])
        #expect(reply.status == 201)
        #expect(isComplete(reply) == false)
        return try #require(reply.fields["location"])
    }

    func patch(_ url: String, at offset: Int, _ body: [UInt8], last: Bool) throws -> Reply {
        try send("PATCH", url, fields(last, at: offset), body: body)
    }

    func offset(_ url: String) throws -> Int? {
        let reply = try send("HEAD", url, fields(nil))
        return reply.status == 204 ? reply.fields["upload-offset"].flatMap { Int($0) } : nil
    }
}

@Suite("The IETF's resumable uploads")
struct DraftTests {
    @Test("careful creation, appends, a conflict, the end", arguments: InteropVersion.allCases)
    func careful(version: InteropVersion) throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: version)
        let url = try draft.create("/d/f", length: 10)
        let first = try draft.patch(url, at: 0, Array("01234".utf8), last: false)
        #expect(first.status == (version >= .six ? 204 : 201))
        #expect(draft.isComplete(first) == false)
        #expect(first.fields["upload-draft-interop-version"] == "\(version.rawValue)")
        #expect(try draft.offset(url) == 5)
        let conflict = try draft.patch(url, at: 4, [1], last: true)
        #expect(conflict.status == 409)
        #expect(conflict.fields["upload-offset"] == "5")
        #expect(conflict.fields["content-type"] == "application/problem+json")
        #expect(conflict.text.contains("#mismatching-upload-offset\""))
        #expect(conflict.text.contains("\"expected-offset\":5,\"provided-offset\":4"))
        let short = try draft.patch(url, at: 5, [1], last: true)
        #expect(short.status == 400)
        #expect(short.text.contains("#inconsistent-upload-length"))
        let last = try draft.patch(url, at: 5, Array("56789".utf8), last: true)
        #expect(last.status == 201)
        #expect(draft.isComplete(last) == true)
        #expect(last.fields["etag"] != nil)
        #expect(last.fields["content-location"] == "/d/f")
        #expect(try contents(sandbox.path("d/f")) == Array("0123456789".utf8))
        let head = try draft.send("HEAD", url, draft.fields(nil))
        #expect(head.status == 204)
        #expect(draft.isComplete(head) == true)
        #expect(head.fields["upload-offset"] == "10")
        #expect(try draft.patch(url, at: 10, [], last: true).text.contains("#completed-upload"))
    }

    @Test("limits are announced to who names the version", arguments: InteropVersion.allCases)
    func limits(version: InteropVersion) throws {
        let sandbox = try ReceiverSandbox { $0.limits.maximumSize = 99 }
        let draft = DraftClient(sandbox: sandbox, version: version)
        let reply = try draft.send("OPTIONS", "/f", draft.fields(nil))
        let expected: String? =
            switch version {
            case .three, .five: nil
            case .six: "max-size=99, expires=604800"
            case .eight: "max-size=99, max-age=604800"
            }
        #expect(reply.fields["upload-limit"] == expected)
        #expect(reply.fields["upload-draft-interop-version"] == "\(version.rawValue)")
        #expect(try draft.send("POST", "/f", draft.fields(false, length: 100), body: []).status == 413)
        let unlimited = DraftClient(sandbox: try ReceiverSandbox(), version: .eight)
        #expect(
            try unlimited.send("OPTIONS", "/", unlimited.fields(nil)).fields["upload-limit"]
                == "min-size=0, max-age=604800")
    }

    @Test("a PUT is told its URL by 104 at once, and goes on there after a cut", arguments: InteropVersion.allCases)
    func optimistic(version: InteropVersion) throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: version)
        let body = pattern(500_000)
        let client = try sandbox.client()
        try client.send(DraftClient.request("PUT", "/f", draft.fields(true), length: body.count))
        let announcement = try client.announcement()
        #expect(announcement.status == 104)
        #expect(announcement.fields["upload-draft-interop-version"] == "\(version.rawValue)")
        let url = try #require(announcement.fields["location"])
        try client.send(Array(body[..<200_000]))
        client.close()
        #expect(try sandbox.line(beginning: "interrupted").contains("after 200000 of 500000 bytes"))
        #expect(try draft.offset(url) == 200_000)
        #expect(try sandbox.files().allSatisfy { $0.hasPrefix(UploadID.folderName) })
        #expect(try draft.patch(url, at: 200_000, Array(body[200_000...]), last: true).status == 201)
        #expect(try contents(sandbox.path("f")) == body)
        #expect(try sandbox.line(beginning: "received").hasSuffix(", resumed at 200000"))
    }

    @Test("progress is told by 104 while a large body comes, never more than came")
    func progress() throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let body = pattern(40 << 20)
        let client = try sandbox.client()
        let fields = draft.fields(true) + [("Expect", "100-continue")]
        try client.send(DraftClient.request("PUT", "/f", fields, length: body.count))
        #expect(try client.announcement().status == 104)
        #expect(try client.interim() == 100)
        // Told with the next bytes after a part is on the disk, however long the disk takes.
        var sent = 30 << 20
        try client.send(Array(body[..<sent]))
        while try !client.isAnswered(within: .milliseconds(10)), sent < body.count - 1 {
            try client.send([body[sent]])
            sent += 1
        }
        let told = try #require(try client.announcement().fields["upload-offset"].flatMap { Int($0) })
        #expect((1...sent).contains(told))
        try client.send(Array(body[sent...]))
        let reply = try client.reply()
        #expect(reply.status == 201)
        #expect(reply.interim.allSatisfy { $0 == 104 })
        #expect(reply.announcements.allSatisfy { $0.fields["location"] == nil })
        #expect(try contents(sandbox.path("f")) == body)
    }

    @Test(
        "what came through a proxy gets no 104, which some hand on as if it were the answer",
        arguments: [("Via", "1.1 x"), ("X-Forwarded-For", "192.0.2.1"), ("Connection", "close")])
    func proxied(field: String, value: String) throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let client = try sandbox.client()
        let fields = draft.fields(true) + [("Expect", "100-continue"), (field, value)]
        try client.send(DraftClient.request("PUT", "/f", fields, length: 5))
        #expect(try client.interim() == 100)
        try client.send("hello")
        let reply = try client.reply()
        #expect(reply.status == 201 && reply.interim.isEmpty)
        #expect(try contents(sandbox.path("f")) == Array("hello".utf8))
    }

    @Test("a small body that comes in one piece needs no upload; in two it gets one")
    func small() throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let whole = try draft.send("PUT", "/a", draft.fields(true), body: Array("hello".utf8))
        #expect(whole.status == 201)
        #expect(whole.interim == [])
        #expect(draft.isComplete(whole) == true)
        #expect(try draft.send("PUT", "/a", draft.fields(true), body: [1]).status == 204)
        #expect(try sandbox.files() == ["a"])
        let client = try sandbox.client()
        try client.send(DraftClient.request("PUT", "/b", draft.fields(true), length: 5) + Array("he".utf8))
        #expect(try client.announcement().status == 104)
        try client.send("llo")
        #expect(try client.reply().status == 201)
        #expect(try contents(sandbox.path("b")) == Array("hello".utf8))
        #expect(try draft.send("POST", "/b", draft.fields(true), body: [1]).status == 409)
    }

    @Test("no 104 goes to a client of HTTP/1.0")
    func oldClient() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(
            "PUT /f HTTP/1.0\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Complete: ?1\r\nContent-Length: 100000\r\n\r\n"
        )
        try client.send(pattern(100_000))
        let reply = try client.reply()
        #expect(reply.status == 201)
        #expect(reply.interim == [])
    }

    @Test("a POST to a folder is named by Content-Disposition, and replaces nothing")
    func posts() throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let fields = draft.fields(true) + [("Content-Disposition", "inline; filename=\"x y\"")]
        let reply = try draft.send("POST", "/d/", fields, body: [1])
        #expect(reply.status == 201)
        #expect(try contents(sandbox.path("d/x y")) == [1])
        #expect(try draft.send("POST", "/d/", fields, body: [2]).status == 409)
        #expect(try draft.send("POST", "/d/", fields + [("Overwrite", "T")], body: [2]).status == 204)
        #expect(try contents(sandbox.path("d/x y")) == [2])
        #expect(
            try draft.send("PUT", "/d/x%20y", draft.fields(false) + [("If-None-Match", "*")], body: []).status == 412)
    }

    @Test("the length may be unknown to the end, chunked and across appends")
    func unknownLength() throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let url = try draft.create("/f", length: nil)
        let client = try sandbox.client()
        let fields = draft.fields(false, at: 0) + [("Transfer-Encoding", "chunked")]
        try client.send(
            DraftClient.request("PATCH", url, fields, length: nil) + Array("5\r\nhello\r\n0\r\n\r\n".utf8))
        #expect(try client.reply().status == 204)
        #expect(try draft.send("HEAD", url, draft.fields(nil)).fields["upload-length"] == nil)
        #expect(try draft.patch(url, at: 5, [], last: true).status == 201)
        #expect(try contents(sandbox.path("f")) == Array("hello".utf8))
        let head = try draft.send("HEAD", url, draft.fields(nil))
        #expect(head.fields["upload-length"] == "5")
        #expect(draft.isComplete(head) == true)
    }

    @Test("a part is never taken for a whole file")
    func torsos() throws {
        let sandbox = try ReceiverSandbox()
        for fields in [
            ["Upload-Complete": "?0"], ["Upload-Incomplete": "?1"],
            ["Upload-Complete": "?0", "Upload-Draft-Interop-Version": "99"],
        ] as [KeyValuePairs<String, String>] {
            #expect(try sandbox.client().exchange("PUT", "/f", fields, body: [1]).status == 400)
        }
        #expect(try sandbox.files().isEmpty)
    }

    @Test("the digest of the whole is checked at the end, of a piece at its end")
    func digests() throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: .eight)
        let body = pattern(200_000)
        func creation(_ digest: DigestValue) throws -> String {
            let fields = draft.fields(false) + [("Repr-Digest", DigestFields.field(digest))]
            return try #require(try draft.send("POST", "/f", fields, body: []).fields["location"])
        }
        let wrong = try creation(DigestAlgorithm.sha256.digest(of: [1]))
        #expect(try draft.patch(wrong, at: 0, body, last: true).status == 400)
        #expect(try draft.offset(wrong) == nil)
        let right = try creation(DigestAlgorithm.sha256.digest(of: body))
        let bad = draft.fields(true, at: 0) + [("Content-Digest", DigestFields.field(DigestValue(bytes: pattern(32))))]
        #expect(try draft.send("PATCH", right, bad, body: body).status == 400)
        #expect(try draft.offset(right) == 0)
        let reply = try draft.patch(right, at: 0, body, last: true)
        #expect(reply.status == 201)
        #expect(reply.fields["repr-digest"] != nil)
    }

    @Test(
        "HEAD and DELETE with fields of an append are refused, DELETE ends an upload",
        arguments: InteropVersion.allCases)
    func questions(version: InteropVersion) throws {
        let sandbox = try ReceiverSandbox()
        let draft = DraftClient(sandbox: sandbox, version: version)
        let url = try draft.create("/f", length: 3)
        #expect(try draft.send("HEAD", url, draft.fields(nil, at: 0)).status == 400)
        #expect(try draft.send("DELETE", url, draft.fields(true)).status == 400)
        #expect(try draft.send("DELETE", url, draft.fields(nil)).status == 204)
        #expect(try draft.send("HEAD", url, draft.fields(nil)).status == 404)
        #expect(try sandbox.files().isEmpty)
    }
}
