import Configuration
import FoundationEssentials
import LinuxSystem
import ServiceWire
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

/// Order, settings and limits over the socket.
@Suite struct LimitTests {
    /// A clock on the wall that a test sets: seconds since Sunday 00:00.
    private final class WallClockHands: Sendable {
        private let second: Mutex<Int>
        init(hour: Int) { second = Mutex(hour * 3600) }
        func set(hour: Int) { second.withLock { $0 = hour * 3600 } }
        var now: Int { second.withLock { $0 } }
    }

    @Test func `a timetable gives what the clock says, is kept, and gives way to an undo`() async throws {
        let clock = WallClockHands(hour: 9)
        var settings = ServiceSettings(idleExit: nil)
        settings.secondOfWeek = { clock.now }
        let harness = try await ServiceHarness(settings: settings)
        let client = try await harness.client()
        let set = try await client.call(
            Methods.limitsSet, LimitsChange(upTimetable: "08:00,512K 18:00,off", transfers: 3))
        #expect(set.up == 512 << 10 && set.upTimetable == "08:00,512K 18:00,off" && set.transfers == 3)
        #expect(await harness.engine.limits().bytesPerSecondUp == 512 << 10)
        #expect(try await client.call(Methods.totals, Nothing()).limitUp == 512 << 10)
        #expect(try await harness.queue.writer.storedLimits().up == "08:00,512K 18:00,off")
        clock.set(hour: 19)
        let evening = try await client.call(Methods.limitsSet, LimitsChange(down: 7))
        #expect(evening.up == nil && evening.upTimetable != nil && evening.down == 7)
        let back = try await client.call(Methods.nodesUndo, UndoRequest())
        #expect(back.undone == .limit && back.limits?.down == nil && back.limits?.upTimetable != nil)
        _ = try await client.call(Methods.nodesUndo, UndoRequest())
        #expect(try await client.call(Methods.limitsGet, Nothing()).upTimetable == nil)
        let wrong = try await #require(throws: WireError.self) {
            try await client.call(Methods.limitsSet, LimitsChange(upTimetable: "tea time"))
        }
        #expect(wrong.requestError.code == .usage)
        try await harness.end()
    }

    @Test func `the engine reads the settings that an undo of several nodes brings back`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batches = [try await harness.add(1, name: "a"), try await harness.add(1, name: "b")].map {
            NodeID.batch($0)
        }
        _ = try await client.call(Methods.nodesPause, PauseRequest(NodesRequest(ids: [batches[1]])))
        _ = try await client.call(
            Methods.nodesSet, SetRequest(ids: [batches[0]], settings: NodeSettings(ifExists: .replace)))
        #expect(await harness.engine.settings == 1)
        let back = try await client.call(Methods.nodesUndo, UndoRequest(ids: batches))
        #expect(back.results.map(\.result) == [.done, .done])
        #expect(await harness.engine.settings == 2)
        try await harness.end()
    }

    @Test func `an answer that cannot be made says that the change was`() async throws {
        let harness = try await ServiceHarness()
        let error = try await #require(throws: RequestError.self) {
            try await harness.service.answering { throw QueueError.badRequest("the disk") }
        }
        #expect(error.code == .engineUnreachable)
        #expect(error.message.contains("but how things stand now could not be read"), "\(error)")
        await #expect(throws: QueueError.closed) { try await harness.service.answering { throw QueueError.closed } }
        try await harness.end()
    }

    @Test func `hosts and sessions have limits, of which the engine is told`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let host = ScopedLimit(kind: .host, name: "NAS.example", rate: 10)
        let set = try await client.call(
            Methods.limitsSet,
            LimitsChange(scoped: [host, ScopedLimit(kind: .session, name: "photos", rate: 5)]))
        #expect(set.scoped.map(\.name) == ["nas.example", "photos"])
        #expect(await harness.engine.settings == 1)
        let gone = try await client.call(
            Methods.limitsSet, LimitsChange(scoped: [ScopedLimit(kind: .host, name: "nas.example", rate: 0)]))
        #expect(gone.scoped.map(\.name) == ["photos"])
        await #expect(throws: WireError.self) {
            try await client.call(
                Methods.limitsSet,
                LimitsChange(scoped: [ScopedLimit(kind: .host, name: "https://nas/x", rate: 1)]))
        }
        try await harness.end()
    }

    @Test func `what is moved and set is told to the engine, shown, and taken back by its number`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(3)
        let task = NodeID.task(TaskID(rawValue: 3))
        let moved = try await client.call(Methods.nodesMove, MoveRequest(ids: [task], to: .top))
        #expect(moved.results == [NodeResult(id: task, result: .done)])
        #expect(await harness.engine.orders == [[batch]])
        let settings = NodeSettings(priority: .high, limit: 4096)
        _ = try await client.call(Methods.nodesSet, SetRequest(rows: [.batch(batch)], settings: settings))
        let shown = try await client.call(Methods.nodeShow, NodeShowRequest(id: .batch(batch))).node
        #expect(shown.priority == .high && shown.limit == 4096)
        _ = try await client.call(Methods.nodesRunNow, NodesRequest(ids: [.batch(batch)]))
        let back = try await client.call(Methods.nodesUndo, UndoRequest(operation: moved.operation))
        #expect(back.undone == .move && back.results.map(\.id) == [task])
        #expect(try await client.call(Methods.nodesUndo, UndoRequest()).undone == .runNow)
        #expect(try await client.call(Methods.nodesUndo, UndoRequest()).undone == .set)
        #expect(try await client.call(Methods.batchShow, BatchShowRequest(batch: batch)).batch.limit == nil)
        await #expect(throws: WireError.self) {
            try await client.call(Methods.nodesSet, SetRequest(ids: [task], settings: NodeSettings()))
        }
        await #expect(throws: WireError.self) {
            try await client.call(Methods.nodesMove, MoveRequest(ids: [task], to: .before))
        }
        try await harness.end()
    }

    @Test func `what lets a batch in is given anew: the engine has it before what waits for it goes on`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(2)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let claimed = try await harness.queue.writer.claim(lane.lane, limit: 1, now: .init(milliseconds: 1))
        let refusal = TransferError(.http, "no", httpStatus: 401)
        harness.queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: refusal), for: claimed[0].claim)
        try await harness.queue.writer.commit()
        var secrets = TransferSecrets()
        secrets.headers = [HeaderField("Authorization", "Bearer new")]
        let task = NodeID.task(claimed[0].id)
        func set(_ node: NodeID, _ settings: NodeSettings = NodeSettings()) async throws -> [NodeResult] {
            try await client.call(
                Methods.nodesSet, SetRequest(ids: [node], settings: settings, secrets: secrets)
            ).results
        }
        let refused = try await set(task)
        #expect(refused.first?.result == .refused && refused.first?.message?.contains("martlet set \(batch)") == true)
        #expect(try await harness.queue.reader.task(claimed[0].id)?.waitReasons == [.auth])
        let told = await harness.engine.settings
        #expect(try await set(.batch(batch), NodeSettings(limit: 2048)).map(\.result) == [.done])
        #expect(await harness.engine.settings > told)
        #expect(try await harness.queue.writer.order(of: batch)?.secrets == secrets)
        #expect(try await harness.queue.reader.task(claimed[0].id)?.state == .queued)
        #expect(try await harness.queue.reader.batch(batch)?.limit == 2048)
        // Nothing new: what was refused before may be good again.
        harness.queue.writer.record(.requeued, for: claimed[0].claim)
        #expect(try await set(.batch(batch)).map(\.result) == [.already])
        try await harness.end()
    }

    @Test func `a login that is given to batches of several servers is refused, and none of them gets it`() async throws
    {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        var batches: [BatchID] = []
        for url in ["https://a/in/", "https://b/in/", "davs://a/in/"] {
            let source = UploadSource(path: RawPath("/src/x"), placement: .named(RawPath("x")))
            batches.append(try await harness.queue.writer.add(BatchRequest(work: .upload([source], to: url))).batch)
        }
        var secrets = TransferSecrets()
        (secrets.user, secrets.password) = ("ana", "secret")
        func set(_ batches: [BatchID], _ secrets: TransferSecrets) async throws -> [NodeResult] {
            try await client.call(
                Methods.nodesSet,
                SetRequest(ids: batches.map { .batch($0) }, settings: NodeSettings(), secrets: secrets)
            ).results
        }
        let error = await #expect(throws: WireError.self) { try await set(batches, secrets) }
        #expect(
            error?.message
                == "a login goes to one server, and these batches are of 2 (https://a:443, https://b:443): name those of one"
        )
        for batch in batches {
            #expect(try await harness.queue.writer.order(of: batch)?.secrets == TransferSecrets())
        }
        // WebDAV is spoken to the same server.
        #expect(try await set([batches[0], batches[2]], secrets).map(\.result) == [.done, .done])
        // One that is over is not meant by who selects, and is told nothing.
        _ = try await harness.queue.writer.cancel([.batch(batches[1])])
        let all = try await client.call(
            Methods.nodesSet, SetRequest(selector: NodeSelector(), settings: NodeSettings(), secrets: secrets))
        #expect(all.results.map(\.result) == [.already, .already])
        #expect(try await harness.queue.writer.order(of: batches[1])?.secrets == TransferSecrets())
        // Unless it is named: what failed of it is tried again with the new one.
        let one = NodeSelector(batch: batches[1])
        let given = try await client.call(
            Methods.nodesSet, SetRequest(selector: one, settings: NodeSettings(), secrets: secrets))
        #expect(given.results.map(\.result) == [.done])
        #expect(try await harness.queue.writer.order(of: batches[1])?.secrets == secrets)
        var harmless = TransferSecrets()
        harmless.headers = [HeaderField("Referer", "https://c/")]
        #expect(try await set(batches, harmless).map(\.result) == [.done, .done, .done])
        try await harness.end()
    }

    @Test func `why names the limit that binds, the order, and the time`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let batch = try await harness.add(3)
        let task = NodeID.task(TaskID(rawValue: 3))
        func why(_ node: NodeID) async throws -> WhyAnswer {
            try #require(try await client.call(Methods.why, WhyRequest(id: node)).answers.first)
        }
        _ = try await client.call(Methods.limitsSet, LimitsChange(transfers: 2))
        #expect(
            try await why(task).sentence == "\"f2\" (t3) stands in line: 2 files of its own batch before it come first")
        _ = try await client.call(Methods.nodesMove, MoveRequest(ids: [task], to: .top))
        #expect(try await why(task).sentence == "\"f2\" (t3) is being started now", "both places are free")
        let later = Timestamp(milliseconds: 4_000_000_000_000)
        _ = try await client.call(Methods.nodesSet, SetRequest(ids: [task], settings: NodeSettings(notBefore: later)))
        #expect(
            try await why(task).sentence.hasPrefix(
                "\"f2\" (t3) waits for \(WallCalendar.ofThisMachine.date(4_000_000_000).written)"))
        _ = try await client.call(
            Methods.nodesSet, SetRequest(ids: [.batch(batch)], settings: NodeSettings(limit: 2048)))
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let claimed = try await harness.queue.writer.claim(lane.lane, limit: 1, now: later)
        harness.queue.writer.record(.running, for: claimed[0].claim)
        try await harness.queue.writer.commit()
        let running = try await why(.task(claimed[0].id))
        #expect(running.sentence.hasPrefix("\"f0\" (t1) goes to /dst/f0"))
        #expect(
            running.sentence.hasSuffix(
                ": 0B so far, held to 2K/s by the limit of b1; then it is checked, and done; nothing is being waited for"
            ))
        #expect(running.unblock == "martlet set b1 --limit off")
        try await harness.end()
    }
}
