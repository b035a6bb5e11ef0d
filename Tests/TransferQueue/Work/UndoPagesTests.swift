import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Undo of changes whose pages have other changes between them") struct UndoPagesTests {
    @Test("a priority that another change gave between two pages comes back", arguments: [false, true])
    func priorities(newerFirst: Bool) async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 2)
        let paged = try await bench.prefer(bench.task(1), as: .high)
        let between = try await bench.prefer(bench.task(2), as: .low)
        try await bench.prefer(bench.task(2), as: .high, joining: paged)
        try await bench.undo(newerFirst ? between : paged)
        #expect(try await bench.priorities() == (newerFirst ? [.high, .high] : [.normal, .low]))
        try await bench.undo(newerFirst ? paged : between)
        #expect(try await bench.priorities() == [.normal, .normal])
        try await bench.close()
    }

    @Test("a file that both pages have changed has what was set between them", arguments: [false, true])
    func samePriority(newerFirst: Bool) async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 1)
        let paged = try await bench.prefer(bench.task(1), as: .high)
        let between = try await bench.prefer(bench.task(1), as: .low)
        try await bench.prefer(bench.task(1), as: .interactive, joining: paged)
        try await bench.undo(newerFirst ? between : paged)
        #expect(try await bench.priorities() == [newerFirst ? .interactive : .low])
        try await bench.undo(newerFirst ? paged : between)
        #expect(try await bench.priorities() == [.normal])
        try await bench.close()
    }

    @Test("a place that another change gave between two pages of a group comes back")
    func places() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 4)
        func order() async throws -> [Int64] {
            try sorted(try bench.sandbox.database(), batch)
        }
        let first = try await bench.queue.writer.move([bench.task(2)], to: .top, asOne: true)
        let between = try await bench.move(bench.task(4), to: .before(bench.task(1)))
        #expect(try await order() == [2, 4, 1, 3])
        _ = try await bench.queue.writer.move(
            [bench.task(4)], to: .top, asOne: true, with: first.moved, joining: first.operation)
        try await bench.undo(try #require(first.operation))
        #expect(try await order() == [4, 1, 2, 3])
        try await bench.undo(between)
        #expect(try await order() == [1, 2, 3, 4])
        try await bench.close()
    }

    @Test("a time that another change gave between two pages of a run-now comes back")
    func times() async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 2)
        let paged = try await bench.runNow(bench.task(1))
        let between = try await bench.delay(bench.task(2), by: 100)
        try await bench.runNow(bench.task(2), joining: paged)
        try await bench.undo(paged)
        #expect(try await bench.delays() == [nil, 100])
        try await bench.undo(between)
        #expect(try await bench.delays() == [nil, nil])
        try await bench.close()
    }

    @Test("a file that a later page has cancelled once more comes back with it")
    func cancels() async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 2)
        let paged = try await bench.cancel(bench.task(1))
        try await bench.cancel(bench.task(2))
        _ = try await bench.queue.writer.retry([bench.task(2)])
        try await bench.cancel(bench.task(2), joining: paged)
        try await bench.undo(paged)
        #expect(try await bench.states() == [.queued, .queued])
        try await bench.close()
    }

    @Test("an undo of changes of many kinds asks all of them of the engine, whichever is the oldest")
    func duties() async throws {
        let bench = try ChangeBench()
        let batches = [try await bench.queue.addTree("a", files: 1), try await bench.queue.addTree("b", files: 1)]
            .map { NodeID.batch($0) }
        try await bench.pause(batches[1])
        try await bench.set(batches[0], to: NodeSettings(ifExists: .replace))
        #expect(try await bench.undo(batches[0], batches[1]).duties == [.settings, .goesOn])
        try await bench.set(batches[0], to: NodeSettings(ifExists: .replace))
        try await bench.pause(batches[1])
        #expect(try await bench.undo(batches[0], batches[1]).duties == [.settings, .goesOn])
        try await bench.close()
    }

    @Test("what was done to a task that was purged since cannot come back, and that is said")
    func purgedSince() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        try await bench.cancel(bench.task(1))
        #expect(try await bench.queue.writer.purge([bench.task(1)]).results.map(\.result) == [.done])
        let change = try await bench.queue.writer.undo(.last, now: bench.now)
        #expect(change.results.map(\.code) == [.noSuchObject] && change.undone == nil)
        #expect(try await bench.queue.writer.undo(.last, now: bench.now).results.isEmpty)
        #expect(try await bench.queue.reader.batch(batch)?.filesTotal == 1)
        try await bench.close()
    }

    @Test("the change at hand is not forgotten because others came between its pages")
    func bounds() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        let paged = try await bench.prefer(bench.task(1), as: .high)
        let between = try await bench.set(.batch(batch), to: NodeSettings(name: BatchName(rawValue: "other")))
        await bench.queue.writer.boundUndo(
            bytes: try bench.sandbox.database().integer("SELECT sum(length(before)) - 1 FROM undo") ?? 0, tasks: 100)
        try await bench.prefer(bench.task(2), as: .high, joining: paged)
        let steps = try await bench.queue.writer.undoSteps(now: bench.now)
        #expect(!steps.contains { $0.operation == between })
        #expect(steps.filter { $0.operation == paged }.map(\.nodes) == [2])
        try await bench.undo(paged)
        #expect(try await bench.priorities() == [.normal, .normal])
        try await bench.close()
    }

    @Test("changes that an earlier version has noted are taken back in their order")
    func earlier() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = NodeID.task(TaskID(rawValue: 1))
        let first = try await queue.writer.set([task], NodeSettings(priority: .high)).operation
        let second = try await queue.writer.set([task], NodeSettings(priority: .low)).operation
        try await queue.close()
        try sandbox.rewrite(before: "pages of changes, in the order in which they were done")
        queue = try sandbox.open()
        func priority() async throws -> TransferPriority? { try await queue.reader.tasks(limit: 1).first?.priority }
        _ = try await queue.writer.undo(.operation(try #require(first)), now: sandbox.clock.now)
        #expect(try await priority() == .low)
        _ = try await queue.writer.undo(.operation(try #require(second)), now: sandbox.clock.now)
        #expect(try await priority() == .normal)
        try await queue.close()
    }

    private func sorted(_ database: SQLiteConnection, _ batch: BatchID) throws -> [Int64] {
        try database.rows(
            """
            SELECT t.id FROM tasks t JOIN lanes l ON l.id = t.lane WHERE l.batch = ? ORDER BY ifnull(t.rank, t.id << 24), t.id
            """, .integer(batch.rawValue)
        ) { $0.integer(0) }
    }
}
