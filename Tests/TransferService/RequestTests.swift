import FoundationEssentials
import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

/// What the methods do, over the socket.
@Suite struct RequestTests {
    @Test("an engine that ends answers nobody who wants something moved: the next engine does")
    func ending() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        await harness.engine.end()
        let request = #"{"jsonrpc":"2.0","id":7,"method":"engine.goOn","params":{}}"#
        await client.send(request)
        #expect(await client.line() == nil)
        try await harness.end()
    }

    @Test func `a request behind the queue's end is left to the next engine`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(1)
        try await harness.queue.close()
        await client.send(
            #"{"jsonrpc":"2.0","id":7,"method":"nodes.pause","params":{"ids":["\#(batch)"]}}"#)
        #expect(await client.line() == nil)
        try await harness.end()
    }

    @Test func `a batch is durable when its answer comes, and the same UUID finds it again`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let request = BatchRequest.downloads(2, name: "two")
        let added = try await client.call(Methods.batchAdd, request)
        #expect(!added.existed && added.batch.filesTotal == 2 && added.batch.uuid == request.uuid)
        let again = try await client.call(Methods.batchAdd, request)
        #expect(again.existed && again.batch.id == added.batch.id)
        #expect(await harness.engine.added == [added.batch.id])
        // Even though it could not be queued any more.
        var refused = request
        refused.options.caFile = RawPath("/no/such/file")
        #expect(try await client.call(Methods.batchAdd, refused).existed)
        #expect(
            try await client.call(Methods.batchShow, BatchShowRequest(uuid: request.uuid)).batch.id == added.batch.id)
        let none = try await #require(throws: WireError.self) {
            try await client.call(Methods.batchShow, BatchShowRequest(uuid: UUID()))
        }
        #expect(none.requestError.code == .noSuchObject)
        try await harness.end()
    }

    @Test(arguments: ["gopher://h/x", "file:///etc/passwd", "nonsense", ""])
    func `what cannot be done is refused by name and nothing is queued`(_ url: String) async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let source = DownloadSource(url: url, directory: RawPath("/d"), fileName: nil)
        let error = try await #require(throws: WireError.self) {
            try await client.call(Methods.batchAdd, BatchRequest(work: .download([source])))
        }
        #expect(error.requestError.code == .usage)
        let known = RefusedRequestTests.schemes { $0.downloads }
        #expect(error.message == "\(url.prefix { $0 != ":" }): this scheme is not supported: use \(known)")
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.isEmpty)
        try await harness.end()
    }

    @Test func `nodes are paused, resumed and cancelled by ID, row and selector, and the engine is told`() async throws
    {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await client.call(Methods.batchAdd, .downloads(4, name: "n")).batch.id
        let paused = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(rows: [.batch(batch)])))
            .results
        #expect(paused == [NodeResult(id: .batch(batch), result: .done)])
        let again = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: [.batch(batch)]))).results
        #expect(again.first?.result == .already)
        _ = try await client.call(Methods.nodesResume, NodesRequest(selector: NodeSelector(batch: batch)))
        #expect(try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch.state == .running)
        let unknown = NodeID.task(TaskID(rawValue: 99))
        let task = NodeID.task(TaskID(rawValue: 2))
        let mixed = try await client.call(Methods.nodesCancel, NodesRequest(ids: [unknown, task])).results
        #expect(mixed.map(\.result) == [.refused, .done])
        #expect(mixed[0].code == .noSuchObject)
        let rest = try await client.call(
            Methods.nodesCancel, NodesRequest(selector: NodeSelector(batch: batch, states: [.queued])))
        #expect(rest.results.count == 3)
        // Who looks for the reason later finds who it was.
        let log = try await client.call(Methods.logRead, LogReadRequest(level: .info, batch: batch)).lines
        let said = log.filter { $0.message.hasPrefix("cancelled by test; what it leaves behind is removed in 10 s") }
        #expect(said.count == 4 && said.first?.task == TaskID(rawValue: 2), "\(log.map(\.message))")
        #expect(await harness.engine.changes >= 4)
        let undone = try await client.call(Methods.nodesUndo, UndoRequest())
        #expect(undone.undone == .cancel)
        #expect(undone.results.contains { $0.result == .done })
        try await harness.end()
    }

    @Test func `the engine lists on what the undo of a cancel takes up, and hears of nothing else`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await halfListed(harness)
        let nodes = NodesRequest(ids: [.batch(batch)])
        let task = try await harness.queue.reader.tasks(batch: batch, limit: 1)[0].id
        _ = try await client.call(Methods.nodesCancel, NodesRequest(ids: [.task(task)]))
        _ = try await client.call(Methods.nodesCancel, nodes)
        _ = try await client.call(Methods.nodesUndo, UndoRequest(ids: [.task(task)]))
        #expect(await harness.engine.added == [])
        _ = try await client.call(Methods.nodesUndo, UndoRequest(ids: [.batch(batch)]))
        #expect(await harness.engine.added == [batch])
        try await harness.end()
    }

    /// A batch of which a file is known and a folder is still to be listed; the engine was not told of it.
    private func halfListed(_ harness: ServiceHarness) async throws -> BatchID {
        let source = UploadSource(path: RawPath("/src"), placement: .named(RawPath("src")))
        let request = BatchRequest(work: .upload([source], to: "http://host/in/"))
        let writer = harness.queue.writer
        let batch = try await writer.add(request).batch
        let found = try await writer.unscannedSources(of: batch)[0].source
        try await writer.begin([FoundSource(source: found, kind: .directory(nil))])
        let top = try await writer.foldersToWalk(of: found, limit: 1)[0]
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        let identity = SourceIdentity(size: 1, modifiedNanoseconds: 1, inode: 1)
        chunk.files = [WalkedFile(name: RawPath("a"), identity: identity)]
        chunk.folders = [RawPath("lib")]
        try await writer.insert(walked: [chunk])
        return batch
    }

    @Test func `the engine lists on what a retry takes up`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await halfListed(harness)
        let nodes = NodesRequest(ids: [.batch(batch)])
        _ = try await client.call(Methods.nodesCancel, nodes)
        let retry = try await client.call(Methods.nodesRetry, nodes)
        #expect(retry.results.map(\.result) == [.done])
        #expect(await harness.engine.added == [batch])
        try await harness.end()
    }

    @Test
    func `a retry of what only stands in line asks its server at once, and says so; not one that asked for a pause`()
        async throws
    {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (alone, paused, free) = (
            try await harness.add(2), try await harness.add(2, name: "p"), try await harness.add(2, name: "q")
        )
        let host = HeldHost(origin: "http://host:80", until: Timestamp(milliseconds: .max), error: nil)
        var live = LiveSnapshot()
        live.held = [alone: host, paused: host]
        await harness.engine.show(live)
        await harness.engine.pauseByServer(paused)
        let ids = [alone, paused, free].map { NodeID.batch($0) }
        let results = try await client.call(Methods.nodesRetry, NodesRequest(ids: ids)).results
        #expect(results.map(\.result) == [.done, .already, .already])
        try await harness.end()
    }

    @Test func `the log names batch and file, what people did and who, and counts what failed for one cause`()
        async throws
    {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        var request = BatchRequest.downloads(40, name: "n")
        request.name = BatchName(rawValue: "ho\u{1B}[2Jliday")
        let batch = try await client.call(Methods.batchAdd, request).batch.id
        let ids = NodesRequest(ids: [.batch(batch)])
        _ = try await client.call(Methods.nodesPause, PauseRequest(ids))
        _ = try await client.call(Methods.nodesResume, ids)
        _ = try await client.call(
            Methods.nodesSet, SetRequest(ids: [.batch(batch)], settings: NodeSettings(priority: .high, limit: 2048)))
        let limits = try await client.call(Methods.limitsSet, LimitsChange(up: 0, transfers: 3))
        #expect(limits.operation != nil)
        _ = try await client.call(Methods.nodesMove, MoveRequest(ids: [.task(TaskID(rawValue: 7))], to: .top))
        _ = try await client.call(Methods.nodesUndo, UndoRequest())
        let many = NodesRequest(ids: (11...20).map { .task(TaskID(rawValue: $0)) })
        _ = try await client.call(Methods.nodesCancel, many)
        func lines(_ level: LogLevel) async throws -> [LogLine] {
            try await client.call(Methods.logRead, LogReadRequest(level: level)).lines.filter { $0.level == level }
        }
        let user = try await lines(.user)
        let grace = "; what it leaves behind is removed in 10 s unless it is undone"
        #expect(
            user.map(\.message) == [
                "paused by test, 40 files", "resumed by test, 40 files",
                "limit 2K/s, priority high set by test, 40 files", "limits set by test: up off, 3 at once",
                "moved to the top by test", "move taken back by test",
            ] + Array(repeating: "cancelled by test" + grace, count: 5) + ["5 more: cancelled by test" + grace])
        #expect(user[0].place == "ho\\x1b[2Jliday" && user[0].batch == batch && user[3].place == nil)
        #expect(user[4].place == "ho\\x1b[2Jliday f6" && user[4].task == TaskID(rawValue: 7), "\(user[4])")
        // Ten files are missing, and all others are there.
        let time = Timestamp(milliseconds: WallClock.milliseconds)
        let lane = try #require(try await harness.queue.writer.lanes().first { $0.ready > 0 })
        let tasks = try await harness.queue.writer.claim(lane.lane, limit: 100, now: time)
        for (index, task) in tasks.enumerated() {
            let error = TransferError(.http, "host answered 404 Not Found", .step("check the address"), httpStatus: 404)
            let completion = Completion(size: 10, verified: .size)
            harness.queue.writer.record(index < 10 ? .failed(error) : .completed(completion), for: task.claim)
        }
        try await harness.queue.writer.commit()
        try await until { try await lines(.warning).contains { $0.message.hasPrefix("over") } }
        #expect(try await lines(.error).count == 1)
        #expect(
            try await lines(.warning).map(\.message).prefix(1) == [
                "9 more files stopped for the same cause (answered 404)"
            ])
        try await harness.end()
    }

    @Test func `a selector that names what is not there is refused, not answered with nothing`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(1)
        let nowhere = [
            NodeSelector(session: SessionName(rawValue: "nope")), NodeSelector(batch: BatchID(rawValue: 99)),
            NodeSelector(batch: BatchID(rawValue: 99), states: [.failed]),
        ]
        for selector in nowhere {
            await #expect {
                // Nothing of the request is done, not even to what it names beside that.
                _ = try await client.call(Methods.nodesCancel, NodesRequest(ids: [.batch(batch)], selector: selector))
            } throws: {
                ($0 as? WireError)?.requestError.code == .noSuchObject
            }
        }
        let left = try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch
        #expect(!left.state.isTerminal)
        try await harness.end()
    }

    @Test func `a selector passes over batches that are over, an ID does not`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let over = try await harness.add(1)
        try await harness.completeAll()
        let batch = try await harness.add(1, name: "other")
        let all = try await client.call(Methods.nodesCancel, NodesRequest(selector: NodeSelector())).results
        var done = NodeResult(id: .batch(batch), result: .done)
        done.files = 1
        #expect(all == [done])
        let named = try await client.call(Methods.nodesCancel, NodesRequest(ids: [.batch(over)])).results
        #expect(named.map(\.result) == [.refused])
        try await harness.end()
    }

    @Test func `a selector passes over a task that ended before it could be changed, an ID does not`() async throws {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(2)
        let selector = NodeSelector(batch: batch, states: [.queued])
        let raced = try await harness.service.change(NodesRequest(selector: selector)) { writer, nodes in
            // They were found, and end right now.
            try await harness.completeAll()
            return try await writer.cancel(nodes)
        }
        #expect(raced.results.isEmpty)
        let tasks = try await harness.queue.reader.nodes(
            matching: NodeSelector(batch: batch, states: [.completed]), limit: 10)
        let named = try await harness.service.change(NodesRequest(ids: tasks)) { try await $0.cancel($1) }
        #expect(named.results.map(\.result) == [.refused, .refused])
        // Whoever selects what is over means it.
        let over = NodeSelector(batch: batch, states: [.completed])
        let meant = try await harness.service.change(NodesRequest(selector: over)) { try await $0.cancel($1) }
        #expect(meant.results.map(\.result) == [.refused, .refused])
        try await harness.end()
    }

    @Test func `who stops what cannot be resumed is told how much is sent again`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(3)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let tasks = try await harness.queue.writer.claim(lane.lane, limit: 3, now: now)
        await harness.engine.show(
            LiveSnapshot(
                tasks: tasks.enumerated().map { place, task in
                    var live = LiveTask(
                        task: task.id, batch: batch, folder: task.folder, direction: .upload, state: .running,
                        bytesTotal: 1000, bytesSent: 400, bytesAccepted: 0, bytesRepeated: 0, bytesPerSecond: 50,
                        secondsLeft: 12, isStalled: false)
                    // The last one's server remembers what it has.
                    if place < 2 { live.bytesAtRisk = 400 }
                    live.averageBytesPerSecond = 40
                    return live
                }))
        let ids = tasks.map { NodeID.task($0.id) }
        let row = try await client.call(Methods.nodeShow, NodeShowRequest(id: ids[0])).node
        #expect(row.averageBytesPerSecond == 40 && row.bytesAtRisk == 400)
        let one = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: [ids[0], ids[2]]))).results
        #expect(one.map(\.bytesToRepeat) == [400, nil])
        let rest = try await client.call(Methods.nodesCancel, NodesRequest(ids: [.batch(batch)])).results
        #expect(rest.map(\.bytesToRepeat) == [400])
        try await harness.end()
    }

    @Test func `tasks come page by page, with filters`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(25)
        var ids: [TaskID] = []
        var request = TaskListRequest(batch: batch, limit: 10)
        repeat {
            let page = try await client.call(Methods.taskList, request)
            ids += page.tasks.map(\.id)
            request.after = page.next
        } while request.after != nil
        #expect(ids == (1...25).map { TaskID(rawValue: $0) })
        let failed = try await client.call(Methods.taskList, TaskListRequest(batch: batch, states: [.failed]))
        #expect(failed.tasks.isEmpty && failed.next == nil)
        // With a filter a page is what a stretch of the queue has.
        func matching(_ filter: String, states: [TransferState] = []) async throws -> [TaskID] {
            var found: [TaskID] = []
            var request = TaskListRequest(batch: batch, states: states, filter: filter, limit: 2)
            repeat {
                let page = try await client.call(Methods.taskList, request)
                #expect(page.tasks.count <= 2)
                found += page.tasks.map(\.id)
                request.after = page.next
            } while request.after != nil
            return found
        }
        #expect(try await matching("size>=0 | @wait") == ids)
        #expect(try await matching("@wait", states: [.failed]).isEmpty)
        #expect(try await matching("!id:b1/t3 (id:b1/t3 | id:b1/t5)") == [TaskID(rawValue: 5)])
        for request in [
            TaskListRequest(filter: "size>"), TaskListRequest(session: .default, filter: "@err"),
        ] {
            let wrong = try await #require(throws: WireError.self) { try await client.call(Methods.taskList, request) }
            #expect(wrong.requestError.code == .usage)
        }
        let missing = try await #require(throws: WireError.self) {
            try await client.call(Methods.taskList, TaskListRequest(batch: BatchID(rawValue: 9)))
        }
        #expect(missing.requestError.code == .noSuchObject)
        try await harness.end()
    }

    @Test func `the throughput is of everything or of one batch, with what the process uses`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let all = try await client.call(Methods.throughput, ThroughputRequest())
        #expect(all.batch == nil && all.series.map(\.up) == [[7]])
        #expect(all.sentToday == 11 && all.receivedToday == 12 && all.errors == 2 && all.errorSeconds == 300)
        let process = try #require(all.process)
        // The queue's files at least.
        #expect(process.residentBytes > 1 << 20 && process.openFiles >= 2 && process.cpuMilliseconds >= 0)
        let batch = BatchID(rawValue: 4)
        #expect(try await client.call(Methods.throughput, ThroughputRequest(batch: batch)).batch == batch)
        try await harness.end()
    }

    @Test func `a file that goes in parts tells them while it runs`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(1)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await harness.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        let parts = [PartRun(first: 1, last: 2, state: .running, bytesTotal: 10, bytesSent: 5)]
        await harness.engine.setParts(parts, of: task.id)
        let request = TaskShowRequest(task: task.id)
        #expect(try await client.call(Methods.taskShow, request).task.parts == nil)
        await harness.engine.show(
            LiveSnapshot(tasks: [
                LiveTask(
                    task: task.id, batch: batch, folder: task.folder, direction: .upload, state: .running,
                    bytesTotal: 10, bytesSent: 5, bytesAccepted: 0, bytesRepeated: 0, bytesPerSecond: 1,
                    secondsLeft: 5, isStalled: false)
            ]))
        let shown = try await client.call(Methods.taskShow, request).task
        #expect(shown.parts == parts)
        #expect(shown.attempt == AttemptFigures(averageBytesPerSecond: 4, bestBytesPerSecond: 6, resumable: true))
        #expect(shown.rules == TaskRules(giveUpAfterSeconds: 14 * 86_400))
        let listed = try await client.call(Methods.taskList, TaskListRequest(batch: batch)).tasks
        #expect(listed.allSatisfy { $0.attempt == nil && $0.rules == nil })
        try await harness.end()
    }

    @Test func `while the queue cannot be written why says so, what to do, and nothing of itself`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(2)
        let over = try await harness.add(1, name: "over")
        _ = try await client.call(Methods.nodesCancel, NodesRequest(ids: [.batch(over)]))
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await harness.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        let file = harness.places.queueFile
        try System.rename(Array(file.utf8), to: Array((file + ".away").utf8))
        harness.queue.writer.record(.running, for: task.claim)
        await #expect(throws: QueueError.self) { try await harness.queue.writer.commit() }
        let told = try await client.call(Methods.why, WhyRequest(id: .batch(batch))).answers
        let cause = "\(file) was deleted or replaced while the engine runs, and nothing is queued any more"
        #expect(told.first?.sentence == "b1 stands still: \(cause)")
        #expect(told.first?.unblock.hasPrefix("put it back, or run 'martlet engine stop --now'") == true)
        #expect(try await client.call(Methods.why, WhyRequest()).answers.map(\.sentence) == told.map(\.sentence))
        // What is over does not stand still.
        let ended = try await client.call(Methods.why, WhyRequest(id: .batch(over))).answers
        #expect(ended.first?.sentence.contains("stands still") == false)
        try System.rename(Array((file + ".away").utf8), to: Array(file.utf8))
        try await harness.queue.writer.commit()
        let after = try await client.call(Methods.why, WhyRequest(id: .batch(batch))).answers
        #expect(after.allSatisfy { !$0.sentence.contains("stands still") })
        try await harness.end()
    }

    @Test func `why says what is paused and by what`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        #expect(try await client.call(Methods.why, WhyRequest()).answers.isEmpty)
        let batch = try await harness.add(2)
        _ = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: [.batch(batch)])))
        let answers = try await client.call(Methods.why, WhyRequest(id: .task(TaskID(rawValue: 1)))).answers
        #expect(answers.first?.sentence.hasSuffix("is paused because its batch \"batch\" (b1) is") == true)
        #expect(answers.first?.unblock == "martlet resume b1")
        #expect(try await client.call(Methods.why, WhyRequest()).answers.map(\.id) == [.batch(batch)])
        try await harness.end()
    }

    @Test func `limits are changed one by one and bad ones refused`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        var changed = try await client.call(Methods.limitsSet, LimitsChange(up: 1000, transfers: 3))
        changed.operation = nil
        #expect(changed == TransferLimits(up: 1000, down: nil, transfers: 3, transfersPerHost: 8))
        #expect(try await client.call(Methods.limitsSet, LimitsChange(up: 0)).up == nil)
        await #expect(throws: WireError.self) { try await client.call(Methods.limitsSet, LimitsChange(transfers: 0)) }
        await #expect(throws: WireError.self) { try await client.call(Methods.limitsSet, LimitsChange(down: -1)) }
        #expect(try await client.call(Methods.limitsGet, Nothing()).transfers == 3)
        try await harness.end()
    }

    @Test func `what is over is purged, what is not stays`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let done = try await harness.add(2, name: "done")
        try await harness.completeAll()
        let open = try await harness.add(2, name: "open")
        _ = try await client.call(Methods.nodesPurge, NodesRequest())
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.map(\.id) == [open])
        let refused = try await client.call(Methods.nodesPurge, NodesRequest(ids: [.batch(open), .batch(done)]))
        #expect(refused.results.map(\.result) == [.refused, .refused])
        try await harness.end()
    }
}
