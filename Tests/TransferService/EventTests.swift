import LinuxSystem
import ServiceWire
import Testing
import TransferModel
import TransferQueue

@testable import TransferService

/// The log of events: replayed, followed, acknowledged; none lost and none twice.
@Suite struct EventTests {
    @Test func `a follower gets every event once, replayed and live, while others are stored`() async throws {
        let harness = try await ServiceHarness()
        for number in 0..<20 { try await harness.add(5, name: "early\(number)") }
        try await harness.completeAll()
        async let more: Void = {
            for number in 0..<20 {
                try await harness.add(5, name: "late\(number)")
                try await harness.completeAll()
            }
        }()
        let client = try await harness.client()
        #expect(try await client.call(Methods.eventsFollow, EventsFollowRequest()).after.rawValue == 0)
        var seen: [EventSequence] = []
        var finished = 0
        while finished < 40 {
            let page = try await client.notification(.eventsHappened, EventPage.self)
            seen += page.events.map(\.seq)
            finished += page.events.count { $0.type == .batchFinished }
        }
        try await more
        #expect(seen == (1...Int64(seen.count)).map { EventSequence(rawValue: $0) })
        try await harness.end()
    }

    @Test func `reading page by page with waiting gets the same as following`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        async let more: Void = {
            for number in 0..<10 {
                try await harness.add(3, name: "n\(number)")
                try await harness.completeAll()
            }
        }()
        var seen: [EventSequence] = []
        var after = EventSequence(rawValue: 0)
        var finished = 0
        while finished < 10 {
            let page = try await client.call(Methods.eventsRead, EventsReadRequest(after: after, limit: 7, wait: true))
            #expect(!page.events.isEmpty && page.events.count <= 7)
            seen += page.events.map(\.seq)
            finished += page.events.count { $0.type == .batchFinished }
            after = page.next
        }
        try await more
        #expect(seen == (1...Int64(seen.count)).map { EventSequence(rawValue: $0) })
        try await harness.end()
    }

    @Test func `a read that waits lets other requests of the same client pass`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let last = try await client.call(Methods.eventsRead, EventsReadRequest()).last
        let waiting = try await client.post(Methods.eventsRead, EventsReadRequest(after: last, wait: true))
        _ = try await client.call(Methods.totals, Nothing())
        try await harness.add(1)
        let page = try await client.answer(Methods.eventsRead, waiting)
        #expect(page.events.first?.type == .batchQueued)
        try await harness.end()
    }

    @Test func `a session's reader is told of its own events only, and waits over the others`() async throws {
        let harness = try await ServiceHarness()
        let photos = try #require(SessionName(rawValue: "photos"))
        let client = try await harness.client()
        let waiting = try await client.post(Methods.eventsRead, EventsReadRequest(session: photos, wait: true))
        try await harness.add(2, name: "other")
        try await harness.completeAll()
        let batch = try await harness.add(2, name: "own", session: photos)
        let page = try await client.answer(Methods.eventsRead, waiting)
        #expect(page.events.map(\.batch) == [batch])
        #expect(page.events.allSatisfy { $0.session == photos })
        try await harness.end()
    }

    @Test func `a consumer goes on behind what it acknowledged`() async throws {
        let harness = try await ServiceHarness()
        try await harness.add(3)
        let client = try await harness.client()
        let page = try await client.call(Methods.eventsRead, EventsReadRequest(consumer: "c"))
        #expect(page.events.first?.seq.rawValue == 1)
        _ = try await client.call(
            Methods.eventsAcknowledge, EventsAcknowledgeRequest(consumer: "c", through: page.next))
        #expect(try await client.call(Methods.eventsRead, EventsReadRequest(consumer: "c")).events.isEmpty)
        #expect(try await client.call(Methods.eventsRead, EventsReadRequest(consumer: "d")).events == page.events)
        let longest = "session:" + String(repeating: "s", count: 200)
        let ofSession = EventsAcknowledgeRequest(consumer: longest, through: page.next)
        _ = try await client.call(Methods.eventsAcknowledge, ofSession)
        #expect(try await client.call(Methods.eventsRead, EventsReadRequest(consumer: longest)).events.isEmpty)
        let tooLong = EventsAcknowledgeRequest(consumer: longest + "s", through: page.next)
        let long = try await #require(throws: WireError.self) {
            try await client.call(Methods.eventsAcknowledge, tooLong)
        }
        #expect(long.message == "a consumer's name has 1 to 208 bytes")
        let early = EventsAcknowledgeRequest(consumer: "c", through: EventSequence(rawValue: 999))
        let error = try await #require(throws: WireError.self) {
            try await client.call(Methods.eventsAcknowledge, early)
        }
        #expect(error.requestError.code == .usage)
        try await harness.end()
    }

    @Test func `a reader or follower behind a number that no event has had is told so, and is not kept waiting`()
        async throws
    {
        let harness = try await ServiceHarness()
        try await harness.add(1)
        let client = try await harness.client()
        let beyond = EventSequence(rawValue: try await harness.queue.reader.lastEvent().rawValue + 1)
        func code<Params, Answer>(_ method: Method<Params, Answer>, _ params: Params) async throws -> RequestErrorCode {
            let error = try await #require(throws: WireError.self) { try await client.call(method, params) }
            return error.requestError.code
        }
        #expect(try await code(Methods.eventsRead, EventsReadRequest(after: beyond, wait: true)) == .usage)
        #expect(try await code(Methods.eventsFollow, EventsFollowRequest(after: beyond)) == .usage)
        try await harness.add(1)
        let page = try await client.call(Methods.eventsRead, EventsReadRequest(after: beyond))
        #expect(page.last >= beyond)
        try await harness.end()
    }

    @Test func `seventeen waiting reads of one client are one too many`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let last = try await client.call(Methods.eventsRead, EventsReadRequest()).last
        for _ in 0..<16 { _ = try await client.post(Methods.eventsRead, EventsReadRequest(after: last, wait: true)) }
        let error = try await #require(throws: WireError.self) {
            try await client.call(Methods.eventsRead, EventsReadRequest(after: last, wait: true))
        }
        #expect(error.requestError.code == .refused)
        try await harness.end()
    }

    @Test func `one read of the log waits on a connection: each ends the one before it, and tests still go`()
        async throws
    {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(1)
        let (client, other) = (try await harness.client(), try await harness.client())
        let after = try await client.call(Methods.logRead, LogReadRequest(level: .user)).next
        let read = LogReadRequest(level: .user, after: after, wait: true)
        var waiting: [Int64] = []
        for _ in 0..<40 { waiting.append(try await client.post(Methods.logRead, read)) }
        for number in waiting.dropLast() { #expect(try await client.answer(Methods.logRead, number).lines.isEmpty) }
        _ = try await client.call(
            Methods.destinationTest,
            DestinationTestRequest(url: "http://host/", options: nil, secrets: nil, destination: nil))
        // Each connection has one of its own.
        let others = try await other.post(Methods.logRead, read)
        let third = try await harness.client()
        _ = try await third.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: [.batch(batch)])))
        for (client, number) in [(client, waiting[39]), (other, others)] {
            #expect(try await client.answer(Methods.logRead, number).lines.map(\.batch) == [batch])
        }
        try await harness.end()
    }

    @Test func `the newest events are purged: each reader gets to the end, and waits there`() async throws {
        let harness = try await ServiceHarness()
        let writer = harness.queue.writer
        let kept = try await harness.add(1, name: "kept")
        _ = try await writer.pause([.batch(kept)])
        let purged = try await harness.add(1, name: "purged")
        try await harness.completeAll()
        let client = try await harness.client()
        let last = try await client.call(Methods.eventsRead, EventsReadRequest()).last
        _ = try await writer.purge([.batch(purged)])
        _ = try await writer.forgetPurged(now: Timestamp(milliseconds: WallClock.milliseconds + 2 * 3_600_000))
        let left = try await client.call(Methods.eventsRead, EventsReadRequest())
        #expect(left.events.allSatisfy { $0.batch != purged } && (left.events.last?.seq ?? last) < last)
        #expect(left.next >= left.last && left.last >= last)
        let behind = try await client.call(Methods.eventsRead, EventsReadRequest(after: left.events.last?.seq))
        #expect(behind.events.isEmpty && behind.next >= behind.last)

        let follower = try await harness.client()
        let following = EventsFollowRequest(after: left.events.last?.seq)
        _ = try await follower.call(Methods.eventsFollow, following)
        // A reader that looks again and again would keep the service from its other requests, and from ending.
        let gone = try await harness.client()
        _ = try await gone.post(Methods.eventsRead, EventsReadRequest(after: left.events.last?.seq, wait: true))
        try System.shutdown(gone.socket.rawValue, .both)
        let waiting = try await client.post(
            Methods.eventsRead, EventsReadRequest(after: left.events.last?.seq, wait: true))
        let next = try await harness.add(1, name: "next")
        let page = try await client.answer(Methods.eventsRead, waiting)
        #expect(page.events.map(\.batch) == [next])
        let told = try await follower.notification(.eventsHappened, EventPage.self)
        #expect(told.events.map(\.batch) == [next])
        try await harness.end()
    }

    @Test func `a page that its limit did not cut goes up to the last event, and one that it cut to its own last`()
        async throws
    {
        let harness = try await ServiceHarness()
        for number in 0..<3 { try await harness.add(1, name: "n\(number)") }
        try await harness.completeAll()
        let client = try await harness.client()
        let all = try await client.call(Methods.eventsRead, EventsReadRequest())
        for limit in 1...all.events.count + 1 {
            let page = try await client.call(Methods.eventsRead, EventsReadRequest(limit: limit))
            #expect(page.next == page.events.last?.seq)
            #expect(page.events.count == min(limit, all.events.count))
            #expect(limit <= all.events.count || page.next >= page.last)
        }
        try await harness.end()
    }

    @Test func `a page that is longer than a line may be ends where the line does, and the next begins there`() throws {
        let events = (1...40).map { number in
            var payload = EventPayload()
            payload.message = String(repeating: "x", count: 1 << 20)
            return TransferEvent(
                seq: EventSequence(rawValue: Int64(number)), at: Timestamp(milliseconds: 0), session: nil, batch: nil,
                task: nil,
                type: .waiting, payload: payload)
        }
        let page = EventPage(events: events, next: EventSequence(rawValue: 40), last: EventSequence(rawValue: 99))
        let (line, part) = try page.fitted { try WireCoding.line(Notification(method: .eventsHappened, params: $0)) }
        #expect(line.count <= ServiceClient.longestLine)
        #expect(part.events.count == 10 && part.next == EventSequence(rawValue: 10) && part.last == page.last)
    }
}
