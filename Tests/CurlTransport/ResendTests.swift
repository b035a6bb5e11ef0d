import CurlTransport
import LinuxSystem
import TestSupport
import Testing
import WireOperations

/// libcurl repeats a whole request, unseen, when a kept connection dies before any answer. These tests count at the server.
@Suite struct ResendTests {
    /// Serves one small request on the first connection, so that it is kept; the second request on it meets `fate`.
    private func afterOneKept(
        _ fate: @escaping @Sendable (ServerConnection, ScriptedServer.Request) throws -> Void
    ) -> @Sendable (ServerConnection) throws -> Void {
        { connection in
            if connection.index == 0 {
                try connection.readHead()
                try connection.answer("200 OK")
                return try fate(connection, try connection.readHead())
            }
            while true {
                let request = try connection.readHead()
                if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
                try connection.readBody(request.length)
                try connection.answer("200 OK")
            }
        }
    }

    private func upload(_ method: String, _ url: String, _ length: Int64) -> (HTTPRequest, PatternBody) {
        (HTTPRequest(method, url, body: .source(length: length)), PatternBody(length: length))
    }

    @Test func `a body of which much was read is not sent again`() async throws {
        // 512 KiB shares the kept connection; the server never says 100, so libcurl believes nothing was answered.
        let script = afterOneKept { connection, request in
            try connection.readBody(400 * 1024)
            connection.reset()
        }
        try await withServer(script) { server, client in
            _ = try await client.run(1, HTTPRequest("GET", server.url("/")))
            let (request, body) = upload("PATCH", server.url("/u"), 512 * 1024)
            let end = try await client.run(2, request, body: body)
            #expect(end.failure?.code == .rewindFailed)
            #expect(end.failure?.failureClass == .transient)
            #expect(server.requests.filter { $0.method == "PATCH" }.count == 1)
            #expect(server.bodyBytes == 400 * 1024)
            // The handle is not used again, and the next exchange does well.
            let next = try await client.run(3, HTTPRequest("GET", server.url("/")))
            #expect(next.failure == nil)
        }
    }

    @Test func `a large body gets a connection of its own and asks before it is sent`() async throws {
        let script = afterOneKept { _, _ in }
        try await withServer(script) { server, client in
            _ = try await client.run(1, HTTPRequest("GET", server.url("/")))
            let (request, body) = upload("PUT", server.url("/u"), 3 << 20)
            let end = try await client.run(2, request, body: body)
            #expect(end.failure == nil)
            #expect(end.sawContinue)
            #expect(server.requests.map(\.connection) == [0, 1])
            #expect(server.requests.last?.fields["expect"] == "100-continue")
        }
    }

    @Test func `a large body on a connection that dies is sent once`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.readBody(2 << 20)
            connection.reset()
        } test: { server, client in
            let (request, body) = upload("PUT", server.url("/u"), 8 << 20)
            let end = try await client.run(1, request, body: body)
            #expect(end.failure?.failureClass == .transient)
            #expect(server.requests.count == 1)
            #expect(server.bodyBytes == 2 << 20)
            #expect(end.bytesSent < 8 << 20)
        }
    }

    @Test func `Expect begins above 64 KiB`() async throws {
        let script = afterOneKept { _, _ in }
        try await withServer(script) { server, client in
            _ = try await client.run(1, HTTPRequest("GET", server.url("/")))
            for (id, length) in [(UInt64(2), Int64(64 << 10)), (3, (64 << 10) + 1)] {
                let (request, body) = upload("PUT", server.url("/u"), length)
                _ = try await client.run(id, request, body: body)
            }
            #expect(server.requests.filter { $0.length == 64 << 10 }.allSatisfy { $0.fields["expect"] == nil })
            #expect(server.requests.last?.fields["expect"] == "100-continue")
        }
    }

    @Test func `a small PUT on a dead kept connection is repeated by libcurl, which is harmless`() async throws {
        let script = afterOneKept { connection, request in
            try connection.readBody(request.length)
            connection.reset()
        }
        try await withServer(script) { server, client in
            _ = try await client.run(1, HTTPRequest("GET", server.url("/")))
            let (request, body) = upload("PUT", server.url("/u"), 4096)
            let end = try await client.run(2, request, body: body)
            #expect(end.failure == nil)
            #expect(server.requests.filter { $0.method == "PUT" }.count == 2)
        }
    }

    @Test(arguments: [HTTPBody.none, .bytes([]), .bytes([1, 2, 3])])
    func `a POST that may have happened is never repeated unseen`(_ body: HTTPBody) async throws {
        let script = afterOneKept { connection, request in
            try connection.readBody(request.length)
            connection.reset()
        }
        try await withServer(script) { server, client in
            _ = try await client.run(1, HTTPRequest("GET", server.url("/")))
            let end = try await client.run(2, HTTPRequest("POST", server.url("/u"), body: body))
            #expect(end.failure?.cause == .repeatRefused)
            #expect(end.failure?.failureClass == .transient)
            #expect(end.bodyWasSent)
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            let next = try await client.run(3, HTTPRequest("POST", server.url("/u"), body: body))
            #expect(next.failure == nil)
        }
    }

    @Test func `a host that never says 100 is remembered and gets new connections instead`() async throws {
        try await withServer { connection in
            while true {
                let request = try connection.readHead()
                try connection.readBody(request.length)
                try connection.answer("200 OK")
            }
        } test: { server, client in
            for id in UInt64(1)...3 {
                let (request, body) = upload("PUT", server.url("/u"), 100 * 1024)
                let end = try await client.run(id, request, body: body)
                #expect(end.failure == nil)
                #expect(!end.sawContinue)
            }
            #expect(server.requests.map { $0.fields["expect"] } == ["100-continue", nil, nil])
            #expect(server.requests.map(\.connection) == [0, 1, 2])
        }
    }

    @Test func `417 makes libcurl go on without Expect, and only the last head is told`() async throws {
        try await withServer { connection in
            while true {
                let request = try connection.readHead()
                if request.fields["expect"] != nil {
                    try connection.answer("417 Expectation Failed")
                    continue
                }
                try connection.readBody(request.length)
                try connection.answer("201 Created")
            }
        } test: { server, client in
            let (request, body) = upload("PUT", server.url("/u"), 100 * 1024)
            let end = try await client.run(1, request, body: body)
            #expect(end.head?.status == 201)
            #expect(await client.story(of: 1) == ["head 201", "ended"])
            #expect(server.bodyBytes == 100 * 1024)
        }
    }
}
