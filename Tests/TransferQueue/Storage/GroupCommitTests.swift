import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

extension QueueWriter {
    /// Lets the database grow no further than so many pages beyond its size: a full disk.
    fileprivate func limitGrowth(pages: Int64?) throws {
        let count = try store.database.integer("PRAGMA page_count") ?? 0
        try store.database.execute(script: "PRAGMA max_page_count = \(pages.map { count + $0 } ?? 1_000_000)")
    }
}

@Suite("Group commits") struct GroupCommitTests {
    @Test("facts are committed together when there are 500, and not before")
    func bySize() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 600)
        let tasks = try await queue.claimAll()
        let commits = await queue.writer.commits
        var changes = queue.changes().makeAsyncIterator()
        for task in tasks.prefix(499) { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        #expect(try await queue.reader.batch(batch)?.filesFailed == 0)
        #expect(await queue.writer.commits == commits)
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[499].id)
        _ = await changes.next()
        #expect(try await queue.reader.batch(batch)?.filesFailed == 500)
        #expect(await queue.writer.commits == commits + 1)
        try await queue.close()
    }

    @Test("requests that make no sense do not put off the commit of facts", .timeLimit(.minutes(1)))
    func amongNonsense() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open(interval: .milliseconds(1))
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.completed(Completion(size: 100, verified: .none)), for: task.id)
        while try await queue.reader.task(task.id)?.state != .completed, !Task.isCancelled {
            await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["nonsense"])) }
        }
        #expect(try await queue.reader.task(task.id)?.state == .completed)
        try await queue.close()
    }

    @Test("a single fact is committed by itself after the interval, and then no timer is left")
    func byTime() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open(interval: .milliseconds(1))
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        #expect(await queue.writer.isTimerSet == false)
        var changes = queue.changes().makeAsyncIterator()
        queue.writer.record(.completed(Completion(size: 100, verified: .none)), for: task.id)
        let change = await changes.next()
        #expect(change?.tasks == [task.id])
        #expect(change?.lastEvent == (try await queue.reader.lastEvent()))
        #expect(await queue.writer.isTimerSet == false)
        try await queue.close()
    }

    @Test("all who ask for a commit in one turn share it, and without facts there is none")
    func shared() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 20)
        let tasks = try await queue.claimAll()
        let commits = await queue.writer.commits
        try await queue.writer.commit()
        #expect(await queue.writer.commits == commits)
        await queue.writer.commitFromManyTasks(tasks.map(\.id))
        #expect(await queue.writer.commits == commits + 1)
        #expect(try await queue.reader.statistics().counts.failed == 20)
        try await queue.close()
    }

    @Test("a task that begins and ends between two commits is written once")
    func folded() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        let before = try await queue.writer.changedRows()
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.checkpoint(resumePoint: [1], accepted: 50), for: task.id)
        queue.writer.record(.finishing, for: task.id)
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: task.id)
        try await queue.writer.commit()
        // The task, its event, the end of the batch and of the session; three numbers, two folders and two of their counts, the batch.
        #expect(try await queue.writer.changedRows() - before == 12)
        #expect(try await queue.reader.task(task.id)?.attempts == 1)
        try await queue.close()
    }

    @Test("when the disk is full the asker is told, and what was recorded is committed once there is room")
    func fullDisk() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 400)
        let tasks = try await queue.claimAll()
        try await queue.writer.limitGrowth(pages: 0)
        let long = String(repeating: "x", count: 5000)
        for task in tasks { queue.writer.record(.failed(TransferError(.http, long)), for: task.id) }
        let error = await #expect(throws: QueueError.self) { try await queue.writer.commit() }
        guard case .database(let cause) = error, cause.code == .full else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(try #require(error))".contains("make room"))
        #expect(try await queue.reader.batch(batch)?.filesFailed == 0)
        try await queue.writer.limitGrowth(pages: nil)
        try await queue.writer.commit()
        #expect(try await queue.reader.batch(batch)?.filesFailed == 400)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a request that makes no sense is refused and takes nobody's facts with it")
    func badRequest() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
        await #expect(throws: QueueError.self) {
            try await queue.writer.add(BatchRequest(work: .upload([], to: "http://host/")))
        }
        try await queue.writer.commit()
        #expect(try await queue.reader.batch(batch)?.filesFailed == 1)
        #expect(try await queue.reader.batches().count == 1)
        try await queue.close()
    }

    @Test("a closed queue says so")
    func closed() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        try await queue.close()
        let error = await #expect(throws: QueueError.closed) { try await queue.writer.lanes() }
        #expect("\(try #require(error))" == "the queue is closed")
        await #expect(throws: QueueError.closed) { try await queue.writer.commit() }
        await #expect(throws: QueueError.closed) { try await queue.reader.batches() }
        queue.writer.record(.running, for: TaskID(rawValue: 1))
    }

    @Test("a listener gets what changed since it last asked, merged; it ends with the queue")
    func changes() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var changes = queue.changes().makeAsyncIterator()
        let one = try await queue.addTree("one", files: 1)
        let two = try await queue.addTree("two", files: 2)
        let change = await changes.next()
        #expect(change?.batches == [one, two])
        #expect(change?.mayRun == true)
        #expect(change?.lastEvent == (try await queue.reader.lastEvent()))
        try await queue.close()
        _ = await changes.next()
        #expect(await changes.next() == nil)
    }
}

extension QueueWriter {
    /// Each task records a fact and waits for its commit; all of them begin in one turn of the writer.
    fileprivate func commitFromManyTasks(_ ids: [TaskID]) async {
        let tasks = ids.map { id in
            Task {
                record(.failed(TransferError(.http, "no")), for: id)
                try? await commit()
            }
        }
        for task in tasks { await task.value }
    }
}
