import LinuxSystem
import SQLiteConnection
import ServiceWire
import TestSupport
import Testing
import TransferEngine
import TransferModel
import Wording

@testable import TransferQueue
@testable import TransferService

/// What clients see, when, and how much of it.
extension TransferService {
    /// Filters of all views, those that views have together once.
    fileprivate var filters: Int {
        Set(clients.values.flatMap { $0.views.values.compactMap(\.filter).map { ObjectIdentifier($0) } }).count
    }
}

@Suite struct ViewTests {
    private let root = ViewRequest(sections: [SectionRequest(parent: nil, limit: 50)], totals: true)

    @Test func `views of a client with one text search once, and all of them are told`() async throws {
        let harness = try await ServiceHarness()
        try await harness.add(20)
        let client = try await harness.client()
        for view in 0..<3 {
            let request = ViewRequest(
                view: view, sections: [SectionRequest(parent: nil, limit: 10, flat: true)], filter: "f1")
            _ = try await client.call(Methods.viewSet, request)
        }
        var complete: [Int: Int64] = [:]
        while complete.count < 3 {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            if let filter = change.filter, filter.complete { complete[change.view] = filter.matched }
        }
        #expect(complete == [0: 11, 1: 11, 2: 11])
        #expect(await harness.service.filters == 1)
        _ = try await client.call(Methods.viewSet, ViewRequest(view: 0))
        // Another file that matches is shown in those that are left.
        try await harness.add(2, name: "other")
        while complete.values.contains(11) {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            if let filter = change.filter, filter.complete { complete[change.view] = filter.matched }
            complete[0] = nil
        }
        #expect(complete == [1: 12, 2: 12])
        try await harness.end()
    }

