import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("Uploads to a running receiver")
struct UploadTests {
    @Test(
        "a file arrives as it was sent, under any name",
        arguments: [
            ("/plain.bin", "plain.bin", 4096), ("/empty", "empty", 0), ("/a/b/c/deep", "a/b/c/deep", 1),
            ("/with%20spaces%20%23%3F.txt", "with spaces #?.txt", 100_000),
            ("/%E5%86%99%E7%9C%9F/%E6%97%A5%E6%9C%AC%E8%AA%9E.jpg", "写真/日本語.jpg", 3_000_000),
            ("http://test:1/absolute?query=1", "absolute", 10),
            ("/just-one-mebibyte", "just-one-mebibyte", 1 << 20),
        ])
    func arrives(target: String, name: String, size: Int) throws {
        let sandbox = try ReceiverSandbox()
        let body = pattern(size)
        let reply = try sandbox.client().exchange("PUT", target, body: body)
        #expect(reply.status == 201)
        #expect(try contents(sandbox.path(name)) == body)
        #expect(try sandbox.line(beginning: "received").hasPrefix("received \(name) \(size) bytes in "))
        #expect(try sandbox.files() == [name])

        let back = try sandbox.client().exchange("GET", target)
        #expect(back.status == 200)
        #expect(back.body == body)
        #expect(back.fields["etag"] == reply.fields["etag"])
        #expect(back.fields["last-modified"] == reply.fields["last-modified"])
    }

    @Test("fifty megabytes arrive and come back identical")
    func large() throws {
        let sandbox = try ReceiverSandbox()
        let body = pattern(50_000_000)
        #expect(try sandbox.client().exchange("PUT", "/large", body: body).status == 201)
        #expect(try contents(sandbox.path("large")) == body)
        #expect(try sandbox.client().exchange("GET", "/large").body == body)
    }

    @Test("a name that is not UTF-8 keeps its bytes, encoded or raw")
    func rawNames() throws {
        let sandbox = try ReceiverSandbox()
        #expect(try sandbox.client().exchange("PUT", "/%ff%fe", body: [1]).status == 201)
        #expect(try contents(sandbox.path([0xFF, 0xFE])) == [1])
        #expect(try sandbox.line(beginning: "received").hasPrefix("received \\xff\\xfe 1 bytes"))
        let client = try sandbox.client()
        try client.send(
            Array("PUT /".utf8) + [0xFD] + Array(" HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\n2".utf8))
        #expect(try client.reply().status == 201)
        #expect(try contents(sandbox.path([0xFD])) == [UInt8(ascii: "2")])
    }

    @Test("a chunked body of unknown length arrives whole")
    func chunked() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        let fields: KeyValuePairs = ["Transfer-Encoding": "chunked"]
        try client.send(RawClient.head("PUT", "/c", fields) + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
        #expect(try client.reply().status == 201)
        #expect(try contents(sandbox.path("c")) == Array("hello world".utf8))
    }

