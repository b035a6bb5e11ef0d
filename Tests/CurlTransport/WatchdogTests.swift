import CurlTransport
import Glibc
import LinuxSystem
import TestSupport
import Testing
import WireOperations

@Suite struct WatchdogTests {
    private func request(_ method: String, _ url: String, _ body: HTTPBody = .none) -> HTTPRequest {
        var request = HTTPRequest(method, url, body: body, response: .gated)
        request.timeouts.stall = .seconds(60)
        request.timeouts.answer = .seconds(600)
        return request
    }

    @Test func `an upload that the server does not read is given up after the stall time`() async throws {
        let release = try Milestone()
        try await withServer(manualClock: true) { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            release.waitBlocking()
        } test: { server, client in
            let body = PatternBody(length: 256 << 20)
            try await client.start(1, request("PUT", server.url("/"), .source(length: body.length)), body: body)
            // The sockets' buffers fill; from then on nothing moves.
            await client.turn { $0.standsStill(1) }
            // Nobody was silent while the machine slept.
            await client.sleep(for: .seconds(36_000))
            #expect(await client.activeCount == 1)
            // The watchdog looks every quarter of its time. Its first look, on waking, still saw the buffers fill.
            await client.advance(by: .seconds(59))
            #expect(await client.activeCount == 1)
            await client.advance(by: .seconds(16))
            let end = await client.end(of: 1)
            #expect(end.failure?.cause == .stalled)
            #expect(end.failure?.code == .timedOut)
            #expect(end.failure?.failureClass == .transient)
            release.reach()
        }
    }

    @Test func `what waits in this machine's send queue is not counted as sent`() async throws {
        let full = try Milestone()
        let release = try Milestone()
        let arrived = Mutex<Int32>(0)
        try await withServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            full.waitBlocking()
            arrived.withLock { _ = ioctl(connection.socket.rawValue, UInt(FIONREAD), &$0) }
            release.waitBlocking()
        } test: { server, client in
            let body = PatternBody(length: 256 << 20)
            try await client.start(1, request("PUT", server.url("/"), .source(length: body.length)), body: body)
            await client.turn { $0.standsStill(1) }
            let sent = try #require(await client.progress(1)).arrived
            full.reach()
            await client.turn { _ in arrived.withLock { $0 > 0 } }
            #expect(sent > 0 && sent <= arrived.withLock { Int64($0) })
            release.reach()
        }
    }

    @Test func `after the last byte the longer time holds`() async throws {
        let reached = try Milestone()
        let release = try Milestone()
        try await withServer(manualClock: true) { connection in
            let request = try connection.readHead()
            try connection.readBody(request.length)
            reached.reach()
            release.waitBlocking()
        } test: { server, client in
            try await client.start(1, request("PUT", server.url("/"), .bytes([1, 2, 3])))
            reached.waitBlocking()
            await client.turn { $0.progress(1)?.arrived == 3 }
            for _ in 0..<58 { await client.advance(by: .seconds(10)) }
            #expect(await client.activeCount == 1)
            for _ in 0..<5 { await client.advance(by: .seconds(10)) }
            #expect(await client.end(of: 1).failure?.cause == .noAnswer)
            release.reach()
        }
    }

    @Test func `a download that stops is given up, one that trickles is not`() async throws {
        let go = try Milestone()
        let release = try Milestone()
        try await withServer(manualClock: true) { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na")
            go.waitBlocking()
            try connection.send("b")
            release.waitBlocking()
        } test: { server, client in
            let sink = RecordingSink()
            try await client.start(1, request("GET", server.url("/")), opening: sink)
            await client.turn { $0.progress(1)?.received == 1 }
            for _ in 0..<3 { await client.advance(by: .seconds(15)) }
            go.reach()
            await client.turn { $0.progress(1)?.received == 2 }
            for _ in 0..<3 { await client.advance(by: .seconds(15)) }
            #expect(await client.activeCount == 1)
            for _ in 0..<3 { await client.advance(by: .seconds(15)) }
            #expect(await client.end(of: 1).failure?.cause == .stalled)
            #expect(sink.bytes == Array("ab".utf8))
            release.reach()
        }
    }

    @Test func `an answer that trickles into no file ends after the time for an answer`() async throws {
        let steps = try (1...20).map { _ in try Milestone() }
        try await withServer(manualClock: true) { connection in
            let request = try connection.readHead()
            try connection.readBody(request.length)
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for step in steps {
                try connection.send(" ")
                step.waitBlocking()
            }
        } test: { server, client in
            var request = request("POST", server.url("/"), .bytes([1, 2, 3]))
            request.response = .buffer(limit: 1000)
            try await client.start(1, request)
            for (count, step) in steps.enumerated() {
                await client.turn { ($0.progress(1)?.received).map { $0 > count } ?? true }
                #expect(await client.activeCount == 1 || count > 10)
                await client.advance(by: .seconds(45))
                step.reach()
            }
            #expect(await client.end(of: 1).failure?.cause == .stalled)
        }
    }

    @Test func `time behind a closed gate or a limit of zero does not count`() async throws {
        try await withServer(manualClock: true) { connection in
            let request = try connection.readHead()
            if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
            try connection.readBody(request.length)
            try connection.answer("200 OK", "body")
            try connection.readHead()
        } test: { server, client in
            try await client.start(1, request("GET", server.url("/")))
            await client.turn { $0.gateHolds(1) }
            let stop = await client.makeBucket(0)
            let body = PatternBody(length: 100_000)
            try await client.start(
                2, request("PUT", server.url("/"), .source(length: body.length)), body: body, up: [stop])
            await client.turn { $0.throttledCount == 1 }
            for _ in 0..<100 { await client.advance(by: .seconds(30)) }
            #expect(await client.activeCount == 2)
            await client.openGate(1, to: RecordingSink())
            await client.setRate(nil, of: stop)
            #expect(await client.end(of: 1).failure == nil)
            #expect(await client.head(of: 2).status == 200)
            await client.openGate(2, to: RecordingSink())
            #expect(await client.end(of: 2).failure == nil)
        }
    }

    @Test func `a less patient exchange is not held up by a patient one's watch`() async throws {
        let release = try Milestone()
        try await withServer(manualClock: true) { connection in
            try connection.readHead()
            release.waitBlocking()
        } test: { server, client in
            try await client.start(1, request("GET", server.url("/")))
            var hasty = request("GET", server.url("/"))
            hasty.timeouts.answer = .seconds(2)
            try await client.start(2, hasty)
            await client.turn { _ in server.requests.count == 2 }
            await client.advance(by: .seconds(1))
            await client.advance(by: .seconds(3))
            #expect(await client.end(of: 2).failure?.cause == .noAnswer)
            #expect(await client.activeCount == 1)
            release.reach()
        }
    }
}
