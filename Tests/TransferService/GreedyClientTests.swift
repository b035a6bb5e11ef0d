import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferService

/// Clients that ask for very much at once: they are told no, or get it in pieces between which others are served.
@Suite struct GreedyClientTests {
    private func refusal(_ body: () async throws -> Void) async throws -> RequestErrorCode {
        try await #require(throws: WireError.self) { try await body() }.requestError.code
    }

    // MARK: Views

    @Test func `a view of more rows than any screen has is refused, and so are many views of them`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        func wanted(_ sections: Int64, view: Int = 0) -> ViewRequest {
            ViewRequest(
                view: view,
                sections: (1...sections).map { SectionRequest(parent: .batch(BatchID(rawValue: $0)), limit: 1000) })
        }
        #expect(try await refusal { _ = try await client.call(Methods.viewSet, wanted(200)) } == .usage)
        for view in 0..<3 { _ = try await client.call(Methods.viewSet, wanted(10, view: view)) }
        var last: RequestErrorCode?
        for view in 3..<16 where last == nil {
            do { _ = try await client.call(Methods.viewSet, wanted(10, view: view)) } catch let error as WireError {
                last = error.requestError.code
            }
        }
        #expect(last == .refused)
        try await harness.end()
    }

    @Test func `a large view comes in pieces of a thousand rows, all of it`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batches = [
            try await harness.add(900, name: "a"), try await harness.add(900, name: "b"),
            try await harness.add(900, name: "c"),
        ]
        let order = TreeOrder(.name)
        _ = try await client.call(
            Methods.viewSet,
            ViewRequest(
                sections: batches.map { SectionRequest(parent: .batch($0), limit: 1000, order: order) },
                nodes: batches.map { .batch($0) }, totals: true))
        var sizes: [RowID: Int] = [:]
        var pieces = 0
        while sizes.count < 3 {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            pieces += 1
            #expect(change.sections.reduce(0) { $0 + $1.rows.count } <= 1000)
            for section in change.sections { if let parent = section.parent { sizes[parent] = section.rows.count } }
        }
        #expect(pieces >= 3 && sizes.values.allSatisfy { $0 >= 900 }, "\(pieces) \(sizes)")
        try await harness.end()
    }

    // MARK: Nodes

    @Test func `more nodes than anybody names are refused`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let ids = (1...100_001).map { NodeID.task(TaskID(rawValue: $0)) }
        #expect(
            try await refusal { _ = try await client.call(Methods.nodesCancel, NodesRequest(ids: ids)) } == .usage)
        #expect(
            try await refusal { _ = try await client.call(Methods.nodesMove, MoveRequest(ids: ids, to: .top)) }
                == .usage)
        let tasks = (1...100_001).map { TaskID(rawValue: $0) }
        #expect(
            try await refusal {
                _ = try await client.call(Methods.leftoversAbort, LeftoversAbortRequest(tasks: tasks))
            } == .usage)
        try await harness.end()
    }

    @Test func `many nodes are changed a thousand at a time, each once, and taken back as one`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(2500)
        let ids = try await harness.queue.reader.tasks(batch: batch, limit: 2500).map { NodeID.task($0.id) }
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        for lane in try await harness.queue.writer.lanes() {
            _ = try await harness.queue.writer.claim(lane.lane, limit: 2500, now: now)
        }
        let answer = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: ids + ids)))
        #expect(answer.results.count == 2500 && answer.results.allSatisfy { $0.result == .done })
        #expect(await harness.engine.stops == [1000, 1000, 500], "others come in between")
        let operation = try #require(answer.operation)
        _ = try await client.call(Methods.nodesUndo, UndoRequest(operation: operation))
        let after = try await harness.queue.reader.tasks(batch: batch, limit: 2500)
        #expect(after.count == 2500 && after.allSatisfy { $0.state == .queued })
        try await harness.end()
    }

    @Test func `results beyond a number are counted, not told`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let ids = (1...10_500).map { NodeID.task(TaskID(rawValue: $0)) }
        let answer = try await client.call(Methods.nodesCancel, NodesRequest(ids: ids))
        #expect(answer.results.count == 10_000 && answer.untold == UntoldResults(refused: 500))
        try await harness.end()
    }

    // MARK: Long lines

    /// A batch whose request has more bytes than that.
    private static func longRequest(_ bytes: Int) -> BatchRequest {
        let url = "http://h/" + String(repeating: "x", count: 8000)
        let sources = (0...(bytes / 8000)).map {
            DownloadSource(url: "\(url)\($0)", directory: RawPath("/d"), fileName: RawPath("f\($0)"))
        }
        return BatchRequest(work: .download(sources))
    }

    @Test func `few clients at once may send long lines, and the others are served`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.longLinePatience = .seconds(3600)
        let harness = try await ServiceHarness(settings: settings)
        let part = [UInt8](repeating: 0x20, count: 64 << 10)
        var clients: [RawClient] = []
        var taken: [Int] = []
        for _ in 0..<8 {
            let client = try await harness.client()
            try System.setNonBlocking(client.socket.rawValue)
            clients.append(client)
            taken.append(0)
        }
        let other = try await harness.client()
        // Until nobody takes any more: the kernel has its own buffer for each of them.
        var stalled = 0
        while stalled < 20 {
            var moved = false
            for (index, client) in clients.enumerated() where taken[index] < 7 << 20 {
                let count = part.withUnsafeBytes { try? System.send(client.socket.rawValue, $0) }
                if let count, count > 0 {
                    taken[index] += count
                    moved = true
                }
            }
            _ = try await other.call(Methods.engineStatus, Nothing())
            stalled = moved ? 0 : stalled + 1
        }
        #expect(taken.count { $0 > 1 << 20 } == 4, "\(taken)")
        clients = []
        try await harness.end()
    }

    @Test func `a long answer that waits for its turn comes, whatever short lines go out before`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.longLinePatience = .seconds(3600)
        let harness = try await ServiceHarness(settings: settings)
        try await harness.add(2000)
        let part = [UInt8](repeating: 0x20, count: 64 << 10)
        var holders: [RawClient] = []
        let other = try await harness.client()
        for _ in 0..<4 {
            let client = try await harness.client()
            try System.setNonBlocking(client.socket.rawValue)
            holders.append(client)
            var taken = 0
            while taken < 1 << 20 {
                let count = part.withUnsafeBytes { try? System.send(client.socket.rawValue, $0) }
                taken += count.flatMap { $0 } ?? 0
                _ = try await other.call(Methods.engineStatus, Nothing())
            }
        }
        let last = try await other.call(Methods.eventsRead, EventsReadRequest()).last
        let client = try await harness.client()
        let waiting = try await client.post(Methods.eventsRead, EventsReadRequest(after: last, wait: true))
        let long = try await client.post(Methods.taskList, TaskListRequest(limit: 1000))
        try await until { await harness.service.isAnyWaiting }
        try await harness.add(1)
        #expect(try await !client.answer(Methods.eventsRead, waiting).events.isEmpty)
        holders = []
        #expect(try await client.answer(Methods.taskList, long).tasks.count == 1000)
        try await harness.end()
    }

    @Test func `only a batch is told of in a line of megabytes`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let long = String(repeating: " ", count: 300 << 10)
        await client.send(#"{"jsonrpc":"2.0","id":7,"method":"task.list","params":{"filter":"\#(long)"}}"#)
        let answer = try WireCoding.value(ErrorAnswer.self, from: try #require(await client.line()))
        #expect(answer.id == .number(7) && answer.error.requestError.code == .usage)
        #expect(answer.error.message.contains("longer"))
        _ = try await client.call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test func `a client whose request is being done has not let its next line come too slowly`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.longLinePatience = .milliseconds(20)
        let harness = try await ServiceHarness(settings: settings)
        func request() -> BatchRequest { Self.longRequest(2 << 20) }
        await harness.engine.searchForever()
        let busy = try await harness.client()
        let keys = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let search = try await busy.post(
            Methods.leftoversSearch, LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: keys))
        try await until { await !harness.engine.searches.isEmpty }
        let next = try WireCoding.line(WireRequest(id: .number(99), method: .batchAdd, params: request()))
        await busy.send(Array(next.prefix(1 << 20)))
        var idle: [RawClient] = []
        for _ in 1..<LongLines.most {
            let client = try await harness.client()
            await client.send([UInt8](repeating: 0x20, count: 1 << 20))
            idle.append(client)
        }
        // It gets its right from one that is idle.
        #expect(!(try await harness.client().call(Methods.batchAdd, request())).existed)
        await harness.engine.endSearches()
        #expect(try await busy.answer(Methods.leftoversSearch, search).uploads.isEmpty)
        await busy.send(Array(next.dropFirst(1 << 20)))
        #expect(!(try await busy.answer(Methods.batchAdd, 99)).existed)
        idle = []
        try await harness.end()
    }

    @Test func `a long line that does not come to its end makes way for the next one`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.longLinePatience = .milliseconds(20)
        let harness = try await ServiceHarness(settings: settings)
        var idle: [RawClient] = []
        for _ in 0..<LongLines.most {
            let client = try await harness.client()
            await client.send([UInt8](repeating: 0x20, count: 1 << 20))
            idle.append(client)
        }
        let other = try await harness.client()
        let added = try await other.call(Methods.batchAdd, Self.longRequest(1 << 20))
        #expect(!added.existed)
        try await harness.end()
    }
}

