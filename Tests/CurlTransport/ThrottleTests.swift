import LinuxSystem
import TestSupport
import Testing

@testable import CurlTransport

/// Buckets by themselves, time by hand.
@Suite struct TokenBucketTests {
    private func time(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// Draws as a transfer does, every `step` milliseconds and 1 MiB at a time, and sums what it got.
    private func drawn(_ chain: [TokenBucket], from start: Int64, to end: Int64, step: Int64 = 15) -> Int64 {
        var sum: Int64 = 0
        for now in stride(from: start, to: end, by: Int64.Stride(step)) {
            while case .bytes(let count) = chain.grant(1 << 20, time(now)), count > 0 {
                chain.take(count)
                sum += Int64(count)
            }
        }
        return sum
    }

    @Test(arguments: [20_000, 200_000, 4_000_000, 50_000_000] as [Int64])
    func `ten seconds give ten seconds' worth`(_ rate: Int64) {
        let sum = drawn([TokenBucket(rate: rate, now: time(0))], from: 0, to: 10_000)
        #expect(abs(sum - 10 * rate) <= rate / 10 + 8192)
    }

    @Test func `a changed rate holds from that moment, up and down`() {
        let bucket = TokenBucket(rate: 4_000_000, now: time(0))
        var sums: [Int64] = []
        for (index, rate) in ([4_000_000, 200_000, 50_000_000, 2_000_000] as [Int64]).enumerated() {
            let start = Int64(index) * 3000
            bucket.setRate(rate, now: time(start))
            sums.append(drawn([bucket], from: start, to: start + 3000) * 100 / (3 * rate))
        }
        #expect(sums.allSatisfy { (92...108).contains($0) }, "percent of the rate: \(sums)")
    }

    @Test func `the narrowest of a stack counts`() {
        let all = TokenBucket(rate: 1_000_000, now: time(0))
        let one = TokenBucket(rate: 100_000, now: time(0))
        let sum = drawn([all, one], from: 0, to: 10_000)
        #expect((950_000...1_050_000).contains(sum))
    }

    @Test func `crumbs are not handed out`() {
        let bucket = TokenBucket(rate: 1_000_000, now: time(0))
        #expect([bucket].grant(1 << 20, time(0)) == .bytes(8192))
        [bucket].take(8192)
        #expect([bucket].grant(1 << 20, time(5)) == .wait(.nanoseconds(3_192_000)))
        // The end of a file is smaller than a quantum and need not wait for one.
        #expect([bucket].grant(1000, time(5)) == .bytes(1000))
    }

    @Test func `a rate of zero is a stop without an end`() {
        let bucket = TokenBucket(rate: 0, now: time(0))
        #expect([bucket].grant(1, time(1_000_000)) == .wait(nil))
        bucket.setRate(nil, now: time(1_000_000))
        #expect([bucket].grant(1 << 20, time(1_000_000)) == .bytes(1 << 20))
    }

    @Test func `users share what is there`() {
        let bucket = TokenBucket(rate: 10_000_000, now: time(0))
        bucket.users = 4
        #expect([bucket].grant(1 << 20, time(100)) == .bytes(250_000))
    }

    @Test func `a debt of a fast limit does not freeze a slow one`() {
        let bucket = TokenBucket(rate: 100_000_000, now: time(0))
        bucket.take(1 << 20)
        bucket.setRate(1000, now: time(0))
        #expect(drawn([bucket], from: 0, to: 10_000) >= 8000)
    }
}

/// Limits on real exchanges, time by hand: nothing moves unless the test lets it.
@Suite struct ThrottleTests {
    private static func accepting(_ connection: ServerConnection) throws {
        while true {
            let request = try connection.readHead()
            if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
            try connection.readBody(request.length)
            try connection.answer("200 OK")
        }
    }

    private func put(_ url: String, _ length: Int64) -> HTTPRequest {
        HTTPRequest("PUT", url, body: .source(length: length))
    }

    @Test func `an upload gets a quantum at once and then what time brings`() async throws {
        try await withServer(manualClock: true, Self.accepting) { server, client in
            let bucket = await client.makeBucket(80 * 1024)
            let body = PatternBody(length: 200 * 1024)
            try await client.start(1, put(server.url("/"), body.length), body: body, up: [bucket])
            for tick in Int64(0)...10 {
                if tick > 0 { await client.advance(by: .milliseconds(100)) }
                await client.turn { $0.progress(1)?.arrived == 8192 * (tick + 1) && $0.throttledCount == 1 }
                #expect(await client.progress(1)?.arrived == 8192 * (tick + 1))
            }
            await client.setRate(nil, of: bucket)
            #expect(await client.end(of: 1).failure == nil)
            #expect(server.bodyBytes == 200 * 1024)
        }
    }

