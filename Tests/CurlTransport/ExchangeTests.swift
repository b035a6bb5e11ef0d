import CurlTransport
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

/// Answers everything with 200 and reads the announced body.
private func obliging(_ connection: ServerConnection) throws {
    while true {
        let request = try connection.readHead()
        if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        try connection.readBody(request.length)
        try connection.answer("200 OK", "done", fields: ["X-Line: \(request.line)"])
    }
}

@Suite struct ExchangeTests {
    @Test func `an answer comes with status, header and body`() async throws {
        try await withServer(obliging) { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/a")))
            #expect(end.failure == nil)
            #expect(end.head?.status == 200)
            #expect(end.head?.field("x-line") == "GET /a HTTP/1.1")
            #expect(end.body.bytes == Array("done".utf8))
            #expect(end.bytesReceived == 4)
            #expect(end.address == "127.0.0.1")
            #expect(await client.story(of: 1) == ["head 200", "ended"])
        }
    }

    @Test func `what is for a program of this user reaches one, on a new connection and on a kept one`() async throws {
        try await withServer(obliging) { server, client in
            for id in UInt64(1)...4 {
                var request = HTTPRequest("GET", server.url("/\(id)"))
                // The first connection was made for a request that did not ask.
                request.connection.onlyToOwnListener = id > 1
                let end = try await client.run(id, request)
                #expect(end.head?.status == 200)
            }
            #expect(server.requests.count == 4)
        }
    }

    @Test func `an address that a server has named is sent nothing when it is too private`() async throws {
        try await withServer(obliging) { server, client in
            let limits: [(AddressZone?, isFree: Bool)] = [
                (nil, true), (.machine, true), (.link, false), (.privateNetwork, false), (.internet, false),
            ]
            for (id, limit) in limits.enumerated() {
                var request = HTTPRequest("DELETE", server.url("/\(id)"))
                request.mostPrivateZone = limit.0
                let end = try await client.run(UInt64(id), request)
                #expect(end.failure?.cause == (limit.isFree ? nil : .addressTooPrivate))
                #expect(end.failure?.failureClass == (limit.isFree ? nil : .permanent))
                #expect(end.zone == (limit.isFree ? .machine : nil))
            }
            #expect(server.requests.map(\.line) == ["DELETE /0 HTTP/1.1", "DELETE /1 HTTP/1.1"])
        }
    }

    @Test func `small requests share a connection and carry no Expect`() async throws {
        try await withServer(obliging) { server, client in
            for id in UInt64(1)...5 {
                let body = HTTPBody.bytes([UInt8](repeating: 7, count: 64 * 1024))
                let end = try await client.run(id, HTTPRequest("PUT", server.url("/\(id)"), body: body))
                #expect(end.failure == nil)
                #expect(end.bytesSent == 64 * 1024)
                #expect(end.bodyWasSent)
            }
            #expect(server.connectionCount == 1)
            #expect(server.requests.allSatisfy { $0.fields["expect"] == nil })
            #expect(server.bodyBytes == 5 * 64 * 1024)
        }
    }

