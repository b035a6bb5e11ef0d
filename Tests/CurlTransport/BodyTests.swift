import CurlTransport
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@Suite struct BodyTests {
    private func accepting(_ connection: ServerConnection) throws {
        let request = try connection.readHead()
        if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        try connection.readBody(request.length)
        try connection.answer("201 Created")
        try connection.readHead()
    }

    private func upload(_ url: String, _ body: PatternBody) -> HTTPRequest {
        HTTPRequest("PUT", url, body: .source(length: body.length))
    }

    @Test func `a body arrives as the source has it`() async throws {
        try await withServer { connection in
            let request = try connection.readHead()
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            let body = try connection.readBody(request.length)
            let isRight = body.indices.allSatisfy { body[$0] == PatternBody.byte(Int64($0)) }
            try connection.answer(isRight ? "201 Created" : "400 Wrong")
            try connection.readHead()
        } test: { server, client in
            let body = PatternBody(length: 3_000_001)
            let end = try await client.run(1, upload(server.url("/"), body), body: body)
            #expect(end.head?.status == 201)
            #expect(end.bytesSent == 3_000_001)
            #expect(end.bodyWasSent)
        }
    }

    @Test(arguments: ["PUT", "POST", "PATCH"], [0, 4, 65_535, 65_536])
    func `a body at hand is announced with its length and nothing else`(_ method: String, _ length: Int) async throws {
        try await withServer { connection in
            let request = try connection.readHead()
            if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
            let body = try connection.readBody(request.length)
            let isRight = body.indices.allSatisfy { body[$0] == PatternBody.byte(Int64($0)) }
            try connection.answer(isRight ? "201 Created" : "400 Wrong")
            try connection.readHead()
        } test: { server, client in
            let bytes = (0..<length).map { PatternBody.byte(Int64($0)) }
            let end = try await client.run(1, HTTPRequest(method, server.url("/"), body: .bytes(bytes)))
            #expect(end.head?.status == 201)
            #expect(end.bytesSent == length)
            #expect(end.bodyWasSent)
            let request = server.requests.first
            #expect(request?.method == method)
            #expect(request?.fields["content-length"] == "\(length)")
            #expect(request?.fields["content-type"] == nil)
        }
    }

    @Test func `nothing of a request with a body at hand is left for the next`() async throws {
        try await withServer { connection in
            while true {
                let request = try connection.readHead()
                let body = try connection.readBody(request.length)
                try connection.answer("201 Created", String(decoding: body, as: UTF8.self))
            }
        } test: { server, client in
            let url = server.url("/")
            func put(_ text: String, _ fields: [HeaderField] = []) -> HTTPRequest {
                HTTPRequest("PUT", url + "\(text.count)", fields: fields, body: .bytes(Array(text.utf8)))
            }
            let requests = [
                put("a long body", [HeaderField("X-One", "1"), HeaderField("Content-Type", "text/plain")]),
                put("short"),
                put(""), HTTPRequest("GET", url), put("again", [HeaderField("X-Two", "2")]),
                HTTPRequest("POST", url, body: .bytes(Array("posted".utf8))), put("last"),
            ]
            for (index, request) in requests.enumerated() {
                let end = try await client.run(UInt64(index), request)
                var sent: [UInt8] = []
                if case .bytes(let bytes) = request.body { sent = bytes }
                #expect(end.body.bytes == sent)
                #expect(end.bytesSent == sent.count)
            }
            #expect(server.requests.map(\.method) == ["PUT", "PUT", "PUT", "GET", "PUT", "POST", "PUT"])
            #expect(server.requests.map { $0.fields["x-one"] } == ["1", nil, nil, nil, nil, nil, nil])
            #expect(server.requests.map { $0.fields["x-two"] } == [nil, nil, nil, nil, "2", nil, nil])
            #expect(server.requests.map { $0.fields["content-type"] }.compactMap { $0 } == ["text/plain"])
        }
    }

    @Test func `a body at hand keeps the type that it was given`() async throws {
        try await withServer(accepting) { server, client in
            let fields = [HeaderField("Content-Type", "text/plain")]
            _ = try await client.run(1, HTTPRequest("PUT", server.url("/"), fields: fields, body: .bytes([1])))
            #expect(server.requests.first?.fields["content-type"] == "text/plain")
        }
    }

    @Test func `a file that shrank ends the exchange instead of leaving both sides waiting`() async throws {
        try await withServer(accepting) { server, client in
            let body = PatternBody(length: 1_000_000, endsAt: 500_000)
            let end = try await client.run(1, upload(server.url("/"), body), body: body)
            #expect(end.failure?.cause == .sourceEnded(at: 500_000))
            #expect(end.failure?.code == .aborted)
            #expect(end.failure?.failureClass == .local)
            #expect(!end.bodyWasSent)
            #expect(end.head == nil)
        }
    }

    @Test func `a source that cannot be read names the system's error`() async throws {
        try await withServer(accepting) { server, client in
            let body = PatternBody(length: 1_000_000, failsAt: 0)
            let end = try await client.run(1, upload(server.url("/"), body), body: body)
            #expect(end.failure?.cause == .sourceFailed(.inputOutput))
            #expect(end.failure?.failureClass == .local)
        }
    }

    @Test func `a small body that ends early fails too`() async throws {
        try await withServer(accepting) { server, client in
            let body = PatternBody(length: 100, endsAt: 0)
            let end = try await client.run(1, upload(server.url("/"), body), body: body)
            #expect(end.failure?.cause == .sourceEnded(at: 0))
        }
    }

    @Test func `an answer is kept up to the limit and marked when there was more`() async throws {
        try await withServer { connection in
            while true {
                try connection.readHead()
                try connection.answer("500 Oops", String(repeating: "x", count: 5000))
            }
        } test: { server, client in
            let short = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .buffer(limit: 100)))
            #expect(short.body.bytes.count == 100)
            #expect(short.body.isTruncated)
            let whole = try await client.run(2, HTTPRequest("GET", server.url("/"), response: .buffer(limit: 5000)))
            #expect(whole.body.bytes.count == 5000)
            #expect(!whole.body.isTruncated)
            let none = try await client.run(3, HTTPRequest("GET", server.url("/"), response: .discard))
            #expect(none.body.bytes.isEmpty)
            #expect(none.bytesReceived == 5000)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `an endless answer is given up`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while true { try connection.send([UInt8](repeating: 0, count: 65536)) }
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .discard))
            #expect(end.failure?.cause == .responseTooLarge)
            #expect(end.bytesReceived < 2 << 20)
        }
    }

    @Test func `more progress than libcurl takes is a line that was cut, and not an answer without end`() async throws {
        try await withServer { connection in
            try connection.readHead()
            let progress = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 8388608\r\n\r\n"
            while true { try connection.send(String(repeating: progress, count: 100)) }
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(end.failure?.cause == .tooMuchProgress)
            #expect(end.failure?.failureClass == .transient)
        }
    }

    @Test func `an endless header is given up`() async throws {
        try await withServer { connection in
            try connection.readHead()
            let interim = "HTTP/1.1 103 Early Hints\r\nX: \(String(repeating: "y", count: 1000))\r\n\r\n"
            while true { try connection.send(interim) }
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(end.failure?.cause == .headerTooLarge)
            #expect(end.failure?.failureClass == .local)
        }
    }
}
