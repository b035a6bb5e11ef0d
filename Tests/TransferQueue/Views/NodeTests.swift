import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Pausing, cancelling, trying again") struct NodeTests {
    @Test("a file paused by name stays paused when its batch is paused and resumed")
    func ownFlag() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let tasks = try await queue.reader.tasks(batch: batch, limit: 2)
        _ = try await queue.writer.pause([.task(tasks[0].id)])
        _ = try await queue.writer.pause([.batch(batch)])
        #expect(try await queue.claimAll().isEmpty)
        #expect(try await queue.reader.tasks(batch: batch, limit: 2).map(\.state) == [.paused, .paused])
        #expect(try await queue.reader.tasks(batch: batch, limit: 2).map(\.paused) == [true, false])
        _ = try await queue.writer.resume([.batch(batch)])
        #expect(try await queue.claimAll().map(\.id) == [tasks[1].id])
        #expect(try await queue.reader.task(tasks[0].id)?.state == .paused)
        try await queue.close()
    }

    @Test("pausing a batch of any size changes a handful of rows")
    func constantWork() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3000)
        let before = try await queue.writer.changedRows()
        _ = try await queue.writer.pause([.batch(batch)])
        let after = try await queue.writer.changedRows()
        #expect(after - before < 10)
        try await queue.close()
    }

    @Test("the engine is told which of its tasks to stop, and each keeps its resume point")
    func stopped() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, folders: ["a": 2, "b": 2])
        let tasks = try await queue.claimAll()
        for task in tasks { queue.writer.record(.running, for: task.id) }
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 30), for: tasks[1].id)
        let folder = NodeID.folder(batch, path: RawPath("photos/a"))
        let change = try await queue.writer.pause([folder])
        #expect(change.stopped == [tasks[1].claim, tasks[2].claim])
        // The engine says how far it came only when it has stopped.
        queue.writer.record(.checkpoint(resumePoint: [8], accepted: 60), for: tasks[1].id)
        _ = try await queue.writer.resume([folder])
        let again = try await queue.claimAll()
        #expect(again.map(\.id) == change.stopped.map(\.task))
        #expect(again[0].resumePoint == [8])
        #expect(again[0].accepted == 60)
        #expect(again[0].attempts == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("resuming what is held up from above says from where")
    func heldUp() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["a": 1])
        let task = try await queue.reader.tasks(batch: batch, limit: 1)[0].id
        #expect(try await queue.writer.resume([.task(task)]).results[0].result == .already)
        // A file is no folder, and has a number.
        let name = try #require(try await queue.reader.task(task)?.name)
        let byPath = try await queue.writer.pause([.folder(batch, path: RawPath("photos/a").appending(RawPath(name)))])
        #expect(byPath.results[0].message?.hasSuffix("is a file: call it \(task)") == true, "\(byPath.results)")
        _ = try await queue.writer.pause([.folder(batch, path: RawPath("photos"))])
        let byFolder = try await queue.writer.resume([.task(task)]).results[0]
        #expect(byFolder.result == .refused)
        #expect(byFolder.message?.contains("\(batch):photos") == true)
        _ = try await queue.writer.pause([.batch(batch)])
        #expect(
            try await queue.writer.resume([.task(task)]).results[0].message?.contains("martlet resume \(batch)") == true
        )
        try await queue.close()
    }

    @Test("resuming a folder resumes what was paused one by one below it alone, and one undo pauses it again")
    func pausedInsideFolder() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, folders: ["a": 2, "b": 1])
        let tasks = try await queue.reader.tasks(batch: batch, limit: 4)
        let folder = { (path: String) in NodeID.folder(batch, path: RawPath(path)) }
        _ = try await queue.writer.pause(tasks.map { .task($0.id) } + [folder("photos/b")])
        #expect(try await queue.writer.resume([folder("photos/a")]).results.map(\.result) == [.done])
        let below = tasks.filter { $0.folder == "photos/a" }.map(\.id)
        #expect(below.count == 2)
        let claimed = try await queue.claimAll()
        #expect(claimed.map(\.id) == below)
        try await queue.writer.release(unstarted: claimed.map(\.claim))
        #expect(try await queue.writer.resume([folder("photos/a")]).results.map(\.result) == [.already])
        // A folder below that is paused itself, and its file that is paused besides.
        #expect(try await queue.writer.resume([folder("photos")]).results.map(\.result) == [.done])
        let all = try await queue.claimAll()
        #expect(all.count == 4)
        try await queue.writer.release(unstarted: all.map(\.claim))
        _ = try await queue.writer.undo(.last, now: sandbox.clock.now)
        #expect(try await queue.claimAll().map(\.id) == below)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a batch that is not paused as a whole lets go on what of it is paused by itself, and back")
    func pausedInside() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let ids = try await queue.reader.tasks(batch: batch, limit: 3).map(\.id)
        _ = try await queue.writer.pause([.task(ids[0]), .task(ids[1])])
        let claimed = try await queue.claimAll()
        #expect(claimed.map(\.id) == [ids[2]])
        try await queue.writer.release(unstarted: claimed.map(\.claim))
        #expect(try await queue.writer.resume([.batch(batch)]).results.map(\.result) == [.done])
        #expect(try await queue.reader.task(ids[0])?.state == .queued)
        #expect(try await queue.writer.resume([.batch(batch)]).results.map(\.result) == [.already])
        _ = try await queue.writer.undo(.last, now: sandbox.clock.now)
        #expect(try await queue.claimAll().map(\.id) == [ids[2]])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "what is paused until a time goes on by itself then: a batch, a folder, a file; another start of the engine knows it"
    )
    func untilTime() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, folders: ["a": 1])
        let other = try await queue.addTree("other", files: 1)
        let tasks = try await queue.reader.tasks(batch: batch, limit: 2).map(\.id)
        let (folder, file) = (NodeID.folder(batch, path: RawPath("photos/a")), NodeID.task(tasks[0]))
        let end = sandbox.clock.now.advanced(by: .seconds(60))
        let nodes = [folder, file, .batch(other)]
        #expect(try await queue.writer.pause(nodes, until: end).results.allSatisfy { $0.result == .done })
        #expect(try await queue.reader.standing(of: .batch(other))?.pauseEnds == end)
        #expect(try await queue.reader.standing(of: .task(tasks[1]))?.pauseEnds == end, "by its folder")
        try await queue.close()
        queue = try sandbox.open()
        #expect(try await queue.claimAll().isEmpty)
        #expect(try await queue.writer.nextWake() == end)
        #expect(try await queue.reader.statistics().awaitsPauseEnd, "an engine with nothing else to do stays")
        sandbox.clock.advance(by: .seconds(60))
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await queue.claimAll().count == 3)
        #expect(try await queue.writer.nextWake() == nil)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a pause's end can be put off, taken away and taken back; who resumes earlier has nothing to fear from it")
    func endMoved() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let (early, late) = (
            sandbox.clock.now.advanced(by: .seconds(60)), sandbox.clock.now.advanced(by: .seconds(600))
        )
        func end() async throws -> Timestamp? { try await queue.reader.standing(of: .batch(batch))?.pauseEnds }
        func pause(until time: Timestamp?) async throws -> NodeResult.Outcome {
            try await queue.writer.pause([.batch(batch)], until: time).results[0].result
        }
        #expect(try await pause(until: early) == .done)
        #expect(try await pause(until: early) == .already)
        #expect(try await pause(until: late) == .done)
        #expect(try await end() == late)
        let earlier = try await queue.writer.undo(.last, now: sandbox.clock.now).results[0]
        #expect(try await end() == early)
        #expect(earlier.pausedAgain == true && earlier.pausedUntil == early)
        #expect(try await pause(until: nil) == .done)
        #expect(try await end() == nil)
        #expect(try await pause(until: late) == .done)
        let endless = try await queue.writer.undo(.last, now: sandbox.clock.now).results[0]
        #expect(try await end() == nil)
        #expect(endless.pausedAgain == true && endless.pausedUntil == nil)
        _ = try await queue.writer.undo(.last, now: sandbox.clock.now)
        #expect(try await end() == early)
        let whole = try await queue.writer.undo(.last, now: sandbox.clock.now).results[0]
        #expect(whole.pausedAgain == nil && whole.pausedUntil == nil)
        #expect(try await queue.reader.batch(batch)?.paused == false)
        #expect(try await pause(until: early) == .done)
        // A word about all leaves it alone.
        let byAll = try await queue.writer.pause([.batch(batch)], until: late, changesEnds: false)
        #expect(byAll.results[0].result == .already)
        // Resumed, and paused again by hand: the time that was meant before is forgotten.
        _ = try await queue.writer.resume([.batch(batch)])
        #expect(try await pause(until: nil) == .done)
        sandbox.clock.advance(by: .seconds(60))
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await queue.reader.batch(batch)?.paused == true)
        try await queue.close()
    }

    @Test("a held batch whose pause ends is held still; undo of another end brings the pause back that is over")
    func heldAtEnd() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let held = try await queue.addTree("held", files: 1, held: true)
        let batch = try await queue.addTree(files: 1)
        _ = try await queue.writer.pause([.batch(batch)])
        let soon = sandbox.clock.now.advanced(by: .seconds(3))
        _ = try await queue.writer.pause([.batch(held), .batch(batch)], until: soon)
        sandbox.clock.advance(by: .seconds(4))
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await queue.reader.batch(held)?.state == .created)
        #expect(try await queue.reader.batch(batch)?.paused == false)
        _ = try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now)
        #expect(try await queue.reader.batch(batch)?.paused == true)
        #expect(try await queue.reader.batch(batch)?.pausedUntil == nil)
        try await queue.close()
    }

    @Test("a folder is one however its path is typed; below it, and of the whole, is known when it goes on")
    func folderEnd() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["a": 1, "b": 1])
        let (end, earlier) = (
            sandbox.clock.now.advanced(by: .seconds(60)), sandbox.clock.now.advanced(by: .seconds(30))
        )
        _ = try await queue.writer.pause([.folder(batch, path: RawPath("photos//b/"))], until: earlier)
        _ = try await queue.writer.pause([.folder(batch, path: RawPath("photos//a/"))], until: end)
        let task = try await queue.reader.tasks(batch: batch, limit: 1)[0]
        #expect(task.pausedUntil == end)
        #expect(try await queue.reader.batch(batch)?.pausedUntil == earlier)
        for (folder, first) in [("photos", earlier), ("photos/a", end), ("photos/b", earlier)] {
            let id = try #require(try await queue.reader.row(of: .folder(batch, path: RawPath(folder))))
            let row = try await queue.reader.row(id)
            #expect(row?.state == .paused && row?.pausedUntil == first)
        }
        _ = try await queue.writer.pause([.batch(batch)])
        #expect(try await queue.reader.task(task.id)?.pausedUntil == nil, "its batch is paused for good")
        #expect(try await queue.reader.batch(batch)?.pausedUntil == nil)
        _ = try await queue.writer.resume([
            .batch(batch), .folder(batch, path: RawPath("photos/a")), .folder(batch, path: RawPath("photos/b")),
        ])
        #expect(try await queue.writer.nextWake() == nil)
        try await queue.close()
    }

    @Test("what is over when its pause ends is left alone, and is paused no more when it is brought back")
    func overAtEnd() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        _ = try await queue.writer.pause([.batch(batch)], until: sandbox.clock.now.advanced(by: .seconds(60)))
        _ = try await queue.writer.cancel([.batch(batch)])
        let events = try await queue.eventTypes().count
        sandbox.clock.advance(by: .seconds(60))
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await queue.eventTypes().count == events)
        #expect(try await queue.writer.nextWake() == nil)
        #expect(try await queue.reader.batch(batch)?.paused == false)
        try await queue.close()
    }

    @Test("a held batch is created, and starts when it is resumed")
    func held() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, held: true)
        #expect(try await queue.reader.batch(batch)?.state == .created)
        #expect(try await queue.reader.tasks(batch: batch, limit: 1)[0].state == .created)
        #expect(try await queue.reader.tasks(batch: batch, states: [.queued], limit: 1).isEmpty)
        #expect(try await queue.claimAll().isEmpty)
        _ = try await queue.writer.resume([.batch(batch)])
        #expect(try await queue.reader.batch(batch)?.state == .running)
        #expect(try await queue.claimAll().count == 1)
        try await queue.close()
    }

    @Test("a batch with a time to begin waits for it")
    func notBefore() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let begin = sandbox.clock.now.advanced(by: .seconds(100))
        var options = TransferOptions()
        options.notBefore = begin
        let batch = try await queue.writer.add(.downloads(["http://host/a"], options: options)).batch
        #expect(try await queue.reader.batch(batch)?.state == .waiting)
        #expect(try await queue.reader.batch(batch)?.waitReasons == [.notBefore])
        #expect(try await queue.reader.tasks(batch: batch, limit: 1)[0].retryAt == begin)
        #expect(try await queue.writer.nextWake() == begin)
        #expect(try await queue.claimAll(now: sandbox.clock.now).isEmpty)
        sandbox.clock.advance(by: .seconds(100))
        #expect(try await queue.claimAll(now: sandbox.clock.now).count == 1)
        try await queue.close()
    }

    @Test("what is to be tried again is not before its batch may begin, and says so")
    func triedAgainLater() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        let soon = sandbox.clock.now.advanced(by: .seconds(5))
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: soon, error: nil), for: task.claim)
        try await queue.writer.commit()
        let begin = sandbox.clock.now.advanced(by: .seconds(3600))
        _ = try await queue.writer.set([.batch(batch)], NodeSettings(notBefore: begin))
        for node in [NodeID.batch(batch), .task(task.id)] {
            #expect(try await queue.reader.standing(of: node)?.retryAt == begin)
        }
        #expect(try await queue.reader.task(task.id)?.retryAt == begin)
        try await queue.close()
    }

    @Test("unknown nodes are refused by name, and the others are done")
    func unknown() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let nodes: [NodeID] = [
            .task(TaskID(rawValue: 99)), .batch(BatchID(rawValue: 99)), .folder(batch, path: RawPath("nowhere")),
            .batch(batch),
        ]
        let change = try await queue.writer.pause(nodes)
        #expect(change.results.map(\.id) == nodes)
        #expect(change.results.map(\.result) == [.refused, .refused, .refused, .done])
        #expect(change.results.map(\.code) == [.noSuchObject, .noSuchObject, .noSuchObject, nil])
        try await queue.close()
    }

    @Test("cancelling a batch cancels what is not over, with one event each, and finishes it")
    func cancel() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3, folders: ["a": 3])
        let tasks = try await queue.claimAll(limit: 2)
        try await queue.complete([tasks[0]])
        let change = try await queue.writer.cancel([.batch(batch)])
        #expect(change.stopped == [tasks[1].claim])
        #expect(change.results.map(\.files) == [5])
        let snapshot = try await queue.reader.batch(batch)
        #expect(snapshot?.filesCancelled == 5)
        #expect(snapshot?.state == .completed)
        #expect(snapshot?.finishedAt != nil)
        #expect(try await queue.eventTypes().filter { $0 == .taskCancelled }.count == 5)
        #expect(try await queue.eventTypes().suffix(2) == [.batchFinished, .sessionIdle])
        #expect(try await queue.reader.tasks(batch: batch, states: [.cancelled], limit: 9)[0].cause == .cancelledByUser)
        // The engine's last word on a task that it had to stop comes too late.
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[1].id)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(tasks[1].id)?.state == .cancelled)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a cancel counts the files that it stopped, of batches and of single files")
    func countedCancel() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3, folders: ["a": 3])
        let one = TaskID(rawValue: 1)
        let change = try await queue.writer.cancel([.task(one), .task(one), .batch(batch)])
        #expect(change.results.map(\.files) == [1, nil, 5])
        try await queue.close()
    }

    @Test("the last cancel is taken back within the grace time, once, and its tasks go on where they stood")
    func undo() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, folders: ["a": 2])
        let tasks = try await queue.claimAll(limit: 1)
        queue.writer.record(.running, for: tasks[0].id)
        queue.writer.record(.checkpoint(resumePoint: [5], accepted: 50), for: tasks[0].id)
        let folder = NodeID.folder(batch, path: RawPath("photos/a"))
        _ = try await queue.writer.cancel([folder])
        sandbox.clock.advance(by: .seconds(9))
        _ = try await queue.writer.cancel([.task(tasks[0].id)])
        let first = try await queue.writer.undo(.last, now: sandbox.clock.now)
        #expect(first.results.map(\.id) == [.task(tasks[0].id)])
        let again = try await queue.claimAll()
        #expect(again.map(\.id) == [tasks[0].id])
        #expect(again[0].resumePoint == [5])
        #expect(again[0].accepted == 50)
        sandbox.clock.advance(by: .seconds(2))
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).results.isEmpty)
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 2)
        let once = try await queue.writer.undo(.nodes([folder]), now: sandbox.clock.now)
        #expect(once.results.map(\.result) == [.done] && once.startsAgain)
        #expect(try await queue.writer.undo(.nodes([folder]), now: sandbox.clock.now).results[0].result == .refused)
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 0)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("how long a change can be taken back is a setting")
    func graceTime() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        await queue.writer.setGraceTime(.seconds(60))
        let batch = try await queue.addTree(files: 1)
        _ = try await queue.writer.cancel([.batch(batch)])
        sandbox.clock.advance(by: .seconds(59))
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).results.map(\.result) == [.done])
        // Until then nothing goes of what was cancelled, and no longer of other batches.
        let other = try await queue.addTree(files: 1)
        #expect(try await queue.writer.endsOfCancels(now: sandbox.clock.now).isEmpty)
        _ = try await queue.writer.cancel([.batch(batch)])
        let first = sandbox.clock.now
        sandbox.clock.advance(by: .seconds(5))
        _ = try await queue.writer.cancel([.batch(other)])
        let ends = [batch: first.advanced(by: .seconds(60)), other: first.advanced(by: .seconds(65))]
        #expect(try await queue.writer.endsOfCancels(now: sandbox.clock.now) == ends)
        sandbox.clock.advance(by: .seconds(56))
        #expect(try await queue.writer.endsOfCancels(now: sandbox.clock.now).keys.map { $0 } == [other])
        sandbox.clock.advance(by: .seconds(5))
        #expect(try await queue.writer.endsOfCancels(now: sandbox.clock.now).isEmpty)
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).results.isEmpty)
        try await queue.close()
    }

    @Test(
        "after the grace time a cancel that is named is queued again and says that it starts anew; the last change is another"
    )
    func lateUndo() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let tasks = try await queue.claimAll(limit: 2)
        try await queue.complete([tasks[0]])
        queue.writer.record(.checkpoint(resumePoint: [1], accepted: 10), for: tasks[1].id)
        let cancel = try await queue.writer.cancel([.batch(batch)])
        sandbox.clock.advance(by: .seconds(3600))
        try await queue.forgetRemains(of: tasks[1].id)
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).results.isEmpty)
        let steps = try await queue.writer.undoSteps(now: sandbox.clock.now)
        #expect(steps.map(\.operation) == [cancel.operation] && steps.first?.startsAgain == true)
        #expect(steps.first?.node == .batch(batch) && steps.first?.deed == .cancel)
        let back = try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now)
        #expect(back.results.map(\.result) == [.done] && back.startsAgain && back.undone == .cancel)
        let after = try #require(try await queue.reader.batch(batch))
        #expect(after.filesCompleted == 1 && after.filesWaiting == 2 && after.filesCancelled == 0)
        #expect(try await queue.reader.task(tasks[1].id)?.bytesAccepted == 0)
        #expect(try await queue.writer.undoSteps(now: sandbox.clock.now).isEmpty)
        #expect(try await queue.reader.check() == [])
        // By its number, too, and for a day.
        let again = try await queue.writer.cancel([.batch(batch)])
        sandbox.clock.advance(by: .seconds(86_300))
        _ = try await queue.writer.pause([.batch(try await queue.addTree("other", files: 1))])
        let number = try #require(again.operation)
        #expect(try await queue.writer.undo(.operation(number), now: sandbox.clock.now).startsAgain)
        let last = try await queue.writer.cancel([.batch(batch)])
        sandbox.clock.advance(by: .seconds(86_401))
        let gone = try #require(last.operation)
        #expect(try await queue.writer.undo(.operation(gone), now: sandbox.clock.now).results.isEmpty)
        try await queue.close()
    }

    @Test("pages of one cancel are taken back together")
    func joined() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let ids = try await queue.reader.tasks(batch: batch, limit: 3).map { NodeID.task($0.id) }
        let first = try await queue.writer.cancel([ids[0]])
        // Somebody else, between two pages.
        let other = try await queue.writer.cancel([ids[1]])
        _ = try await queue.writer.cancel([ids[2]], joining: first.operation)
        let number = try #require(first.operation)
        let taken = try await queue.writer.undo(.operation(number), now: sandbox.clock.now)
        #expect(Set(taken.results.map(\.id)) == [ids[0], ids[2]])
        // Its log has one line, however many files that were.
        func said() async throws -> [String?] {
            try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100)
                .filter { $0.type == .resumed && $0.batch == batch }.map(\.payload.message)
        }
        #expect(try await said() == ["the cancel of 2 files was taken back"])
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 1)
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).results.map(\.id) == [ids[1]])
        #expect(try await said().last == "the cancel of \(ids[1]) was taken back")
        // What was taken back is not what comes next, whoever still knows its number.
        let later = try await queue.writer.cancel([ids[0]])
        #expect(later.operation != first.operation && later.operation != other.operation)
        #expect(try await queue.writer.undo(.operation(number), now: sandbox.clock.now).results.isEmpty)
        try await queue.close()
    }

    @Test("of a batch that was cleared from the list nothing is taken back before that is")
    func hidden() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.reader.tasks(batch: batch, limit: 1).first?.id)
        let cancel = try await queue.writer.cancel([.task(task)])
        _ = try await queue.writer.purge([.batch(batch)])
        for choice in [UndoneChange.nodes([.task(task)]), .operation(try #require(cancel.operation))] {
            let refused = try await queue.writer.undo(choice, now: sandbox.clock.now).results
            #expect(refused.map(\.result) == [.refused], "\(refused)")
            #expect(refused[0].message?.contains("martlet undo") == true)
        }
        #expect(try await queue.claimAll().isEmpty, "nothing runs unseen")
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).undone == .purge)
        #expect(
            try await queue.writer.undo(.nodes([.task(task)]), now: sandbox.clock.now).results.map(\.result) == [.done])
        #expect(try await queue.claimAll().map(\.id) == [task])
        try await queue.close()
    }

    @Test("a cancel that is taken back leaves files the times of their own", arguments: [false, true])
    func timed(wholeBatch: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let ids = try await queue.reader.tasks(batch: batch, limit: 2).map(\.id)
        let time = sandbox.clock.now.advanced(by: .seconds(7200))
        _ = try await queue.writer.set([.task(ids[0])], NodeSettings(notBefore: time))
        _ = try await queue.writer.cancel(wholeBatch ? [.batch(batch)] : ids.map { .task($0) })
        _ = try await queue.writer.undo(.last, now: sandbox.clock.now)
        let task = try #require(try await queue.reader.task(ids[0]))
        #expect(task.state == .waiting && task.waitReasons == [.notBefore] && task.retryAt == time)
        #expect(try await queue.claimAll(now: sandbox.clock.now).map(\.id) == [ids[1]])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what is there already and whom to trust can be changed when all is over, and taken back")
    func policy() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.failed(TransferError(.destinationExists, "there")), for: task.id)
        try await queue.writer.commit()
        func policy() async throws -> ExistingFilePolicy? { try await queue.writer.order(of: batch)?.options.ifExists }
        #expect(try await policy() == .fail)
        func trust() async throws -> (RawPath?, String?)? {
            try await queue.writer.order(of: batch).map { ($0.options.caFile, $0.options.pin) }
        }
        let settings = NodeSettings(ifExists: .replace, caFile: RawPath("/ca.pem"), pin: "sha256//x")
        #expect(try await queue.writer.set([.batch(batch)], settings).results.map(\.result) == [.done])
        #expect(try await policy() == .replace)
        #expect(try #require(try await trust()) == (RawPath("/ca.pem"), "sha256//x"))
        #expect(try await queue.writer.set([.task(task.id)], settings).results.map(\.result) == [.refused])
        let trusted = NodeSettings(caFile: RawPath("/ca.pem"))
        let refused = try await queue.writer.set([.task(task.id)], trusted).results
        #expect(refused.map(\.result) == [.refused])
        #expect(refused.first?.message == "--ca is its batch's: 'martlet set \(batch) --ca /ca.pem'")
        // A name that cannot be shown as it is would name another file.
        let hidden = NodeSettings(caFile: RawPath(Array("/ca".utf8) + [0xFF]))
        let unnamed = try await queue.writer.set([.task(task.id)], hidden).results.first?.message
        #expect(unnamed == "--ca is its batch's: 'martlet set \(batch) --ca FILE'")
        _ = try await queue.writer.undo(.last, now: sandbox.clock.now)
        #expect(try await policy() == .fail)
        #expect(try #require(try await trust()) == (nil, nil))
        try await queue.close()
    }

    @Test("what is cleared leaves the tree and its sums, stays in the history, and comes back by undo and by a retry")
    func clear() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        func isListed() async throws -> Bool {
            let section = try await queue.reader.section(SectionRequest(parent: nil, limit: 10))
            let rows = section?.rows.map(\.id) ?? []
            #expect(section?.total == Int64(rows.count))
            #expect(try await queue.reader.totals().batches == Int64(rows.count))
            #expect(try await queue.reader.totals().problems == 0)
            return rows == [.batch(batch)]
        }
        #expect(try await queue.writer.clear([.batch(batch)]).results.map(\.result) == [.refused], "it is not over")
        var tasks = try await queue.claimAll()
        _ = try await queue.writer.cancel([.task(tasks.removeLast().id)])
        try await queue.complete(tasks)
        #expect(try await isListed())
        #expect(try await queue.writer.clearFinished().results.map(\.result) == [.done])
        #expect(try await !isListed())
        #expect(try await queue.writer.clear([.batch(batch)]).results.map(\.result) == [.already])
        #expect(try await queue.reader.batches(session: nil, limit: 10).map(\.id) == [batch])
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).undone == .clear)
        #expect(try await isListed())
        _ = try await queue.writer.clearFinished()
        _ = try await queue.writer.retry([.batch(batch)])
        #expect(
            try await queue.reader.section(SectionRequest(parent: nil, limit: 10))?.rows.map(\.id) == [.batch(batch)])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "what has failed files is not cleared before these are left out: nothing is a problem that the list does not show"
    )
    func clearFailed() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let (good, bad) = (try await queue.addTree("good", files: 1), try await queue.addTree("bad", files: 2))
        var tasks = try await queue.claimAll()
        let failed = tasks.removeLast()
        queue.writer.record(.failed(TransferError(.http, "404", httpStatus: 404)), for: failed.id)
        try await queue.complete(tasks)
        func listed() async throws -> [RowID] {
            try await queue.reader.section(SectionRequest(parent: nil, limit: 10))?.rows.map(\.id) ?? []
        }
        let change = try await queue.writer.clearFinished()
        #expect(Set(change.results.map { "\($0.id) \($0.result)" }) == ["\(good) done", "\(bad) refused"])
        #expect(try await listed() == [.batch(bad)])
        #expect(try await queue.reader.totals().problems == 1)
        let refusal = try await queue.writer.clear([.batch(bad)]).results.first
        #expect(refusal?.message?.contains("martlet retry \(bad)") == true)
        // Left out, it is no more.
        #expect(try await queue.writer.purge([.task(failed.id)]).results.map(\.result) == [.done])
        #expect(try await queue.writer.clearFinished().results.map(\.result) == [.done])
        #expect(try await listed() == [])
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).undone == .clear)
        #expect(try await listed() == [.batch(bad)])
        // The command forgets what is over, whatever came of it.
        let other = try await queue.addTree("other", files: 1)
        for task in try await queue.claimAll() {
            queue.writer.record(.failed(TransferError(.http, "404", httpStatus: 404)), for: task.id)
        }
        try await queue.writer.commit()
        #expect(
            Set(try await queue.writer.purgeFinished().results.filter { $0.result == .done }.map(\.id))
                == [.batch(good), .batch(bad), .batch(other)])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a failed task runs anew: its own event for each run")
    func retry() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        for _ in 0..<2 {
            let tasks = try await queue.claimAll()
            #expect(tasks.count == 2)
            for task in tasks {
                queue.writer.record(.failed(TransferError(.http, "404", httpStatus: 404)), for: task.id)
            }
            try await queue.writer.commit()
            #expect(try await queue.reader.batch(batch)?.state == .failed)
            #expect(try await queue.reader.batch(batch)?.causes.map(\.count) == [2])
            let result = try await queue.writer.retry([.batch(batch)])
            #expect(result.results.map(\.result) == [.done])
            #expect(try await queue.reader.batch(batch)?.finishedAt == nil)
            #expect(try await queue.reader.batch(batch)?.causes.isEmpty == true)
        }
        try await queue.complete(try await queue.claimAll())
        let types = try await queue.eventTypes()
        #expect(types.filter { $0 == .taskFailed }.count == 4)
        #expect(types.filter { $0 == .batchFinished }.count == 3)
        #expect(try await queue.writer.retry([.batch(batch)]).results[0].result == .refused)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("after another file was found in its place a retry is not in doubt whether it put that there")
    func retryAfterExists() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let codes: [TransferErrorCode] = [.destinationExists, .timedOut, .destinationExists]
        let tasks = try await queue.claimAll().sorted { $0.id < $1.id }
        for (task, code) in zip(tasks, codes) { queue.writer.record(.failed(TransferError(code, "no")), for: task.id) }
        try await queue.writer.commit()
        _ = try await queue.writer.retry([.task(tasks[2].id)])
        _ = try await queue.writer.retry([.batch(batch)])
        let again = try await queue.claimAll().sorted { $0.id < $1.id }
        #expect(again.map { $0.begunBefore == nil } == [true, false, true])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("retrying a batch leaves alone what was cancelled, unless there is nothing else")
    func retryAfterCancel() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[0].id)
        _ = try await queue.writer.cancel([.task(tasks[1].id)])
        _ = try await queue.writer.retry([.batch(batch)])
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 1)
        try await queue.complete(try await queue.claimAll())
        _ = try await queue.writer.retry([.batch(batch)])
        #expect(try await queue.claimAll().map(\.id) == [tasks[1].id])
        try await queue.close()
    }

    @Test("a retry that is given twice leaves alone what was cancelled")
    func retryTwice() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let tasks = try await queue.claimAll()
        for task in tasks[..<2] { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        _ = try await queue.writer.cancel([.task(tasks[2].id)])
        #expect(try await queue.writer.retry([.batch(batch)]).results.map(\.result) == [.done])
        #expect(try await queue.writer.retry([.batch(batch)]).results.map(\.result) == [.already])
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 1)
        #expect(try await queue.claimAll().count == 2)
        #expect(try await queue.writer.retry([.batch(batch)]).results.map(\.result) == [.already])
        #expect(try await queue.reader.batch(batch)?.filesCancelled == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what is over can be forgotten, what is not cannot; numbers are not used again")
    func purge() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        #expect(try await queue.writer.purge([.batch(batch)]).results[0].result == .refused)
        let tasks = try await queue.claimAll()
        try await queue.complete([tasks[0], tasks[2]])
        #expect(
            try await queue.writer.purge([.task(tasks[0].id), .task(tasks[1].id)]).results.map(\.result) == [
                .done, .refused,
            ])
        #expect(try await queue.reader.batch(batch)?.filesTotal == 2)
        #expect(try await queue.reader.check() == [])
        let told = try sandbox.database().rows("SELECT DISTINCT task FROM events WHERE task NOT NULL") { $0.integer(0) }
        #expect(told == [tasks[2].id.rawValue], "what was told of a forgotten file goes with it, and nothing else")
        try await queue.complete([tasks[1]])
        let last = try await queue.reader.lastEvent()
        #expect(try await queue.writer.purgeFinished().results.map(\.result) == [.done])
        #expect(try await queue.reader.batches().isEmpty)
        #expect(try await queue.reader.statistics().sessions == 0)
        #expect(try await queue.reader.check() == [])
        sandbox.clock.advance(by: .seconds(11))
        #expect(try await queue.writer.forgetPurged(now: sandbox.clock.now) == nil)
        #expect(try await queue.reader.check() == [])
        #expect(try await queue.reader.lastEvent() >= last, "the last number does not run back with a purge")
        for table in ["tasks", "folders", "own_counts", "lanes", "sources", "batches"] {
            #expect(try sandbox.database().integer("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        try await queue.close()

        queue = try sandbox.open()
        let next = try await queue.addTree(files: 1)
        #expect(next > batch)
        #expect(try await queue.reader.tasks(batch: next, limit: 1)[0].id > tasks[1].id)
        #expect(try await queue.reader.lastEvent() > last)
        try await queue.close()
    }

    @Test("only batches that finished long enough ago are forgotten by age")
    func retention() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("old", files: 0)
        sandbox.clock.advance(by: .seconds(100))
        let limit = sandbox.clock.now
        let young = try await queue.addTree("young", files: 0)
        let running = try await queue.addTree("running", files: 1)
        try await queue.writer.forget(finishedBefore: limit)
        #expect(Set(try await queue.reader.batches().map(\.id)) == [young, running])
        try await queue.close()
    }

    @Test(
        "a clock that is years ahead at the start makes nothing old, and time that has passed does",
        arguments: [12, 0.3])
    func retentionAndClock(years: Double) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree("old", files: 0)
        try await queue.close()
        // An engine that runs now and then, as time goes by.
        if years < 1 {
            for _ in 0..<110 {
                sandbox.clock.advance(by: .seconds(86_400))
                try await sandbox.open().close()
            }
        } else {
            sandbox.clock.advance(by: .seconds(years * 365 * 86_400))
        }
        queue = try sandbox.open()
        try await queue.writer.forgetOld(days: 40, except: [])
        #expect(try await queue.reader.batches().map(\.id) == (years < 1 ? [] : [batch]))
        try await queue.close()
    }
}