/// Who may send long lines, by a clock that a test turns.
@Suite struct LongLinesTests {
    /// Timers fire when the test says so, as those of a loop that comes when it comes.
    private final class LateClock: TransportClock {
        let now = MonotonicInstant(nanoseconds: 1)
        private var timers: [(number: UInt64, fire: () -> Void)] = []
        private var last: UInt64 = 0
        var isSet: Bool { !timers.isEmpty }

        func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
            last += 1
            timers.append((last, handler))
            return LoopTimer(number: last)
        }
        func cancel(_ timer: LoopTimer) { timers.removeAll { LoopTimer(number: $0.number) == timer } }
        func fire(_ times: Int = 1) {
            for _ in 0..<times {
                let due = timers
                timers = []
                for timer in due { timer.fire() }
            }
        }
    }

    private final class Clients {
        let clock = LateClock()
        let lines: LongLines
        var awaited: Set<Int> = []
        var holding: [Int] = []
        var ended: [Int] = []

        init() { lines = LongLines(clock: clock, patience: .seconds(10)) }

        func take(_ client: Int) {
            let claimant = LongLines.Claimant(
                wake: { [self] in holding.append(client) }, isAwaited: { [self] in awaited.contains(client) },
                tooSlow: { [self] in
                    ended.append(client)
                    holding.removeAll { $0 == client }
                    lines.give(client)
                })
            if lines.take(client, claimant) { holding.append(client) }
        }
    }

    @Test func `only a client that is waited for is let go, and only while others want the right`() {
        let clients = Clients()
        for client in 1...LongLines.most { clients.take(client) }
        #expect(!clients.clock.isSet && clients.holding == [1, 2, 3, 4])
        clients.take(5)
        // The service is busy with what they have sent, for as long as that takes.
        clients.clock.fire(10 * LongLines.looks)
        #expect(clients.ended == [] && clients.holding == [1, 2, 3, 4])
        clients.awaited = [3, 4]
        clients.clock.fire(LongLines.looks)
        #expect(clients.ended == [])
        // The third comes to its end in time, and begins another line.
        #expect(clients.lines.lineEnded(3))
        clients.clock.fire()
        #expect(clients.ended == [4] && clients.holding == [1, 2, 3, 5])
        clients.clock.fire(2 * LongLines.looks)
        #expect(clients.ended == [4] && !clients.lines.lineEnded(3))
    }

    @Test func `a loop that comes late has waited once, however late it is`() {
        let clients = Clients()
        for client in 1...5 { clients.take(client) }
        clients.awaited = [1]
        for look in 0...LongLines.looks {
            #expect(clients.ended == [], "\(look)")
            clients.clock.fire()
        }
        #expect(clients.ended == [1] && clients.holding == [2, 3, 4, 5])
    }
}

/// The lines that a client has not taken yet.
@Suite struct OutgoingLinesTests {
    @Test func `bytes go out in their order, however few are taken at once`() throws {
        var generator = SystemRandomNumberGenerator()
        var (outgoing, given, taken): (OutgoingLines, [UInt8], [UInt8]) = (OutgoingLines(), [], [])
        for round in 0..<300 {
            let line = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round % 7 * 50)
            outgoing.append(line)
            given += line
            var most = Int.random(in: 0..<400, using: &generator)
            try outgoing.send { bytes in
                let some = bytes.prefix(most)
                most -= some.count
                taken += some
                return some.isEmpty ? nil : some.count
            }
            #expect(outgoing.count == given.count - taken.count)
        }
        try outgoing.send { bytes in
            taken += bytes
            return bytes.count
        }
        #expect(outgoing.isEmpty && given == taken)
    }
}

extension TransferService {
    /// An answer of a client waits for the right to a long line.
    fileprivate var isAnyWaiting: Bool { clients.values.contains(where: \.waitsForRight) }
}