    @Test func `methods, lengths and fields go out as they were given`() async throws {
        try await withServer(obliging) { server, client in
            let fields = [
                HeaderField("Tus-Resumable", "1.0.0"), HeaderField("X-Empty", ""), HeaderField("Accept", "x/y"),
            ]
            _ = try await client.run(1, HTTPRequest("POST", server.url("/p"), fields: fields, body: .bytes([])))
            _ = try await client.run(2, HTTPRequest("OPTIONS", server.url("/x/../y%20z")))
            _ = try await client.run(3, HTTPRequest("PATCH", server.url("/p"), body: .bytes([1, 2, 3])))
            let requests = server.requests
            #expect(
                requests.map(\.line) == ["POST /p HTTP/1.1", "OPTIONS /x/../y%20z HTTP/1.1", "PATCH /p HTTP/1.1"])
            #expect(requests.map { $0.fields["content-length"] } == ["0", nil, "3"])
            #expect(requests[0].fields["tus-resumable"] == "1.0.0")
            #expect(requests[0].fields["x-empty"] == "")
            #expect(requests[0].fields["accept"] == "x/y")
            #expect(requests.allSatisfy { $0.fields["range"] == nil && $0.fields["accept-encoding"] == nil })
        }
    }

    @Test func `HEAD ends with its header although a length is announced`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nUpload-Offset: 7\r\n\r\n")
            try connection.readHead()
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("HEAD", server.url("/")))
            #expect(end.failure == nil)
            #expect(end.head?.field("upload-offset") == "7")
        }
    }

    @Test func `what would smuggle a line is refused before anything is sent`() async throws {
        try await withServer(obliging) { server, client in
            let bad = [
                HTTPRequest("GET", server.url("/"), fields: [HeaderField("X", "a\r\nY: b")]),
                HTTPRequest("GET", server.url("/"), fields: [HeaderField("X: y\r\nZ", "a")]),
                HTTPRequest("GET / HTTP/1.1\r\nX:", server.url("/")),
                HTTPRequest("GET", server.url("/\r\nX: y")),
            ]
            for (id, request) in bad.enumerated() {
                await #expect(throws: CurlError.self) { try await client.start(UInt64(id), request) }
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `only http and https are spoken, and a URL carries no user`() async throws {
        try await withServer(obliging) { server, client in
            for (id, url) in ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"].enumerated() {
                let end = try await client.run(UInt64(id), HTTPRequest("GET", url))
                #expect(end.failure?.code.rawValue == 1)
                #expect(end.failure?.failureClass == .permanent)
            }
            let end = try await client.run(9, HTTPRequest("GET", "http://me:pw@127.0.0.1:\(server.port)/"))
            #expect(end.failure?.code.rawValue == 67)
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a redirect is told, not followed`() async throws {
        try await withServer { connection in
            let request = try connection.readHead()
            try connection.answer("307 Temporary Redirect", fields: ["Location: ../other?x=1"])
            try connection.readBody(request.length)
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("PUT", server.url("/a/b"), body: .bytes([1])))
            #expect(end.failure == nil)
            #expect(end.head?.status == 307)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an interim answer is told by itself and lends nothing to the final one`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\n\r\n")
            try connection.answer("201 Created", fields: ["ETag: \"e\""])
            try connection.readHead()
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("POST", server.url("/"), body: .bytes([1])))
            #expect(await client.story(of: 1) == ["interim 104", "head 201", "ended"])
            guard case .interim(_, let interim) = await client.events[0] else {
                Issue.record("something else: the first event")
                return
            }
            #expect(interim.field("location") == "/u/1")
            #expect(end.head?.field("location") == nil)
            #expect(end.head?.field("etag") == "\"e\"")
        }
    }

    @Test func `an answer that never becomes final is a failure`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(end.failure != nil)
            #expect(end.head == nil)
            #expect(end.failure?.failureClass == .transient)
        }
    }

    @Test func `libcurl's content with a switch of protocols is not ours`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello")
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(end.failure?.cause == .noFinalStatus)
            #expect(end.failure?.failureClass == .transient)
        }
    }

    @Test func `Retry-After is a duration within a day`() async throws {
        try await withServer { connection in
            for field in [
                "Retry-After: 7", "Retry-After: 99999999", "Retry-After: Fri, 01 Jan 1999 00:00:00 GMT", "X: y",
            ] {
                try connection.readHead()
                try connection.answer("503 Busy", fields: [field])
            }
            try connection.readHead()
        } test: { server, client in
            var seen: [Duration?] = []
            for id in UInt64(1)...4 {
                seen.append(try await client.run(id, HTTPRequest("GET", server.url("/"))).retryAfter)
            }
            #expect(seen[0] == .seconds(7))
            #expect(seen[1] == .seconds(86400))
            // libcurl says 0 or less for a date that is past.
            #expect(seen[2] == nil || seen[2] == .zero)
            #expect(seen[3] == nil)
        }
    }

    @Test func `a body that is cut keeps what came and is transient`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        } test: { server, client in
            let sink = RecordingSink()
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink)
            #expect(end.failure?.code == .partialBody)
            #expect(end.failure?.failureClass == .transient)
            #expect(sink.bytes == Array("half".utf8))
            #expect(end.bytesReceived == 4)
        }
    }

    @Test func `nobody listening is a failure with the system's error`() async throws {
        try await withServer(obliging) { server, client in
            server.stop()
            let end = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(end.failure?.code == .cannotConnect)
            #expect(end.failure?.osError == .connectionRefused)
            #expect(end.failure?.failureClass == .transient)
        }
    }

    @Test func `an early refusal ends an upload without sending the rest`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("413 Too Large", "no", fields: ["Connection: close"])
        } test: { server, client in
            let body = PatternBody(length: 32 << 20)
            let end = try await client.run(
                1, HTTPRequest("PUT", server.url("/"), body: .source(length: body.length)), body: body)
            #expect(end.failure == nil)
            #expect(end.head?.status == 413)
            #expect(server.requests.first?.fields["expect"] == "100-continue")
            #expect(end.bytesSent == 0)
            #expect(!end.bodyWasSent)
        }
    }

    @Test func `an answer that libcurl goes on from is not told`() async throws {
        try await withServer { connection in
            let request = try connection.readHead()
            if request.fields["authorization"] == nil {
                try connection.answer("401 Who", "denied", fields: ["WWW-Authenticate: Basic realm=\"r\""])
            }
            _ = try connection.readHead()
            try connection.answer("200 OK", "in")
            try connection.readHead()
        } test: { server, client in
            var request = HTTPRequest("GET", server.url("/"))
            request.connection.credentials = HTTPCredentials(user: "u", password: "p", scheme: .asAsked)
            let end = try await client.run(1, request)
            #expect(await client.story(of: 1) == ["head 200", "ended"])
            #expect(end.body.bytes == Array("in".utf8))
            #expect(server.requests.map { $0.fields["authorization"] } == [nil, "Basic dTpw"])
        }
    }

    @Test func `a large body that must show who sends it is sent once`() async throws {
        try await withServer { connection in
            while true {
                let request = try connection.readHead()
                if request.fields["authorization"] == nil {
                    try connection.answer("401 Who", fields: ["WWW-Authenticate: Basic realm=\"r\""])
                    continue
                }
                try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                try connection.readBody(request.length)
                try connection.answer("201 Created")
            }
        } test: { server, client in
            let body = PatternBody(length: 2 << 20)
            var request = HTTPRequest("PUT", server.url("/"), body: .source(length: body.length))
            request.connection.credentials = HTTPCredentials(user: "u", password: "p", scheme: .asAsked)
            let end = try await client.run(1, request, body: body)
            #expect(await client.story(of: 1) == ["head 201", "ended"])
            #expect(end.bodyWasSent)
            // Not an empty first PUT either, which a server that asks for nothing would store.
            #expect(server.requests.map(\.length) == [2 << 20, 2 << 20])
            #expect(server.bodyBytes == 2 << 20)
        }
    }

    @Test func `a refused name and password is told once, with its body`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("401 Who", "denied", fields: ["WWW-Authenticate: Basic realm=\"r\""])
            try connection.readHead()
        } test: { server, client in
            var request = HTTPRequest("GET", server.url("/"))
            request.connection.credentials = HTTPCredentials(user: "u", password: "p")
            let end = try await client.run(1, request)
            #expect(await client.story(of: 1) == ["head 401", "ended"])
            #expect(end.body.bytes == Array("denied".utf8))
            #expect(server.requests.map { $0.fields["authorization"] } == ["Basic dTpw"])
        }
    }

    @Test func `a proxy is used when asked for, and the environment's never`() async throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        try await withServer(obliging) { server, client in
            let straight = try await client.run(1, HTTPRequest("GET", server.url("/")))
            #expect(straight.failure == nil)
            var request = HTTPRequest("GET", "http://host.invalid/a")
            request.connection.proxy = .url("http://127.0.0.1:\(server.port)")
            let through = try await client.run(2, request)
            #expect(through.failure == nil)
            #expect(server.requests.map(\.line) == ["GET / HTTP/1.1", "GET http://host.invalid/a HTTP/1.1"])
        }
    }

    @Test("a proxy that makes no tunnel has answered: it wants a login, or refuses", arguments: [407, 403, 502])
    func refusedTunnel(status: Int) async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("\(status) No", "page", fields: ["Proxy-Authenticate: Basic realm=\"r\""])
        } test: { server, client in
            var request = HTTPRequest("PUT", "https://host.invalid/a")
            request.body = .bytes([1, 2])
            request.connection.proxy = .url("http://ana:old@127.0.0.1:\(server.port)")
            let end = try await client.run(1, request)
            #expect(await client.story(of: 1) == (status == 407 ? ["head 407", "ended"] : ["failed 56"]))
            #expect(end.failure?.cause == (status == 407 ? nil : .proxyRefused(status)))
            #expect(end.bytesSent == 0 && !end.bodyWasSent)
            #expect(server.requests.map(\.line) == ["CONNECT host.invalid:443 HTTP/1.1"])
        }
    }

    @Test func `TLS offers HTTP 1.1 alone`() async throws {
        let hello = Mutex<[UInt8]>([])
        try await withServer { connection in
            // One record of a few hundred bytes; that we then hang up is what curl reports.
            let bytes = try connection.receive(4096)
            hello.withLock { $0 = bytes }
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", "https://127.0.0.1:\(server.port)/"))
            #expect(end.failure?.failureClass == .handshake)
            let bytes = hello.withLock { $0 }
            #expect(bytes.firstRange(of: Array("http/1.1".utf8)) != nil)
            #expect(bytes.firstRange(of: [2, UInt8(ascii: "h"), UInt8(ascii: "2")]) == nil)
        }
    }

    @Test func `a connection is kept alive and given up when nobody acknowledges`() async throws {
        let reached = try Milestone()
        let looked = try Milestone()
        try await withServer { connection in
            try connection.readHead()
            reached.reach()
            looked.waitBlocking()
            try connection.answer("204 No Content")
        } test: { server, client in
            try await client.start(1, HTTPRequest("GET", server.url("/")))
            reached.waitBlocking()
            let sockets = await client.openSockets
            #expect(sockets.count == 1)
            for socket in sockets {
                #expect(option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1)
                #expect(option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 30)
                #expect(option(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 60_000)
            }
            looked.reach()
            #expect(await client.end(of: 1).failure == nil)
        }
    }

    @Test func `connections stay below the cap and the rest waits`() async throws {
        var capacity = TransportCapacity()
        capacity.connections = 2
        let both = try Milestone()
        let release = try Milestone()
        try await withServer(capacity: capacity) { connection in
            try connection.readHead()
            if connection.index == 1 { both.reach() }
            release.waitBlocking()
            try connection.answer("200 OK", fields: ["Connection: close"])
        } test: { server, client in
            for id in UInt64(1)...5 { try await client.start(id, HTTPRequest("GET", server.url("/\(id)"))) }
            both.waitBlocking()
            #expect(server.connectionCount == 2)
            release.reach()
            for id in UInt64(1)...5 { #expect(await client.end(of: id).failure == nil) }
            #expect(server.requests.count == 5)
        }
    }

    @Test func `an abandoned exchange says nothing more and its connection ends`() async throws {
        let reached = try Milestone()
        let gone = try Milestone()
        try await withServer { connection in
            try connection.readHead()
            reached.reach()
            _ = try? connection.readHead()
            gone.reach()
        } test: { server, client in
            try await client.start(1, HTTPRequest("GET", server.url("/")))
            reached.waitBlocking()
            await client.abandon(1)
            gone.waitBlocking()
            #expect(await client.story(of: 1) == [])
            #expect(await client.activeCount == 0)
        }
    }
}

private func option(_ socket: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket, level, name, &value, &size)
    return value
}
