import CurlTransport
import LinuxSystem
import TestSupport
import Testing
import WireOperations

@Suite struct GateTests {
    private static let size = 5_000_000
    private static let content = (0..<size).map { PatternBody.byte(Int64($0)) }

    private static func serving(_ connection: ServerConnection) throws {
        while true {
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            try connection.send(content)
        }
    }

    @Test func `not one byte passes a closed gate, and all of them in order an opened one`() async throws {
        try await withServer(Self.serving) { server, client in
            try await client.start(1, HTTPRequest("GET", server.url("/"), response: .gated))
            #expect(await client.head(of: 1).status == 200)
            // The server's bytes are there (curl has paused on them), and none was taken.
            await client.turn { $0.gateHolds(1) }
            #expect(await client.progress(1)?.received == 0)
            let sink = RecordingSink()
            await client.openGate(1, to: sink)
            let end = await client.end(of: 1)
            #expect(end.failure == nil)
            #expect(end.bytesReceived == Int64(Self.size))
            #expect(sink.bytes == Self.content)
        }
    }

    @Test func `a sink gets few large pieces`() async throws {
        try await withServer(Self.serving) { server, client in
            let sink = RecordingSink()
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink)
            #expect(end.failure == nil)
            #expect(sink.bytes.count == Self.size)
            // libcurl hands over 16 KiB at most, which would be 306 writes.
            #expect(sink.writes <= 24)
        }
    }

    @Test func `the body of an error goes to memory, not to the file`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("416 Range Not Satisfiable", "no such range")
            try connection.readHead()
        } test: { server, client in
            try await client.start(1, HTTPRequest("GET", server.url("/"), response: .gated))
            #expect(await client.head(of: 1).status == 416)
            await client.openGateToMemory(1, limit: 7)
            let end = await client.end(of: 1)
            #expect(end.failure == nil)
            #expect(end.body.bytes == Array("no such".utf8))
            #expect(end.body.isTruncated)
        }
    }

    @Test func `an answer without a body ends behind a gate that nobody opened`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("204 No Content")
            try connection.readHead()
        } test: { server, client in
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .gated))
            #expect(end.failure == nil)
            #expect(await client.story(of: 1) == ["head 204", "ended"])
        }
    }

    @Test func `a full disk fails the exchange with the system's error`() async throws {
        try await withServer(Self.serving) { server, client in
            let sink = RecordingSink(failsAfter: 2_500_000)
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink)
            #expect(end.failure?.cause == .sinkFailed(.noSpace))
            #expect(end.failure?.failureClass == .local)
            #expect(sink.bytes == Array(Self.content.prefix(sink.bytes.count)))
        }
    }

    @Test func `a disk that is full only for the last piece fails the exchange too`() async throws {
        try await withServer { connection in
            try connection.readHead()
            try connection.answer("200 OK", "short")
            try connection.readHead()
        } test: { server, client in
            let sink = RecordingSink(failsAfter: 0)
            let end = try await client.run(1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink)
            #expect(end.failure?.cause == .sinkFailed(.noSpace))
        }
    }

    @Test func `what has arrived reaches the sink on flush and on abandon`() async throws {
        let more = try Milestone()
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst")
            more.waitBlocking()
            try connection.send("second")
            try connection.readHead()
        } test: { server, client in
            let sink = RecordingSink()
            try await client.start(1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink)
            await client.turn { $0.progress(1)?.received == 5 }
            #expect(sink.bytes.isEmpty)
            await client.flush(1)
            #expect(sink.bytes == Array("first".utf8))
            #expect(await client.progress(1)?.delivered == 5)
            more.reach()
            await client.turn { $0.progress(1)?.received == 11 }
            await client.abandon(1)
            #expect(sink.bytes == Array("firstsecond".utf8))
            #expect(await client.story(of: 1) == ["head 200"])
        }
    }

    @Test func `a full sink stops its exchange, and one with room again gets the rest`() async throws {
        try await withServer(Self.serving) { server, client in
            try await client.start(1, HTTPRequest("GET", server.url("/"), response: .gated))
            #expect(await client.head(of: 1).status == 200)
            let sink = RecordingSink(isFullFrom: 1_000_000)
            await client.openGate(1, to: sink)
            await client.turn { _ in sink.isWaitedFor }
            #expect(sink.bytes.count >= 1_000_000 && sink.bytes.count < 2_000_000)
            await client.empty(sink)
            let end = await client.end(of: 1)
            #expect(end.failure == nil && sink.bytes == Self.content)
        }
    }
}
