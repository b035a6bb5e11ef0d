import LinuxSystem
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

/// Whose word on a task counts: that of its last claim.
@Suite struct ClaimTests {
    private let name = RawPath("/out/f")

    @Test("an attempt that somebody else has taken over from changes nothing", arguments: 0..<6)
    func overtaken(which: Int) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let old = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: old.claim)
        try await queue.writer.commit()
        _ = try await queue.writer.pause([.task(old.id)])
        _ = try await queue.writer.resume([.task(old.id)])
        let new = try #require(try await queue.claimAll().first)
        #expect(new.id == old.id && new.generation > old.generation)
        queue.writer.record(.running, for: new.claim)
        queue.writer.record(.checkpoint(resumePoint: [2], accepted: 20), for: new.claim)
        try await queue.writer.commit()
        let late: [TaskFact] = [
            .requeued, .checkpoint(resumePoint: [1], accepted: 90),
            .completed(Completion(size: 100, verified: .digest)),
            .failed(TransferError(.http, "no")), .waiting(WaitReasons(.backoff), retryAt: nil, error: nil),
            .restarted(reason: "late", repeated: 5, identity: nil),
        ]
        queue.writer.record(late[which], for: old.claim)
        try await queue.writer.release(unstarted: [old.claim])
        let task = try #require(try await queue.reader.task(new.id))
        #expect(task.state == .running && task.bytesAccepted == 20 && task.restarts == 0)
        // The one that has it goes on.
        queue.writer.record(.requeued, for: new.claim)
        try await queue.writer.commit()
        #expect(try await queue.claimAll().first?.resumePoint == [2])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what was stopped and not taken again may still say how far it had come, until somebody takes it")
    func stoppedSaysHowFar() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: task.claim)
        let change = try await queue.writer.pause([.task(task.id)])
        #expect(change.stopped == [task.claim])
        queue.writer.record(.checkpoint(resumePoint: [1], accepted: 40), for: task.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(task.id)?.bytesAccepted == 40)
        try await queue.close()
    }

    @Test("what is learnt late of a task that was cancelled is kept, and the cancel stays its last event")
    func nothingBehindTheEnd() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: task.claim)
        _ = try await queue.writer.cancel([.task(task.id)])
        let events = try await queue.eventTypes()
        queue.writer.record(.resumedAtOffset(10, repeated: 0), for: task.claim)
        queue.writer.record(.restarted(reason: "broken off", repeated: 5, identity: nil), for: task.claim)
        queue.writer.record(.response(TransferResponse(status: 200, headers: [], body: nil)), for: task.claim)
        try await queue.writer.commit()
        #expect(try await queue.eventTypes() == events)
        let told = try #require(try await queue.reader.task(task.id, response: true))
        #expect(told.restarts == 1 && told.bytesRepeated == 5 && told.response?.status == 200)
        try await queue.close()
    }

    @Test("a claim tells whether the clock was set back since an attempt began that left something, and no other claim")
    func clockSetBack() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 4)
        func claimed(_ limit: Int = 4) async throws -> [Int64: Bool] {
            let tasks = try await queue.claimAll(limit: limit, now: sandbox.clock.now)
            return Dictionary(uniqueKeysWithValues: tasks.map { ($0.id.rawValue, $0.clockWasSetBack) })
        }
        func giveBack(_ changes: [Int64: [TaskFact]]) async throws {
            for (task, changes) in changes {
                for change in changes + [.requeued] { queue.writer.record(change, for: TaskID(rawValue: task)) }
            }
            try await queue.writer.commit()
        }
        #expect(try await claimed(3) == [1: false, 2: false, 3: false])
        // Of the second nothing has reached its server; of the third a resume point tells times.
        try await giveBack([
            1: [.running], 2: [.forgotten], 3: [.forgotten, .checkpoint(resumePoint: [1], accepted: 0)],
        ])
        try await queue.writer.noteClockSetBack()
        try await queue.close()
        queue = try sandbox.open()
        #expect(try await claimed() == [1: true, 2: false, 3: true, 4: false])
        try await giveBack([1: [.running], 2: [.running], 3: [.running], 4: [.running]])
        #expect(try await claimed() == [1: true, 2: false, 3: true, 4: false])
        try await giveBack([1: [.forgotten], 2: [], 3: [.forgotten], 4: []])
        #expect(try await claimed() == [1: false, 2: false, 3: false, 4: false])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "leave for the final name is refused after a cancel or pause, and whoever has it is neither cancelled nor paused"
    )
    func leave() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 4)
        let tasks = try await queue.claimAll()
        _ = try await queue.writer.cancel([.task(tasks[0].id)])
        _ = try await queue.writer.pause([.task(tasks[1].id)])
        #expect(try await queue.writer.leaveToPublish(tasks[0].claim, as: name) == .ended)
        #expect(try await queue.writer.leaveToPublish(tasks[1].claim, as: name) == .ended)
        #expect(try await queue.writer.leaveToPublish(tasks[2].claim, as: name) == .granted)
        #expect(try await queue.writer.cancel([.task(tasks[2].id)]).results.map(\.result) == [.refused])
        #expect(try await queue.writer.pause([.task(tasks[2].id)]).results.map(\.result) == [.refused])
        let change = try await queue.writer.cancel([.batch(batch)])
        #expect(change.stopped == [tasks[3].claim])
        #expect(try await queue.reader.task(tasks[2].id)?.state == .finishing)
        #expect(try await queue.reader.check() == [])
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[2].claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.batch(batch)?.state == .completed)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    /// How a task that gets its final name may fail to get it.
    enum Miss: CaseIterable { case fails, waits, isGivenBack, isKilled }

    @Test(
        "what was cancelled while it got its final name, and does not get it, ends cancelled", arguments: Miss.allCases)
    func cancelledWithLeave(miss: Miss) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["raw": 2])
        let tasks = try await queue.claimAll()
        #expect(try await queue.writer.leaveToPublish(tasks[0].claim, as: name) == .granted)
        let operation = try await queue.writer.cancel([.folder(batch, path: RawPath("photos/raw"))]).operation
        let error = TransferError(.diskFull, "full", .step("make room"))
        switch miss {
        case .fails: queue.writer.record(.failed(error), for: tasks[0].claim)
        case .waits:
            queue.writer.record(.waiting(WaitReasons(.diskSpace), retryAt: nil, error: error), for: tasks[0].claim)
        case .isGivenBack: queue.writer.record(.requeued, for: tasks[0].claim)
        case .isKilled:
            await queue.abandon()
            queue = try sandbox.open()
            #expect(try await queue.settle() == [tasks[0].id])
        }
        try await queue.writer.commit()
        #expect(try await queue.reader.task(tasks[0].id)?.state == .cancelled)
        #expect(try await queue.reader.batch(batch)?.state == .cancelled)
        #expect(try await queue.reader.check() == [])
        // Who takes the cancel back means this one, too; and the next attempt is not marked any more.
        _ = try await queue.writer.undo(.operation(try #require(operation)), now: sandbox.clock.now)
        #expect(try await queue.reader.task(tasks[0].id)?.state == .queued)
        #expect(try await queue.reader.check() == [])
        let again = try #require(try await queue.claimAll().first { $0.id == tasks[0].id })
        #expect(try await queue.writer.leaveToPublish(again.claim, as: name) == .granted)
        queue.writer.record(.failed(error), for: again.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(tasks[0].id)?.state == .failed)
        try await queue.close()
    }

    @Test("a cancel that is taken back while a final name is given leaves no mark")
    func cancelTakenBack() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let task = try #require(try await queue.claimAll().first)
        #expect(try await queue.writer.leaveToPublish(task.claim, as: name) == .granted)
        let operation = try await queue.writer.cancel([.batch(batch)]).operation
        _ = try await queue.writer.undo(.operation(try #require(operation)), now: sandbox.clock.now)
        queue.writer.record(.failed(TransferError(.destinationUnwritable, "no", .step("allow it"))), for: task.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(task.id)?.state == .failed)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a kill while a final name is given in a folder that was paused meanwhile leaves it paused")
    func killedAndPaused() async throws {
        let sandbox = try Sandbox()
        let first = try sandbox.open()
        let batch = try await first.addTree(folders: ["raw": 1])
        let task = try #require(try await first.claimAll().first)
        #expect(try await first.writer.leaveToPublish(task.claim, as: name) == .granted)
        _ = try await first.writer.pause([.folder(batch, path: RawPath("photos/raw"))])
        await first.abandon()
        let second = try sandbox.open()
        #expect(try await second.settle() == [task.id])
        #expect(try await second.reader.task(task.id)?.state == .paused)
        #expect(try await second.reader.check() == [])
        try await second.close()
    }

    @Test("two downloads of a batch never get one name, whatever ends between")
    func oneName() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 3)
        let other = try await queue.addTree(files: 1)
        let tasks = try await queue.claimAll()
        let stranger = try #require(tasks.first { $0.batch == other })
        let mine = tasks.filter { $0.batch != other }
        func leave(_ task: ClaimedTask) async throws -> PublishingLeave {
            try await queue.writer.leaveToPublish(task.claim, as: name)
        }
        #expect(try await leave(mine[0]) == .granted)
        #expect(try await leave(mine[1]) == .nameGiven)
        // What could not take it gives it back.
        queue.writer.record(.failed(TransferError(.destinationUnwritable, "no", .step("allow it"))), for: mine[0].claim)
        #expect(try await leave(mine[1]) == .granted)
        queue.writer.record(.completed(Completion(size: 100, verified: .size, finalPath: name)), for: mine[1].claim)
        #expect(try await leave(mine[2]) == .nameGiven)
        // Another batch was told by its rule what to do with what is there.
        #expect(try await leave(stranger) == .granted)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "a kill while a final name is given leaves a task that nothing changes until somebody has looked and requeues it"
    )
    func killedWithLeave() async throws {
        let sandbox = try Sandbox()
        let first = try sandbox.open()
        let batch = try await first.addTree(files: 1)
        let task = try #require(try await first.claimAll().first)
        #expect(try await first.writer.leaveToPublish(task.claim, as: name) == .granted)
        await first.abandon()
        let second = try sandbox.open()
        #expect(try await second.claimAll().isEmpty)
        #expect(try await second.writer.cancel([.task(task.id)]).results.map(\.result) == [.refused])
        let operation = try await second.writer.cancel([.batch(batch)]).operation
        _ = try await second.writer.undo(.operation(try #require(operation)), now: sandbox.clock.now)
        #expect(try await second.reader.task(task.id)?.state == .finishing)
        #expect(try await second.reader.check() == [])
        #expect(try await second.settle() == [task.id])
        #expect(try await second.settle().isEmpty)
        let again = try #require(try await second.claimAll().first)
        #expect(again.id == task.id && again.generation > task.generation)
        #expect(try await second.writer.cancel([.task(task.id)]).results.map(\.result) == [.done])
        #expect(try await second.reader.check() == [])
        try await second.close()
    }

    @Test("what could not take its name in a folder that was paused meanwhile is paused")
    func pausedBelow() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["raw": 1])
        let task = try #require(try await queue.claimAll().first)
        #expect(try await queue.writer.leaveToPublish(task.claim, as: name) == .granted)
        _ = try await queue.writer.pause([.folder(batch, path: RawPath("photos/raw"))])
        queue.writer.record(
            .waiting(
                WaitReasons(.diskSpace), retryAt: nil, error: TransferError(.diskFull, "full", .step("make room"))),
            for: task.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(task.id)?.state == .paused)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}

extension TransferQueue {
    /// As the engine does at its start where nothing got its final name.
    fileprivate func settle() async throws -> [TaskID] {
        let tasks = try await writer.publishingDownloads()
        for task in tasks { writer.record(.requeued, for: task.claim) }
        try await writer.commit()
        return tasks.map(\.id)
    }
}