    @Test func `a view is sent once, and again when something changed, and not otherwise`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        _ = try await client.call(Methods.viewSet, root)
        let first = try await client.notification(.viewChanged, ViewChange.self)
        #expect(first.sections == [TreeSection(parent: nil, rows: [], total: 0)])
        #expect(first.totals?.viewers == 1)
        for _ in 0..<50 { _ = try await client.call(Methods.engineStatus, Nothing()) }
        #expect(client.earlyNotifications == 0)
        let batch = try await harness.add(3)
        var change = try await client.notification(.viewChanged, ViewChange.self)
        while change.sections.isEmpty { change = try await client.notification(.viewChanged, ViewChange.self) }
        #expect(change.sections[0].rows.map(\.id) == [.batch(batch)])
        try await harness.end()
    }

    @Test func `the time left is of what moves: not of what is paused, held, cancelled or failed`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let (moving, still) = (try await harness.add(6, name: "moving"), try await harness.add(1, name: "still"))
        var tasks: [ClaimedTask] = []
        for lane in try await harness.queue.writer.lanes() {
            tasks += try await harness.queue.writer.claim(lane.lane, limit: 6, now: now)
        }
        for task in tasks { harness.queue.writer.record(.sizeKnown(1000), for: task.claim) }
        harness.queue.writer.record(.failed(TransferError(.http, "404", httpStatus: 404)), for: tasks[2].claim)
        harness.queue.writer.record(.checkpoint(resumePoint: [1], accepted: 300), for: tasks[4].claim)
        _ = try await harness.queue.writer.cancel([.task(tasks[3].id)])
        _ = try await harness.queue.writer.pause([.task(tasks[4].id), .batch(still)])
        await harness.engine.show(
            LiveSnapshot(
                tasks: tasks.filter { [tasks[0].id, tasks[1].id, tasks[4].id].contains($0.id) }.map { task in
                    // The one that is paused has not stopped yet.
                    LiveTask(
                        task: task.id, batch: moving, folder: task.folder, direction: .download, state: .running,
                        bytesTotal: 1000, bytesSent: 400, bytesAccepted: 300, bytesRepeated: 0, bytesPerSecond: 50,
                        secondsLeft: 12, isStalled: false)
                }))
        // Two have 600 each to go, one that stands in line 1000: 2200 at 100 a second.
        let batch = try await client.call(Methods.nodeShow, NodeShowRequest(id: .batch(moving))).node
        #expect(batch.bytesPerSecond == 100 && batch.secondsLeft == 22)
        #expect(try await client.call(Methods.totals, Nothing()).secondsLeft == 22)
        #expect(try await client.call(Methods.batchShow, BatchShowRequest(batch: moving)).batch.secondsLeft == 22)
        try await harness.end()
    }

    @Test func `two clients see the same`() async throws {
        let harness = try await ServiceHarness()
        let clients = [try await harness.client(), try await harness.client()]
        for client in clients { _ = try await client.call(Methods.viewSet, root) }
        for number in 0..<5 { try await harness.add(number + 1, name: "n\(number)") }
        try await harness.completeAll()
        var seen: [[NodeRow]] = []
        for client in clients {
            var rows: [NodeRow] = []
            while rows.count != 5 || !rows.allSatisfy({ $0.state == .completed }) {
                for section in try await client.notification(.viewChanged, ViewChange.self).sections {
                    rows = section.rows
                }
            }
            seen.append(rows)
        }
        #expect(seen[0] == seen[1])
        try await harness.end()
    }

    @Test func `a client that does not read costs no memory and then sees the newest`() async throws {
        let harness = try await ServiceHarness()
        let slow = try await harness.client()
        let other = try await harness.client()
        let nodes = ViewRequest(view: 3, sections: [SectionRequest(parent: nil, limit: 1000)], totals: true)
        _ = try await slow.call(Methods.viewSet, nodes)
        _ = try await slow.call(Methods.eventsFollow, EventsFollowRequest())
        _ = try await other.call(Methods.viewSet, root)
        // Far more than a socket's buffer holds: each round changes every row of the view, and all is seen by the other.
        let batch = try await harness.add(1, name: "last")
        for number in 0..<300 { try await harness.add(1, name: String(repeating: "x", count: 150) + "\(number)") }
        for round in 0..<20 {
            let ids = (1...301).map { NodeID.batch(BatchID(rawValue: $0)) }
            if round % 2 == 0 {
                _ = try await other.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: ids)))
            } else {
                _ = try await other.call(Methods.nodesResume, NodesRequest(ids: ids))
            }
        }
        _ = try await other.call(Methods.nodesCancel, NodesRequest(ids: [.batch(batch)]))
        let unread = await harness.service.unreadBytes
        // One update that did not fit, and one page of events.
        #expect(unread < 2 << 20)
        var state: TransferState?
        while state != .cancelled {
            let change = try await slow.notification(.viewChanged, ViewChange.self)
            for row in change.sections.flatMap(\.rows) where row.id == .batch(batch) { state = row.state }
        }
        try await harness.end()
    }

    @Test func `a server that serves nothing is a problem of all that waits for it, and none any more when it serves`()
        async throws
    {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(3)
        let client = try await harness.client()
        let wanted = ViewRequest(
            sections: [SectionRequest(parent: nil, limit: 9)], nodes: [.batch(batch)], totals: true)
        _ = try await client.call(Methods.viewSet, wanted)
        _ = try await client.notification(.viewChanged, ViewChange.self)
        try await until { await harness.engine.isWatched }
        let time = Timestamp(milliseconds: 5_000_000)
        let error = TransferError(.cannotConnectToHost, "host:80 does not accept the connection", .step("look"))
        var live = LiveSnapshot()
        live.troubles = [
            HostTrouble(
                place: .init(batch: batch, origin: "http://host:80"), since: time, retryAt: time, error: error,
                isWhole: true, files: 0)
        ]
        await harness.engine.show(live)
        func totals(_ isSo: (QueueTotals) -> Bool) async throws -> NodeRow? {
            var row: NodeRow?
            while true {
                let change = try await client.notification(.viewChanged, ViewChange.self)
                row = change.nodes.first?.node ?? row
                if let totals = change.totals, isSo(totals) { return row }
            }
        }
        let row = try await totals { $0.problems == 3 && $0.needsServer == 3 && $0.problemCauses == 1 }
        #expect(row?.error == error, "the details of a batch of several files say it")
        let shown = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
        #expect(
            shown.waits == [
                WaitCount(
                    reason: .hostBackoff, code: .cannotConnectToHost, count: 3, finding: error.finding, lastAt: time,
                    server: "host", retryAt: time)
            ])
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches == [shown])
        #expect(shown.causes.isEmpty && shown.waitReasons.isEmpty, "as scripts know them")
        _ = try await harness.queue.writer.pause([.batch(batch)])
        _ = try await totals { $0.problems == 0 }
        _ = try await harness.queue.writer.resume([.batch(batch)])
        _ = try await totals { $0.problems == 3 }
        await harness.engine.show(LiveSnapshot())
        #expect(try await totals { $0.problems == 0 && $0.needsServer == 0 }?.error == nil)
        try await harness.end()
    }

    @Test func `all files that wait for a name that nobody knows are counted, waiting or tried just now`() async throws
    {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(3)
        let client = try await harness.client()
        let time = Timestamp(milliseconds: WallClock.milliseconds)
        let error = TransferError(.cannotFindHost, "nsa.local cannot be found", .step("check the spelling of its name"))
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let tried = try await harness.queue.writer.claim(lane.lane, limit: 1, now: time)[0]
        var live = LiveSnapshot()
        live.troubles = [
            HostTrouble(
                place: .init(batch: batch, origin: lane.origin), since: time, retryAt: time, error: error,
                isWhole: true,
                files: 0)
        ]
        await harness.engine.show(live)
        let expected = WaitCount(
            reason: .hostBackoff, code: .cannotFindHost, count: 3, finding: error.finding, lastAt: time, retryAt: time)
        for change in [
            TaskFact.waiting(WaitReasons(.hostBackoff), retryAt: time.advanced(by: .seconds(60)), error: error),
            .running,
        ] {
            harness.queue.writer.record(change, for: tried.claim)
            try await harness.queue.writer.commit()
            let shown = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
            #expect(shown.waits == [expected])
            let totals = try await client.call(Methods.totals, Nothing())
            #expect(totals.problems == 3 && totals.needsPerson == 3 && totals.needsServer == 0)
            #expect(totals.problemCauses == 1)
            try await harness.queue.writer.clearWait(WaitReasons(.hostBackoff))
            _ = try await harness.queue.writer.claim(lane.lane, limit: 1, now: time)
        }
        try await harness.end()
    }

    @Test func `all files that stand in line for a refused login need the person, not the one alone that tried it`()
        async throws
    {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(4)
        let client = try await harness.client()
        let time = Timestamp(milliseconds: WallClock.milliseconds)
        let error = TransferError(.permissionDenied, "host refused the login", .step("give another one"))
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let tried = try await harness.queue.writer.claim(lane.lane, limit: 1, now: time)[0]
        harness.queue.writer.record(
            .waiting(WaitReasons(.auth), retryAt: nil, error: error), for: tried.claim)
        try await harness.queue.writer.commit()
        var live = LiveSnapshot()
        live.refused = [
            RefusedLogin(
                place: .init(batch: batch, origin: lane.origin), refusal: .init(.auth, error), isWhole: true, files: 3)
        ]
        await harness.engine.show(live)
        func expect(_ count: Int64) async throws {
            let shown = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
            #expect(shown.waits.map(\.reason) == [.auth] && shown.waits.map(\.count) == [count])
            let totals = try await client.call(Methods.totals, Nothing())
            #expect(totals.problems == count && totals.needsPerson == count && totals.problemCauses == 1)
        }
        try await expect(4)
        // The others wait all the same when that one is given up.
        _ = try await harness.queue.writer.cancel([.task(tried.id)])
        try await expect(3)
        _ = try await harness.queue.writer.pause([.batch(batch)])
        let shown = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
        let totals = try await client.call(Methods.totals, Nothing())
        #expect(shown.waits.isEmpty && totals.problems == 0 && totals.problemCauses == 0)
        try await harness.end()
    }

    @Test func `files of a batch that leads to several dead servers are counted once, each with its own`() async throws
    {
        let harness = try await ServiceHarness()
        let sources = ["http://one/a", "http://one/b", "http://two/c"].map {
            DownloadSource(url: $0, directory: RawPath("/dst"), fileName: RawPath(String($0.suffix(1))))
        }
        let batch = try await harness.queue.writer.add(BatchRequest(work: .download(sources))).batch
        // One file has had a try of its own.
        let time = Timestamp(milliseconds: WallClock.milliseconds)
        let one = try #require(try await harness.queue.writer.lanes().first { $0.origin == "http://one:80" })
        let tried = try await harness.queue.writer.claim(one.lane, limit: 1, now: time)
        let error = TransferError(.cannotConnectToHost, "it does not accept the connection", .step("look"))
        harness.queue.writer.record(
            .waiting(WaitReasons(.hostBackoff), retryAt: time.advanced(by: .seconds(60)), error: error),
            for: tried[0].id)
        try await harness.queue.writer.commit()
        var live = LiveSnapshot()
        // The third has nothing left of the batch.
        live.troubles = [("one", 1), ("two", 1), ("three", 0)].map { server, files in
            HostTrouble(
                place: .init(batch: batch, origin: "http://\(server):80"), since: time, error: error, isWhole: false,
                files: files)
        }
        await harness.engine.show(live)
        let client = try await harness.client()
        let shown = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
        #expect(shown.waits.map(\.server) == ["one", "two"] && shown.waits.map(\.count) == [2, 1])
        #expect(try await client.call(Methods.totals, Nothing()).needsServer == 3)
        try await harness.end()
    }

    @Test func `a server that asked for a long pause is said to have done so, and not to serve nothing`() async throws {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(2)
        let time = Timestamp(milliseconds: WallClock.milliseconds)
        let error = TransferError(.http, "host:80 answered 503 Service Unavailable", .again, httpStatus: 503)
        var live = LiveSnapshot()
        live.troubles = [
            HostTrouble(
                place: .init(batch: batch, origin: "http://host:80"), since: time,
                retryAt: time.advanced(by: .seconds(600)), error: error, isWhole: true, files: 2, isAskedPause: true)
        ]
        live.held[batch] = HeldHost(
            origin: "http://host:80", until: time.advanced(by: .seconds(600)), error: error)
        await harness.engine.show(live)
        let client = try await harness.client()
        let wait = try #require(
            try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch.waits.first)
        #expect(wait.code == nil && wait.count == 2 && wait.server == "host")
        #expect(wait.message == "host:80 answered 503 Service Unavailable and asked for a pause")
        let why = try #require(
            try await client.call(Methods.why, WhyRequest(id: .batch(batch))).answers.first)
        #expect(why.sentence.contains("answered 503 Service Unavailable and asked for a pause; next try in"))
        #expect(why.unblock == WaitCount.remedyOfPause.text)
        try await harness.end()
    }

    @Test func `what moves is laid over the sums of every folder above it`() async throws {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(2)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let tasks = try await harness.queue.writer.claim(
            lane.lane, limit: 2, now: Timestamp(milliseconds: WallClock.milliseconds))
        let client = try await harness.client()
        let wanted = ViewRequest(
            sections: [SectionRequest(parent: nil, limit: 9)], nodes: [.batch(batch), .task(tasks[0].id)], totals: true)
        _ = try await client.call(Methods.viewSet, wanted)
        _ = try await client.notification(.viewChanged, ViewChange.self)
        try await until { await harness.engine.isWatched }
        await harness.engine.show(
            LiveSnapshot(
                tasks: tasks.map { task in
                    LiveTask(
                        task: task.id, batch: batch, folder: task.folder, direction: .download, state: .running,
                        bytesTotal: 1000, bytesSent: 400, bytesAccepted: 300, bytesRepeated: 0, bytesPerSecond: 50,
                        secondsLeft: 12, isStalled: false)
                },
                left: [LeftSpeed(batch: batch, folder: tasks[0].folder, direction: .download, bytesPerSecond: 25)]))
        var shown: [NodeID: NodeRow] = [:]
        var totals: QueueTotals?
        while shown[.batch(batch)]?.bytes.sent != 800 || totals?.bytes.sent != 800 {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            for node in change.nodes { shown[node.id] = node.node }
            totals = change.totals ?? totals
        }
        let row = try #require(shown[.batch(batch)])
        #expect(row.bytes == ByteCounts(total: 2000, sent: 800, accepted: 600))
        #expect(row.counts.running == 2 && row.counts.total == 2)
        #expect(row.state == .running)
        #expect(row.bytesPerSecond == 125 && row.secondsLeft == 10, "the files that move, and one that just was over")
        #expect(shown[.task(tasks[0].id)]?.bytes.sent == 400)
        #expect(totals?.bytesPerSecondDown == 125, "the header shows the sum of what the batches show")
        let snapshot = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
        #expect(snapshot.filesActive == 2 && snapshot.filesWaiting == 0 && snapshot.bytesSent == 800)
        #expect(snapshot.bytesPerSecond == 125)
        #expect(try await client.call(Methods.engineStatus, Nothing()).bytesPerSecondDown == 125)
        // What is paused shows no speed, so nothing above it counts any.
        _ = try await harness.queue.writer.pause([.batch(batch)])
        while totals?.bytesPerSecondDown != 0 {
            let change = try await client.notification(.viewChanged, ViewChange.self)
            for node in change.nodes { shown[node.id] = node.node }
            totals = change.totals ?? totals
        }
        #expect(shown[.batch(batch)]?.bytesPerSecond == 0 && shown[.task(tasks[0].id)]?.bytesPerSecond == 0)
        try await harness.end()
    }

    @Test func `the engine tells what moves only while somebody looks`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        #expect(await !harness.engine.isWatched)
        _ = try await client.call(Methods.viewSet, root)
        try await until { await harness.engine.isWatched }
        _ = try await client.call(Methods.viewSet, ViewRequest())
        try await until { await !harness.engine.isWatched }
        _ = try await client.call(Methods.viewSet, root)
        try await until { await harness.engine.isWatched }
        client.socket.close()
        try await until { await !harness.engine.isWatched }
        try await harness.end()
    }

    @Test func `a node that is not there is null, and comes when it is`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let id = NodeID.batch(BatchID(rawValue: 1))
        _ = try await client.call(Methods.viewSet, ViewRequest(nodes: [id]))
        #expect(try await client.notification(.viewChanged, ViewChange.self).nodes == [WatchedNode(id: id, node: nil)])
        try await harness.add(1)
        #expect(try await client.notification(.viewChanged, ViewChange.self).nodes.first?.node?.counts.total == 1)
        try await harness.end()
    }

    @Test func `a view with a filter shows what matches, says how far it is, and follows what changes`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let one = try await harness.add(12, name: "one")
        try await harness.add(3, name: "two")
        let filtered = ViewRequest(
            sections: [SectionRequest(parent: nil, limit: 50), SectionRequest(parent: .batch(one), limit: 50)],
            filter: "batch:one f1")
        _ = try await client.call(Methods.viewSet, filtered)
        var change = try await client.notification(.viewChanged, ViewChange.self)
        while change.filter?.complete != true { change = try await client.notification(.viewChanged, ViewChange.self) }
        #expect(change.filter == FilterCount(text: "batch:one f1", matched: 3, total: 15, complete: true))
        #expect(change.sections.first { $0.parent == nil }?.rows.map(\.id) == [.batch(one)])
        #expect(change.sections.first { $0.parent == .batch(one) }?.rows.map(\.name) == ["f1", "f10", "f11"])
        // Of a finished batch the files that match are still the same, in another state.
        try await harness.completeAll()
        var rows: [NodeRow] = []
        while rows.count != 3 || !rows.allSatisfy({ $0.state == .completed }) {
            for section in try await client.notification(.viewChanged, ViewChange.self).sections
            where section.parent == .batch(one) { rows = section.rows }
        }
        let wrong = try await #require(throws: WireError.self) {
            try await client.call(Methods.viewSet, ViewRequest(totals: true, filter: "size>"))
        }
        #expect(wrong.requestError.code == .usage)
        // A selector means the files, whatever their batch.
        let selector = NodeSelector(filter: "f1")
        let results = try await client.call(Methods.nodesRetry, NodesRequest(selector: selector)).results
        #expect(results.count == 4)
        try await harness.end()
    }

    @Test func `a filter whose search goes wrong once is looked up again`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        try await harness.add(3)
        // As if the disk had failed under the reader.
        let queue = try SQLiteConnection(path: Array(harness.places.queueFile.utf8), access: .readWrite)
        try queue.execute(script: "ALTER TABLE tasks RENAME TO tasks_away")
        _ = try await client.call(Methods.viewSet, ViewRequest(totals: true, filter: "f1"))
        try await until { await harness.service.hasStaleFilter }
        try queue.execute(script: "ALTER TABLE tasks_away RENAME TO tasks")
        var found: FilterCount?
        while found?.complete != true {
            found = try await client.notification(.viewChanged, ViewChange.self).filter ?? found
        }
        #expect(found?.matched == 1)
        try await harness.end()
    }

    @Test func `a view that asks for too much, and a seventeenth with sections, are refused`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let many = (1...1001).map { NodeID.task(TaskID(rawValue: $0)) }
        let tooMuch = try await #require(throws: WireError.self) {
            try await client.call(Methods.viewSet, ViewRequest(nodes: many))
        }
        #expect(tooMuch.requestError.code == .usage)
        let roots = [SectionRequest(parent: nil, limit: 10)]
        for number in 0..<16 { _ = try await client.call(Methods.viewSet, ViewRequest(view: number, sections: roots)) }
        let seventeenth = try await #require(throws: WireError.self) {
            try await client.call(Methods.viewSet, ViewRequest(view: 16, sections: roots))
        }
        #expect(seventeenth.requestError.code == .refused)
        // Whoever waits for single nodes may do so for many.
        for number in 16..<1000 {
            _ = try await client.call(Methods.viewSet, ViewRequest(view: number, nodes: [many[number]]))
        }
        let more = try await #require(throws: WireError.self) {
            try await client.call(Methods.viewSet, ViewRequest(view: 1000, totals: true))
        }
        #expect(more.requestError.code == .refused)
        try await harness.end()
    }
}

extension TransferService {
    /// What all clients together have not read.
    var unreadBytes: Int { clients.values.reduce(0) { $0 + $1.unreadBytes } }
}

extension TransferService {
    /// What a search found is to be looked up again.
    fileprivate var hasStaleFilter: Bool {
        clients.values.contains { client in client.views.values.contains { $0.filter?.isStale == true } }
    }
}