    @Test("a second PUT replaces with 204 and another tag, also for the same length at once")
    func replaced() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        var tags: Set<String> = []
        for round in 0..<20 {
            let reply = try client.exchange("PUT", "/f", body: [UInt8(round)])
            #expect(reply.status == (round == 0 ? 201 : 204))
            tags.insert(reply.fields["etag"] ?? "")
        }
        #expect(tags.count == 20)
        #expect(try contents(sandbox.path("f")) == [19])
        #expect(try sandbox.line(beginning: "replaced").hasPrefix("replaced f 1 bytes"))
    }

    @Test("a client that waits for 100 Continue gets it, or the refusal instead")
    func expectation() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: 5))
        #expect(try client.interim() == 100)
        try client.send("hello")
        #expect(try client.reply().status == 201)
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue", "If-None-Match": "*"], length: 1 << 40))
        let refused = try client.reply()
        #expect(refused.status == 412)
        #expect(refused.interim.isEmpty)
    }

    @Test("If-None-Match: * never replaces, and the connection goes on after it")
    func noReplacing() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        let fields: KeyValuePairs = ["If-None-Match": "*"]
        let first = try client.exchange("PUT", "/f", fields, body: [1])
        #expect(first.status == 201)
        let second = try client.exchange("PUT", "/f", fields, body: [2, 2])
        #expect(second.status == 412)
        #expect(second.fields["etag"] == first.fields["etag"])
        #expect(try contents(sandbox.path("f")) == [1])
        #expect(try client.exchange("PUT", "/g", fields, body: [3]).status == 201)
        #expect(try sandbox.line(beginning: "refused").hasPrefix("refused PUT f: 412 "))
        try System.mkdir(sandbox.path("folder"), mode: 0o755)
        #expect(try client.exchange("PUT", "/folder", fields, body: [1]).status == 412)
    }

    @Test("If-Match replaces that version only")
    func replacingThis() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        #expect(try client.exchange("PUT", "/f", ["If-Match": "*"], body: [1]).status == 412)
        let tag = try client.exchange("PUT", "/f", body: [1]).fields["etag"] ?? ""
        #expect(try client.exchange("PUT", "/f", ["If-Match": "\"other\""], body: [2]).status == 412)
        #expect(try client.exchange("PUT", "/f", ["If-Match": tag], body: [3]).status == 204)
        #expect(try client.exchange("PUT", "/f", ["If-Match": tag], body: [4]).status == 412)
        #expect(try contents(sandbox.path("f")) == [3])
    }

    @Test(
        "of uploads to one name that all began before it existed exactly one wins",
        arguments: [10, 3 << 20])
    func race(size: Int) throws {
        let sandbox = try ReceiverSandbox()
        let clients = try (0..<8).map { _ in try sandbox.client() }
        for (number, client) in clients.enumerated() {
            let body = [UInt8](repeating: UInt8(number), count: size - 1)
            try client.send(Array(RawClient.head("PUT", "/f", ["If-None-Match": "*"], length: size).utf8) + body)
        }
        for (number, client) in clients.enumerated() { try client.send([UInt8(number)]) }
        let statuses = try clients.map { try $0.reply().status }
        let winner = try #require(statuses.firstIndex(of: 201))
        #expect(statuses.count { $0 == 412 } == 7)
        #expect(try contents(sandbox.path("f")) == [UInt8](repeating: UInt8(winner), count: size))
        #expect(try sandbox.files() == ["f"])
    }

    @Test("of two uploads that saw the same version under If-Match one wins", arguments: [10, 2 << 20])
    func raceToReplace(size: Int) throws {
        let sandbox = try ReceiverSandbox()
        let tag = try sandbox.client().exchange("PUT", "/f", body: [0]).fields["etag"] ?? ""
        let clients = try (0..<6).map { _ in try sandbox.client() }
        for (number, client) in clients.enumerated() {
            let body = [UInt8](repeating: UInt8(number), count: size - 1)
            try client.send(Array(RawClient.head("PUT", "/f", ["If-Match": tag], length: size).utf8) + body)
        }
        for (number, client) in clients.enumerated() { try client.send([UInt8(number)]) }
        let statuses = try clients.map { try $0.reply().status }
        #expect(statuses.count { $0 == 204 } == 1)
        #expect(statuses.count { $0 == 412 } == 5)
    }

    @Test("a digest that was announced is checked, kept, and told on reading")
    func digests() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        let body = pattern(100_000)
        let field = DigestFields.field(DigestAlgorithm.sha256.digest(of: body))
        let wrong = DigestFields.field(DigestAlgorithm.sha256.digest(of: [1]))
        #expect(try client.exchange("PUT", "/f", ["Repr-Digest": wrong], body: body).status == 400)
        #expect(try sandbox.files().isEmpty)
        let reply = try client.exchange("PUT", "/f", ["Repr-Digest": field], body: body)
        #expect(reply.status == 201)
        #expect(reply.fields["repr-digest"] == field)
        #expect(
            try client.exchange("PUT", "/g", ["Want-Repr-Digest": "sha-256=1"], body: body).fields["repr-digest"]
                == field)
        #expect(try client.exchange("PUT", "/h", body: body).fields["repr-digest"] == nil)
        #expect(try client.exchange("HEAD", "/h").fields["repr-digest"] == nil)
    }

    /// Only where the file system has attributes there is a stored digest.
    private static let hasAttributes: Bool = {
        guard let sandbox = try? ReceiverSandbox(),
            let file = try? System.open(sandbox.path("probe"), flags: O_RDWR | O_CREAT)
        else { return false }
        return (try? System.setAttribute("user.probe", of: file.rawValue, to: [1])) != nil
    }()

    @Test(
        "the stored digest is not believed when the file has changed since",
        .enabled(if: hasAttributes, "the file system has no attributes"))
    func staleDigest() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        let reply = try client.exchange("PUT", "/f", ["Want-Repr-Digest": "sha-256=1"], body: [1, 2])
        #expect(try client.exchange("HEAD", "/f").fields["repr-digest"] == reply.fields["repr-digest"])
        #expect(reply.fields["repr-digest"] != nil)
        try write([3, 4], to: sandbox.path("f"))
        #expect(try client.exchange("HEAD", "/f").fields["repr-digest"] == nil)
    }
}
