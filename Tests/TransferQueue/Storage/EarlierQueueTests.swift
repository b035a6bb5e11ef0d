import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Queues of earlier versions, with what was in them") struct EarlierQueueTests {
    @Test(
        "where the clock was set back once, what attempts of the version before left is in doubt, and nothing else",
        arguments: [true, false])
    func clocks(wasSetBack: Bool) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 4)
        let claimed = try await queue.claimAll(limit: 3, now: sandbox.clock.now)
        #expect(claimed.count == 3)
        // The first has begun; the second has left a resume point alone; nothing of the third has reached its server.
        for task in claimed {
            switch task.id.rawValue {
            case 1: queue.writer.record(.running, for: task.claim)
            case 2:
                queue.writer.record(.forgotten, for: task.claim)
                queue.writer.record(.checkpoint(resumePoint: [1], accepted: 0), for: task.claim)
            default: queue.writer.record(.forgotten, for: task.claim)
            }
            queue.writer.record(.requeued, for: task.claim)
        }
        try await queue.close()
        let note = "INSERT INTO meta VALUES ('clock_set_back', \(sandbox.clock.now.milliseconds))"
        try sandbox.rewrite(before: "by which clock attempts began", wasSetBack ? note : "")
        queue = try sandbox.open()
        func doubted() async throws -> [Int64] {
            let tasks = try await queue.claimAll(now: sandbox.clock.now)
            try await queue.writer.release(unstarted: tasks.map(\.claim))
            return tasks.filter(\.clockWasSetBack).map(\.id.rawValue).sorted()
        }
        #expect(try await doubted() == (wasSetBack ? [1, 2] : []))
        // The next time counts on from there.
        try await queue.writer.noteClockSetBack()
        #expect(try await doubted() == [1, 2])
        let number = try sandbox.database().integer("SELECT value FROM meta WHERE name = 'clock'")
        #expect(number == (wasSetBack ? 2 : 1))
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a batch that was put away is shown again when it has failures or is not over, and no other")
    func putAway() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        var batches: [BatchID] = []
        for name in ["completed", "failed", "open", "shown"] { batches.append(try await queue.addTree(name, files: 2)) }
        for task in try await queue.claimAll() where task.batch != batches[2] {
            let fails = task.batch == batches[1] && task.name == RawPath("file1")
            queue.writer.record(
                fails
                    ? .failed(TransferError(.http, "404", httpStatus: 404))
                    : .completed(Completion(size: 100, verified: .size)), for: task.claim)
        }
        try await queue.close()
        let putAway = batches.prefix(3).map { String($0.rawValue) }.joined(separator: ", ")
        try sandbox.rewrite(
            before: "failures that were put away", "UPDATE batches SET cleared_at = 7 WHERE id IN (\(putAway))")
        queue = try sandbox.open()
        let away = try sandbox.database().rows("SELECT id FROM batches WHERE cleared_at IS NOT NULL ORDER BY id") {
            BatchID(rawValue: $0.integer(0))
        }
        #expect(away == [batches[0]])
        let shown = try await queue.reader.section(SectionRequest(parent: nil, limit: 10))?.rows.map(\.id)
        #expect(Set(shown ?? []) == Set(batches.dropFirst().map { .batch($0) }))
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a cancel that a kill left open in the version before holds, unless the file has got its final name")
    func openCancels() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 5)
        for task in try await queue.claimAll() {
            queue.writer.record(.running, for: task.claim)
            let isOver = task.id == TaskID(rawValue: 5)
            queue.writer.record(
                isOver ? .completed(Completion(size: 100, verified: .size)) : .requeued, for: task.claim)
        }
        _ = try await queue.writer.pause([.task(TaskID(rawValue: 2))])
        let later = sandbox.clock.now.advanced(by: .seconds(100))
        _ = try await queue.writer.set([.task(TaskID(rawValue: 3))], NodeSettings(notBefore: later))
        try await queue.close()
        // The fourth was cancelled by nobody.
        try sandbox.rewrite(
            before: "cancels that a kill left open", "UPDATE tasks SET flags = flags | 768 WHERE id IN (1, 2, 3, 5)")
        queue = try sandbox.open()
        #expect(try await queue.reader.check() == [])
        let interrupted = try await queue.writer.publishingDownloads()
        #expect(interrupted.map(\.id.rawValue) == [1, 2, 3])
        #expect(try await queue.claimAll().map(\.id.rawValue) == [4])
        for task in interrupted {
            let hasName = task.id == TaskID(rawValue: 1)
            queue.writer.record(
                hasName ? .completed(Completion(size: 100, verified: .size)) : .requeued, for: task.claim)
        }
        try await queue.writer.commit()
        let states = try await queue.reader.tasks(batch: batch, limit: 5).map(\.state)
        #expect(states == [.completed, .cancelled, .cancelled, .queued, .completed])
        #expect(try sandbox.database().integer("SELECT count(*) FROM tasks WHERE flags & 512") == 0)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}
