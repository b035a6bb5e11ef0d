import Testing
import TransferModel

@testable import TransferQueue

extension TransferQueue {
    /// Forgets what a task has left, as somebody who looks now.
    func forgetRemains(of task: TaskID) async throws {
        for remains in try await writer.remains(of: [task]) { #expect(try await writer.forget(remains)) }
    }
}

@Suite("What uploads leave at servers") struct RemainsTests {
    @Test("is known of the tasks that are over, until it is gone there; what still goes on is not touched")
    func remains() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 4)
        let tasks = try await queue.claimAll()
        for task in tasks {
            queue.writer.record(
                .checkpoint(resumePoint: [7], accepted: 10, secret: "https://h/\(task.id)"), for: task.id)
        }
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[0].id)
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[1].id)
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: nil), for: tasks[2].id)
        try await queue.writer.commit()
        _ = try await queue.writer.cancel([.task(tasks[3].id)])

        let left = try await queue.writer.remains(in: [.failed, .cancelled])
        #expect(left.map(\.task.id) == [tasks[0].id, tasks[3].id])
        #expect(left.map(\.task.resumeSecret) == left.map { "https://h/\($0.task.id)" })
        #expect(left.map(\.origin) == ["http://host:80", "http://host:80"])
        #expect(left.allSatisfy { $0.finishedAt != nil })
        #expect(try await queue.writer.remains(in: [.waiting]).map(\.task.id) == [tasks[2].id])
        #expect(try await queue.writer.remains(in: [.failed, .cancelled], after: tasks[0].id).count == 1)
        // Of the tasks that somebody names, only those that are over: the third goes on.
        let named = try await queue.writer.remains(of: [tasks[3].id, tasks[2].id, TaskID(rawValue: 999)])
        #expect(named.map(\.task.id) == [tasks[3].id])

        // Before they are taken away the queue says that nobody goes on with them, and keeps what they prove no more.
        #expect(try await queue.writer.leaveToRemove(left[1], resumePoint: [8]))
        #expect(try await queue.writer.remains(in: [.cancelled]).map(\.task.resumePoint) == [[8]])
        _ = try await queue.writer.retry([.task(tasks[3].id)])
        #expect(try await queue.writer.leaveToRemove(left[1], resumePoint: [9]) == false)
        let again = try #require(try await queue.claimAll().first)
        #expect(try await queue.writer.leaveToRemove(left[1], resumePoint: [9]) == false)
        #expect(again.id == tasks[3].id && again.resumePoint == [8])
        queue.writer.record(.failed(TransferError(.http, "no")), for: again.claim)
        try await queue.writer.commit()
        #expect(try await queue.writer.leaveToRemove(left[1], resumePoint: [9]) == false)

        try await queue.forgetRemains(of: tasks[0].id)
        #expect(try await queue.writer.remains(in: [.failed, .cancelled]).map(\.task.id) == [tasks[3].id])
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("https://h/\(tasks[0].id)".utf8)) == nil)
        #expect(try await queue.reader.check() == [])
        #expect(try await queue.reader.batch(batch)?.bytesAccepted == 120)
        try await queue.close()
    }

    @Test("stand in the way of forgetting a batch, once nobody can take its purge back any more")
    func purged() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        for task in tasks {
            queue.writer.record(.checkpoint(resumePoint: [7], accepted: 10), for: task.id)
            queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
        }
        try await queue.writer.commit()
        #expect(try await queue.writer.purge([.batch(batch)]).results.map(\.result) == [.done])
        sandbox.clock.advance(by: .seconds(10))
        #expect(try await queue.writer.purgedRemains(now: sandbox.clock.now).isEmpty)
        let due = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(due == sandbox.clock.now.advanced(by: .milliseconds(1)))
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).undone == .purge)

        #expect(try await queue.writer.purge([.batch(batch)]).results.map(\.result) == [.done])
        sandbox.clock.advance(by: .seconds(11))
        #expect(try await queue.writer.purgedRemains(now: sandbox.clock.now).map(\.task.id) == tasks.map(\.id))
        #expect(try await queue.writer.forgetPurged(now: sandbox.clock.now) == nil)
        try await queue.forgetRemains(of: tasks[0].id)
        #expect(try await queue.writer.forgetPurged(now: sandbox.clock.now) == nil)
        #expect(try await queue.writer.order(of: batch) != nil)
        #expect(try await queue.reader.task(tasks[1].id) == nil, "it is out of sight")
        #expect(try await queue.reader.task(tasks[1].id, hidden: true) != nil)
        try await queue.forgetRemains(of: tasks[1].id)
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try await queue.writer.order(of: batch) == nil)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("are known of a completed task, too, when its server did not remove them")
    func completed() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        for (task, left) in zip(tasks, [[7], nil] as [[UInt8]?]) {
            queue.writer.record(.checkpoint(resumePoint: [6], accepted: 10), for: task.id)
            queue.writer.record(.completed(Completion(size: 100, verified: .size, left: left)), for: task.id)
        }
        try await queue.writer.commit()
        let left = try await queue.writer.remains(in: [.completed])
        #expect(left.map(\.task.id) == [tasks[0].id] && left.map(\.task.resumePoint) == [[7]])
        #expect(left.first?.finishedAt != nil)
        _ = try await queue.writer.purge([.batch(batch)])
        sandbox.clock.advance(by: .seconds(11))
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try await queue.writer.purgedRemains(now: sandbox.clock.now).map(\.task.id) == [tasks[0].id])
        #expect(try await queue.writer.leaveToRemove(left[0], resumePoint: [8]))
        try await queue.forgetRemains(of: tasks[0].id)
        #expect(try await queue.reader.task(tasks[0].id, hidden: true)?.bytesAccepted == 100)
        #expect(try await queue.reader.check() == [])
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try await queue.writer.order(of: batch) == nil)
        try await queue.close()
    }

    @Test("keep a task from being forgotten by itself: nothing else names them")
    func single() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 10), for: tasks[0].id)
        for task in tasks { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        try await queue.writer.commit()
        let nodes = tasks.map { NodeID.task($0.id) }
        #expect(try await queue.writer.purge(nodes).results.map(\.result) == [.refused, .done])
        #expect(try await queue.writer.remains(in: [.failed]).map(\.task.id) == [tasks[0].id])
        // A point that names nothing that is left goes with its task, while it is that one.
        #expect(try await queue.writer.purge([nodes[0]], bare: [tasks[0].id: [8]]).results.map(\.result) == [.refused])
        #expect(try await queue.writer.purge([nodes[0]], bare: [tasks[0].id: [7]]).results.map(\.result) == [.done])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("are asked to be taken away of those alone that would be forgotten then")
    func purgeable() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let hidden = try await queue.addTree(files: 1)
        let listed = try await queue.addTree("others", files: 2)
        let tasks = try await queue.claimAll()
        for task in tasks.dropLast() { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        try await queue.writer.commit()
        _ = try await queue.writer.purge([.batch(hidden)])
        let nodes = tasks.map { NodeID.task($0.id) } + [.batch(listed), .task(TaskID(rawValue: 99))]
        // One of a batch that was purged, and can come back; one that is over; one that goes on.
        #expect(try await queue.writer.purgeable(nodes) == [tasks[1].id])
        // Its batch goes with all that is in it.
        #expect(try await queue.writer.purgeable([.batch(listed), nodes[1]]) == [])
        try await queue.close()
    }

    @Test(
        "can be taken back for the grace time, though the clock is set forward meanwhile",
        arguments: [9, 4_000_000_000])
    func setForward(by seconds: Int) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batches = [try await queue.addTree(files: 1), try await queue.addTree("others", files: 1)]
        let begun = sandbox.clock.now
        for task in try await queue.claimAll() {
            queue.writer.record(.checkpoint(resumePoint: [7], accepted: 10), for: task.claim)
        }
        try await queue.writer.commit()
        _ = try await queue.writer.cancel(batches.map { .batch($0) })
        _ = try await queue.writer.purge([.batch(batches[1])])
        sandbox.clock.advance(by: .seconds(5))
        let times = begun...sandbox.clock.now
        sandbox.clock.advance(by: .seconds(seconds))
        try await queue.writer.moveEnds(by: .seconds(seconds), at: times)
        let now = sandbox.clock.now
        let ages = try await queue.writer.remains(in: [.cancelled]).map { $0.finishedAt.map(now.since) }
        #expect(ages == [.seconds(5), .seconds(5)])
        _ = try await queue.writer.forgetPurged(now: now)
        #expect(try await queue.writer.undo(.last, now: now).undone == .purge)
        #expect(try await queue.writer.undo(.last, now: now).undone == .cancel)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("are due after the grace time, though the clock was ahead when they were cancelled and purged")
    func clockAhead() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 10), for: task.claim)
        try await queue.writer.commit()
        _ = try await queue.writer.cancel([.batch(batch)])
        _ = try await queue.writer.purge([.batch(batch)])
        sandbox.clock.advance(by: .seconds(-86_400))
        let now = sandbox.clock.now
        try await queue.writer.boundEnds(by: now)
        #expect(try await queue.writer.remains(in: [.cancelled]).map(\.finishedAt) == [now])
        let later = now.advanced(by: .seconds(11))
        #expect(try await queue.writer.purgedRemains(now: later).map(\.task.id) == [task.id])
        // The person has the grace time to take it back, and no longer.
        sandbox.clock.advance(by: .seconds(11))
        #expect(try await queue.writer.undo(.last, now: later).undone == nil)
        try await queue.forgetRemains(of: task.id)
        _ = try await queue.writer.forgetPurged(now: later)
        #expect(try await queue.writer.order(of: batch) == nil)
        try await queue.close()
    }

    @Test("are not forgotten of a task that somebody has retried since, and what is known of the final name may stay")
    func retriedSince() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 10, secret: "https://h/u"), for: task.claim)
        queue.writer.record(.failed(TransferError(.http, "no")), for: task.claim)
        try await queue.writer.commit()
        let seen = try #require(try await queue.writer.remains(of: [task.id]).first)
        _ = try await queue.writer.retry([.task(task.id)])
        #expect(try await queue.writer.forget(seen) == false)
        let again = try #require(try await queue.claimAll().first)
        #expect(again.resumePoint == [7] && again.resumeSecret == "https://h/u")

        queue.writer.record(.failed(TransferError(.http, "no")), for: again.claim)
        try await queue.writer.commit()
        #expect(try await queue.writer.forget(seen) == false, "another attempt has failed since")
        let left = try #require(try await queue.writer.remains(of: [task.id]).first)
        #expect(try await queue.writer.forget(left, keeping: [9]))
        let known = try #require(try await queue.writer.remains(of: [task.id]).first)
        #expect(known.task.resumePoint == [9] && known.task.resumeSecret == nil)
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("https://h/u".utf8)) == nil)
        #expect(try await queue.reader.task(task.id)?.bytesAccepted == 0)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}
