import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import CurlTransport
@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct LimitTests {
    @Test(
        "a limit that is taken away, or given, holds for what is under way",
        arguments: ["batch", "task", "folder", "host", "session"])
    func live(_ what: String) async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("d/f", [UInt8](repeating: 1, count: 400_000))
        // So slow that nobody waits for it.
        let batch = try await harness.add(harness.request(upload: ["d"]) { $0.options.bytesPerSecond = 1 })
        let task = try await harness.task(of: batch) { $0.state == .running }
        let writer = harness.queue.writer
        switch what {
        case "task": _ = try await writer.set([.task(task.id)], NodeSettings(limit: 2))
        case "folder": _ = try await writer.set([.folder(batch, path: RawPath("d"))], NodeSettings(limit: 2))
        case "host": try await writer.changeLimits(scoped: [.host("127.0.0.1"): 2])
        case "session": try await writer.changeLimits(scoped: [.session(.default): 2])
        default: break
        }
        await harness.engine.settingsChanged()
        #expect(await harness.engine.bucketCount == (what == "batch" ? 1 : 2))
        #expect(await harness.engine.bucketUsers == (what == "batch" ? 1 : 2), "what runs draws from it")
        _ = try await writer.set([.batch(batch)], NodeSettings(limit: 0))
        await harness.engine.settingsChanged()
        if what != "batch" {
            // The other one still holds.
            #expect(await harness.engine.live().tasks.first.map { $0.bytesSent < 200_000 } == true)
            switch what {
            case "task": _ = try await writer.set([.task(task.id)], NodeSettings(limit: 0))
            case "folder": _ = try await writer.set([.folder(batch, path: RawPath("d"))], NodeSettings(limit: 0))
            case "host": try await writer.changeLimits(scoped: [.host("127.0.0.1"): 0])
            default: try await writer.changeLimits(scoped: [.session(.default): 0])
            }
            await harness.engine.settingsChanged()
        }
        try await harness.finished(batch)
        #expect(harness.store.server.requests.count == 1, "nothing was broken off for it")
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("the limit of a configured server is one for all batches that go there, until one gets another")
    func shared() async throws {
        let harness = try await EngineHarness()
        for name in ["a", "b"] { try harness.sandbox.write(name, [UInt8](repeating: 1, count: 400_000)) }
        var batches: [BatchID] = []
        for name in ["a", "b"] {
            let batch = try await harness.add(
                harness.request(upload: [name]) { ($0.options.bytesPerSecond, $0.options.limitOf) = (1, "nas") })
            _ = try await harness.task(of: batch) { $0.state == .running }
            batches.append(batch)
        }
        await harness.engine.settingsChanged()
        #expect(await harness.engine.sharedUsers == ["nas": 2])
        #expect(await harness.engine.bucketCount == 0)
        _ = try await harness.queue.writer.set([.batch(batches[0])], NodeSettings(limit: 2))
        await harness.engine.settingsChanged()
        #expect(await harness.engine.sharedUsers == ["nas": 1])
        #expect(await harness.engine.bucketUsers == 1)
        for batch in batches { _ = try await harness.queue.writer.set([.batch(batch)], NodeSettings(limit: 0)) }
        await harness.engine.settingsChanged()
        #expect(await harness.engine.sharedUsers.isEmpty)
        for batch in batches { try await harness.finished(batch) }
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("batches share a limit by its server's name, with the rate of the one that was queued last")
    func sharing() {
        func order(_ number: Int64, _ name: String?, _ rate: Int64?) -> BatchOrder {
            var options = TransferOptions()
            (options.limitOf, options.bytesPerSecond) = (name, rate)
            return BatchOrder(
                batch: BatchID(rawValue: number), session: .default, priority: .normal, options: options,
                secrets: TransferSecrets(), destination: "http://h/", destinationQuery: nil)
        }
        let id = { BatchID(rawValue: $0) }
        let orders = [
            order(3, "nas", 80), order(1, "nas", 90), order(2, nil, 70), order(4, "nas", 60), order(5, "far", 9),
        ]
        let shared = SharedLimits(
            orders, [.batch(id(1)): 90, .batch(id(2)): 70, .batch(id(3)): 80, .batch(id(4)): 5, .batch(id(5)): 9])
        #expect(shared.names == [id(1): "nas", id(3): "nas", id(5): "far"])
        #expect(shared.rates == ["nas": 80, "far": 9])
    }

    @Test("what is moved to the top is the next that starts, though others were at hand already")
    func order() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.target.hasSuffix("/0") ? .holdBody(1, hold) : .ordinary
        }
        for index in 0..<6 { try harness.sandbox.write("d/\(index)", [1, 2, 3]) }
        let batch = try await harness.queue.writer.add(harness.request(upload: ["d"]) { $0.held = true }).batch
        await harness.engine.batchAdded(batch)
        try await harness.batch(batch) { !$0.scanning }
        var tasks = try await harness.tasks(batch)
        // A directory gives its names in an order of its own.
        let first = try #require(tasks.first { $0.name == "0" })
        _ = try await harness.queue.writer.move([.task(first.id)], to: .top)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.batch(batch) { $0.filesActive == 1 }
        tasks.removeAll { $0.id == first.id }
        let wanted = Array(tasks.reversed())
        let change = try await harness.queue.writer.move(wanted.map { .task($0.id) }, to: .top)
        await harness.engine.reordered(change.reordered)
        hold.reach()
        try await harness.finished(batch)
        let order = harness.store.server.requests.compactMap { $0.target.split(separator: "/").last.map(String.init) }
        #expect(order == ["0"] + wanted.map(\.name))
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("what is asked for now starts beside what runs, though all slots are taken and its batch is held")
    func now() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.target.hasSuffix("/slow") ? .holdBody(1, hold) : .ordinary
        }
        for name in ["slow", "a", "b"] { try harness.sandbox.write(name, [1, 2, 3]) }
        let slow = try await harness.add(harness.request(upload: ["slow"]))
        try await harness.batch(slow) { $0.filesActive == 1 }
        let held = try await harness.add(harness.request(upload: ["a", "b"]) { $0.held = true })
        try await harness.batch(held) { !$0.scanning }
        let task = try #require(try await harness.tasks(held).first { $0.name == "b" })
        let change = try await harness.queue.writer.runNow([.task(task.id)])
        await harness.engine.reordered(change.reordered)
        try await harness.batch(held) { $0.filesCompleted == 1 }
        #expect(try await harness.queue.reader.batch(slow)?.filesActive == 1)
        #expect(try await harness.queue.reader.task(task.id)?.state == .completed)
        hold.reach()
        try await harness.finished(slow)
        await harness.engine.waitUntilIdle()
        #expect(try await harness.queue.reader.batch(held)?.state == .created)
        try await harness.expectSound()
        await harness.stop()
    }
}

extension TransferEngine {
    fileprivate var sharedUsers: [String: Int] { limitBook.together.mapValues(\.users) }
    fileprivate var bucketCount: Int { limitBook.own.count }
    /// Exchanges that draw from limits of their own, each counted once a limit.
    fileprivate var bucketUsers: Int { limitBook.own.values.reduce(0) { $0 + $1.users } }
}
