import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("What a running receiver refuses")
struct RefusalTests {
    @Test(
        "no target leads out of the folder",
        arguments: [
            "/../out", "/a/../../out", "/%2e%2e/out", "/..%2Fout", "/%2e%2e%2fout", "//../out", "/./../out",
            "http://test/../out", "/a%00/../out", "../out", "/.martlet-incoming/out", "/.martlet%2Dincoming/out",
        ])
    func traversal(target: String) throws {
        let sandbox = try ReceiverSandbox()
        let reply = try sandbox.client().exchange("PUT", target, body: [1])
        #expect(reply.status == 400 || reply.status == 403)
        #expect(try sandbox.files().isEmpty)
        #expect(throws: Errno.noSuchFile) { try System.stat(sandbox.path("../out")) }
    }

    @Test("a NUL in the request line leads nowhere")
    func rawNUL() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(Array("PUT /a".utf8) + [0] + Array("/../../x HTTP/1.1\r\nContent-Length: 1\r\n\r\n1".utf8))
        client.close()
        #expect(try sandbox.client().exchange("PUT", "/ok", body: [1]).status == 201)
        sandbox.stop()
        #expect(try sandbox.files().allSatisfy { ["a", "ok"].contains($0) })
    }

    @Test("symbolic links are not followed, whether to folders or files")
    func links() throws {
        let sandbox = try ReceiverSandbox()
        let outside = try makeFolder()
        defer { removeTree(outside) }
        try write([7], to: outside + Array("/secret".utf8))
        let client = try sandbox.client()
        #expect(symlink(text(outside), text(sandbox.path("folder"))) == 0)
        #expect(symlink(text(outside) + "/secret", text(sandbox.path("file"))) == 0)
        #expect(try client.exchange("PUT", "/folder/new", body: [1]).status == 409)
        #expect(try client.exchange("PUT", "/file", body: [1]).status == 409)
        #expect(try client.exchange("GET", "/folder/secret").status == 409)
        #expect(try client.exchange("GET", "/file").status == 403)
        #expect(try client.exchange("GET", "/folder/").status == 403)
        #expect(try contents(outside + Array("/secret".utf8)) == [7])
        #expect(try paths(below: outside).count == 1)
    }

    @Test("a folder where a file should be, and a file where a folder should be, are conflicts")
    func kinds() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        #expect(try client.exchange("PUT", "/f/x", body: [1]).status == 201)
        #expect(try client.exchange("PUT", "/f", body: [1]).status == 409)
        #expect(try client.exchange("PUT", "/f/", body: [1]).status == 409)
        #expect(try client.exchange("PUT", "/", body: [1]).status == 409)
        #expect(try client.exchange("PUT", "/f/x/y", body: [1]).status == 409)
        #expect(mkfifo(text(sandbox.path("fifo")), 0o600) == 0)
        #expect(try client.exchange("GET", "/fifo").status == 403)
        #expect(try client.exchange("PUT", "/fifo", body: [1]).status == 409)
    }

    @Test("without the token nothing is told and nothing is written")
    func token() throws {
        let sandbox = try ReceiverSandbox { $0.access = .token(Array("secret".utf8)) }
        let client = try sandbox.client()
        for method in ["PUT", "GET", "HEAD", "OPTIONS", "DELETE"] {
            let reply = try client.exchange(method, "/f", body: method == "PUT" ? [1] : nil)
            #expect(reply.status == 401)
            #expect(reply.fields["www-authenticate"]?.hasPrefix("Bearer") == true)
        }
        #expect(try client.exchange("PUT", "/f", ["Authorization": "Bearer wrong"], body: [1]).status == 401)
        #expect(try sandbox.files().isEmpty)
        #expect(try client.exchange("PUT", "/f", ["Authorization": "Bearer secret"], body: [1]).status == 201)
    }

    @Test("a file that is too large is refused before it is sent, or as soon as it grows too large")
    func tooLarge() throws {
        let sandbox = try ReceiverSandbox { $0.limits.maximumSize = 10 }
        let client = try sandbox.client()
        #expect(try client.exchange("PUT", "/ten", body: pattern(10)).status == 201)
        #expect(try client.exchange("PUT", "/eleven", body: pattern(11)).status == 413)
        try client.send(RawClient.head("PUT", "/huge", ["Expect": "100-continue"], length: 1 << 40))
        #expect(try client.reply().status == 413)
        let chunked = try sandbox.client()
        try chunked.send(RawClient.head("PUT", "/grows", ["Transfer-Encoding": "chunked"]) + "b\r\nhello world\r\n")
        #expect(try chunked.reply().status == 413)
        #expect(try chunked.isAtEnd())
        #expect(try sandbox.files() == ["ten"])
    }

    @Test("a client that sends a large body unasked gets the refusal, not a reset")
    func refusalIsSeen() throws {
        let sandbox = try ReceiverSandbox()
        #expect(try sandbox.client().exchange("PUT", "/f", body: [1]).status == 201)
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/f", ["If-None-Match": "*"], length: 64 << 20))
        let reply = try client.reply()
        #expect(reply.status == 412)
        #expect(reply.fields["connection"] == "close")
        #expect(reply.fields["date"].flatMap { HTTPDate(field: $0) } != nil)
        // The server has ended its side and still takes what is under way.
        #expect(try client.isAtEnd())
        try client.send(pattern(4 << 20))
        #expect(try contents(sandbox.path("f")) == [1])
    }

    @Test("when the disk has no room the file is refused before it is sent")
    func noRoom() throws {
        let sandbox = try ReceiverSandbox { $0.limits.keepFree = UInt64.max / 2 }
        #expect(try sandbox.client().exchange("PUT", "/f", body: [1]).status == 507)
        let roomy = try ReceiverSandbox()
        let client = try roomy.client()
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: 1 << 60))
        #expect(try client.reply().status == 507)
        #expect(try roomy.files().isEmpty)
    }

    @Test("what the receiver does not do is refused by name")
    func unsupported() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        #expect(try client.exchange("PUT", "/f", ["Content-Range": "bytes 0-0/2"], body: [1]).status == 400)
        #expect(try client.exchange("PUT", "/f", ["Content-Encoding": "gzip"], body: [1]).status == 415)
        #expect(try client.exchange("PUT", "/f", ["If-None-Match": "nonsense"], body: [1]).status == 400)
        for method in ["DELETE", "POST", "PATCH", "PROPFIND"] {
            let reply = try client.exchange(method, "/f", body: method == "DELETE" ? nil : [1])
            #expect(reply.status == 405)
            #expect(reply.fields["allow"] == "GET, HEAD, PUT, POST, OPTIONS")
        }
        #expect(try client.exchange("OPTIONS", "*").status == 204)
        #expect(try client.exchange("OPTIONS", "/f").fields["allow"] == "GET, HEAD, PUT, POST, OPTIONS")
        #expect(try sandbox.files().isEmpty)
    }

    @Test("a head that is too large, or no HTTP at all, costs only its own connection")
    func malformed() throws {
        let sandbox = try ReceiverSandbox()
        let large = try sandbox.client()
        try large.send("GET /f HTTP/1.1\r\nX: " + String(repeating: "x", count: 1 << 19) + "\r\n\r\n")
        #expect(try large.reply().status >= 400)
        let garbage = try sandbox.client()
        try garbage.send([0, 1, 2, 255, 10, 13, 10, 13, 10])
        garbage.close()
        let lengths = try sandbox.client()
        try lengths.send("PUT /f HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n1")
        #expect(try lengths.reply().status == 400)
        #expect(try sandbox.client().exchange("PUT", "/ok", body: [1]).status == 201)
        #expect(try sandbox.files() == ["ok"])
    }

    private func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
}