    @Test func `pauses that are set while libcurl has no connection for it end nothing`() async throws {
        try await withServer(Self.accepting) { server, client in
            let body = PatternBody(length: 20_000)
            try await client.startPausing(1, put(server.url("/"), body.length), body: body)
            #expect(await client.end(of: 1).failure == nil)
            #expect(server.bodyBytes == 20_000)
        }
    }

    @Test func `lowering a running limit to zero stops it, raising it lets it finish`() async throws {
        try await withServer(manualClock: true, Self.accepting) { server, client in
            let bucket = await client.makeBucket(1 << 20)
            let body = PatternBody(length: 2 << 20)
            try await client.start(1, put(server.url("/"), body.length), body: body, up: [bucket])
            await client.turn { $0.throttledCount == 1 }
            await client.setRate(0, of: bucket)
            // It is told as sent when the other end has it.
            let quantum = Int64(8192)
            await client.turn { $0.throttledCount == 1 && $0.progress(1)?.arrived == quantum }
            for _ in 0..<10 { await client.advance(by: .seconds(1)) }
            #expect(await client.progress(1)?.arrived == quantum)
            await client.setRate(1 << 30, of: bucket)
            await client.turn {
                $0.advance(by: .milliseconds(20))
                return $0.hasEnded(1)
            }
            #expect(await client.end(of: 1).failure == nil)
            #expect(server.bodyBytes == 2 << 20)
        }
    }

    @Test func `a download is held back in steps of what libcurl hands over`() async throws {
        try await withServer(manualClock: true) { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            try connection.send((0..<1_000_000).map { PatternBody.byte(Int64($0)) })
            try connection.readHead()
        } test: { server, client in
            let bucket = await client.makeBucket(100_000)
            let sink = RecordingSink()
            try await client.start(
                1, HTTPRequest("GET", server.url("/"), response: .gated), opening: sink, down: [bucket])
            await client.turn { $0.throttledCount == 1 }
            for _ in 0..<20 {
                await client.advance(by: .milliseconds(100))
                await client.turn { $0.throttledCount == 1 }
            }
            // Two seconds at 100,000, the first quantum, and one piece of libcurl's on credit.
            let received = try #require(await client.progress(1)?.received)
            #expect((150_000...230_000).contains(received))
            await client.setRate(nil, of: bucket)
            #expect(await client.end(of: 1).failure == nil)
            #expect(sink.bytes == (0..<1_000_000).map { PatternBody.byte(Int64($0)) })
        }
    }

    @Test func `a slow limit does not hold up what has a fast one`() async throws {
        try await withServer(manualClock: true, Self.accepting) { server, client in
            let body = PatternBody(length: 4 << 20)
            for (id, rate) in [(UInt64(1), Int64(8192)), (2, 1 << 20)] {
                let bucket = await client.makeBucket(rate)
                try await client.start(id, put(server.url("/"), body.length), body: body, up: [bucket])
                await client.turn { $0.throttledCount == Int(id) }
            }
            for _ in 0..<100 {
                await client.advance(by: .milliseconds(10))
                await client.turn { $0.throttledCount == 2 }
            }
            await client.turn { ($0.progress(2)?.arrived ?? 0) >= 900 * 1024 }
            #expect(await client.progress(1)?.arrived ?? 0 <= 3 * 8192)
        }
    }

    @Test func `two uploads under one limit both move and stay below it together`() async throws {
        try await withServer(manualClock: true, Self.accepting) { server, client in
            let bucket = await client.makeBucket(160 * 1024)
            let body = PatternBody(length: 1 << 20)
            for id in UInt64(1)...2 {
                try await client.start(id, put(server.url("/"), body.length), body: body, up: [bucket])
            }
            await client.turn { $0.throttledCount == 2 }
            for _ in 0..<20 {
                await client.advance(by: .milliseconds(50))
                await client.turn { $0.throttledCount == 2 }
            }
            await client.turn { ($0.progress(1)?.arrived ?? 0) + ($0.progress(2)?.arrived ?? 0) >= 120 * 1024 }
            let sent = await [client.progress(1)?.arrived ?? 0, client.progress(2)?.arrived ?? 0]
            #expect(sent[0] + sent[1] <= 168 * 1024 + 8192)
            #expect(sent[0] + sent[1] >= 120 * 1024)
            #expect(sent.allSatisfy { $0 >= 40 * 1024 })
        }
    }
}
