import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Times that tasks have of their own, through run-now, cancel and undo") struct UndoTimeTests {
    @Test("a time stays away while a later run-now of the batch stands, which then brings it")
    func runNowOfBatchAfterFile() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
        try await bench.delay(bench.task(1), by: 100)
        let first = try await bench.runNow(bench.task(1))
        let second = try await bench.runNow(batch)
        try await bench.undo(first)
        #expect(try await bench.delays() == [nil, nil])
        #expect(try bench.wantedNow() == [])
        try await bench.undo(second)
        #expect(try await bench.delays() == [100, nil])
        try await bench.close()
    }

    @Test("a time that an older run-now took comes back with a later cancel of the file")
    func runNowBelowCancel() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
        try await bench.delay(bench.task(1), by: 100)
        let first = try await bench.runNow(bench.task(1))
        let second = try await bench.cancel(batch)
        try await bench.undo(first)
        #expect(try await bench.states() == [.cancelled, .cancelled])
        try await bench.undo(second)
        #expect(try await bench.delays() == [100, nil])
        try await bench.close()
    }

    @Test("a time that an older run-now took goes to the cancel that ended the file, and to no older one of the batch")
    func runNowBelowTwoCancels() async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 2)
        try await bench.delay(bench.task(1), by: 100)
        let first = try await bench.runNow(bench.task(1))
        let other = try await bench.cancel(bench.task(2))
        let second = try await bench.cancel(bench.task(1))
        try await bench.undo(first)
        try await bench.undo(second)
        #expect(try await bench.delays() == [100, nil])
        try await bench.undo(other)
        #expect(try await bench.delays() == [100, nil])
        try await bench.close()
    }

    @Test("a cancel of the batch that did not end a file keeps no time from it")
    func cancelThatDidNotEndIt() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
        try await bench.delay(bench.task(1), by: 100)
        let first = try await bench.cancel(bench.task(1))
        try await bench.cancel(batch)
        try await bench.undo(first)
        #expect(try await bench.delays() == [100, nil])
        #expect(try await bench.states() == [.waiting, .cancelled])
        try await bench.close()
    }

    @Test("the oldest later change of a time has what it was before, whatever its kind")
    func threeChanges() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 1))
        let first = try await bench.delay(bench.task(1), by: 100)
        let second = try await bench.runNow(batch)
        let third = try await bench.delay(bench.task(1), by: 200)
        try await bench.undo(first)
        try await bench.undo(second)
        #expect(try await bench.delays() == [200])
        try await bench.undo(third)
        #expect(try await bench.delays() == [nil])
        try await bench.close()
    }

    @Test("a run-now of a file in a batch keeps its time while the run-now of its batch, a part of the same, stands")
    func fileOfItsBatch() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
        try await bench.delay(bench.task(1), bench.task(2), by: 100)
        try await bench.runNow(bench.task(1), batch)
        try await bench.undo(bench.task(1))
        #expect(try await bench.delays() == [nil, nil])
        #expect(try bench.wantedNow() == [])
        try await bench.undo(batch)
        #expect(try await bench.delays() == [100, 100])
        try await bench.close()
    }

    @Test("a run-now of a batch that is taken back leaves a file that is wanted now by itself, in either order")
    func batchOfItsFile() async throws {
        for order in 0...1 {
            let bench = try ChangeBench()
            let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
            try await bench.delay(bench.task(1), bench.task(2), by: 100)
            if order == 0 {
                try await bench.runNow(bench.task(1), batch)
            } else {
                try await bench.runNow(batch, bench.task(1))
            }
            try await bench.undo(batch)
            #expect(try await bench.delays() == [nil, 100])
            #expect(try bench.wantedNow() == [1])
            try await bench.undo(bench.task(1))
            #expect(try await bench.delays() == [100, 100])
            #expect(try bench.wantedNow() == [])
            try await bench.close()
        }
    }

    @Test(
        "a priority of a file stays while that of its folder, a part of the same change, stands, and the other way round"
    )
    func priorityOfFolderAndFile() async throws {
        for first in 0...1 {
            let bench = try ChangeBench()
            let batch = try await bench.queue.addTree(folders: ["d": 2])
            let folder = NodeID.folder(batch, path: RawPath("photos/d"))
            try await bench.set(folder, bench.task(1), to: NodeSettings(priority: .high))
            try await bench.undo(first == 0 ? bench.task(1) : folder)
            #expect(try await bench.priorities() == (first == 0 ? [.high, .high] : [.high, .normal]))
            try await bench.undo(first == 0 ? folder : bench.task(1))
            #expect(try await bench.priorities() == [.normal, .normal])
            try await bench.close()
        }
    }

    @Test("of a cancel of a file and its batch each part brings back what it ended, at its own time")
    func cancelOfFileAndBatch() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2))
        try await bench.delay(bench.task(1), bench.task(2), by: 100)
        try await bench.cancel(bench.task(1), batch)
        try await bench.undo(batch)
        #expect(try await bench.states() == [.cancelled, .waiting])
        try await bench.undo(bench.task(1))
        #expect(try await bench.delays() == [100, 100])
        try await bench.close()
    }

    @Test("taking a run-now back gives files their own times again", arguments: [0, 1, 2])
    func timesAfterRunNow(_ depth: Int) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(folders: ["d": 2])
        try await bench.delay(bench.task(1), by: 100)
        let node: NodeID = [.batch(batch), .folder(batch, path: RawPath("photos/d")), bench.task(1)][depth]
        try await bench.runNow(node)
        #expect(try await bench.delays() == [nil, nil])
        #expect(try await bench.undoLast().undone == .runNow)
        #expect(try await bench.delays() == [100, nil])
        #expect(try await bench.queue.writer.nextWake() == bench.later(100))
        try await bench.close()
    }

    @Test(
        "a run-now of a folder or a batch takes the time of a paused file, too, and brings it back", arguments: [0, 1])
    func timesOfPaused(_ depth: Int) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(folders: ["d": 2])
        try await bench.delay(bench.task(1), by: 100)
        _ = try await bench.queue.writer.pause([bench.task(1)])
        try await bench.runNow([.batch(batch), .folder(batch, path: RawPath("photos/d"))][depth])
        _ = try await bench.queue.writer.resume([bench.task(1)])
        #expect(try await bench.states() == [.queued, .queued])
        try await bench.undo([.batch(batch), .folder(batch, path: RawPath("photos/d"))][depth])
        #expect(try await bench.delays() == [100, nil])
        try await bench.close()
    }

    @Test("a cancel that is taken back leaves below a paused folder nothing that starts by its time")
    func timesBelowPausedFolder() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(folders: ["d": 2])
        try await bench.delay(bench.task(1), by: 100)
        try await bench.pause(.folder(batch, path: RawPath("photos/d")))
        try await bench.cancel(bench.task(1))
        try await bench.undoLast()
        #expect(try await bench.states() == [.paused, .paused])
        try await bench.resume(.folder(batch, path: RawPath("photos/d")))
        #expect(try await bench.states() == [.waiting, .queued])
        #expect(try await bench.delays() == [100, nil])
        try await bench.pause(.folder(batch, path: RawPath("photos/d")))
        bench.sandbox.clock.advance(by: .seconds(200))
        try await bench.queue.writer.wakeDue(now: bench.now)
        #expect(try await bench.states() == [.paused, .paused])
        try await bench.close()
    }

    @Test("times that a run-now of several files took come back with it, of files that run by now, too")
    func timesOfSeveral() async throws {
        let bench = try ChangeBench()
        let queue = bench.queue
        _ = try await queue.addTree(files: 3)
        try await bench.delay(bench.task(1), bench.task(2), bench.task(3), by: 100)
        try await bench.runNow(bench.task(1), bench.task(2), bench.task(3))
        let claimed = try await queue.claimAll(now: bench.now)
        queue.writer.record(.running, for: try #require(claimed.first { $0.id == TaskID(rawValue: 2) }).claim)
        try await queue.writer.commit()
        // In part first.
        try await bench.undo(bench.task(3))
        #expect(try await bench.delays() == [nil, nil, 100])
        let back = try await bench.undoLast()
        #expect(back.stopped.contains { $0.task == TaskID(rawValue: 2) })
        #expect(try await bench.delays() == [100, 100, 100])
        try await bench.close()
    }

    @Test("a time that was given since stays when an older run-now is taken back, and then brings what was before both")
    func timesOfHeirs() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 1))
        try await bench.delay(bench.task(1), by: 100)
        try await bench.runNow(batch)
        try await bench.delay(bench.task(1), by: 200)
        #expect(try await bench.undo(batch).undone == .runNow)
        #expect(try await bench.delays() == [200])
        #expect(try await bench.undo(bench.task(1)).undone == .set)
        #expect(try await bench.delays() == [100])
        try await bench.close()
    }

    @Test("a newer time stays when an older run-now of several batches is taken back, whichever comes first")
    func timesOfTwoBatches() async throws {
        for order in 0...1 {
            let bench = try ChangeBench()
            let one = NodeID.batch(try await bench.queue.addTree("one", files: 1))
            let other = NodeID.batch(try await bench.queue.addTree("other", files: 1))
            try await bench.delay(bench.task(1), by: 100)
            let run = try await order == 0 ? bench.runNow(one, other) : bench.runNow(other, one)
            try await bench.delay(bench.task(1), by: 200)
            #expect(try await bench.undo(run).undone == .runNow)
            #expect(try await bench.delays() == [200, nil])
            #expect(try await bench.undo(bench.task(1)).undone == .set)
            #expect(try await bench.delays() == [100, nil])
            try await bench.close()
        }
    }

    @Test("a run-now of a batch is no later change of a file's priority")
    func laneOfBatch() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 1))
        try await bench.delay(bench.task(1), by: 100)
        let high = try await bench.set(bench.task(1), to: NodeSettings(priority: .high))
        try await bench.runNow(batch)
        try await bench.undo(high)
        #expect(try await bench.priorities() == [.normal])
        try await bench.undo(batch)
        #expect(try await bench.priorities() == [.normal])
        #expect(try await bench.delays() == [100])
        try await bench.close()
    }

    @Test(
        "each of several files whose cancel is taken back one by one runs again at its own time",
        arguments: [[1, 2], [2, 1]] as [[Int64]])
    func cancelOneByOne(_ order: [Int64]) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        try await bench.delay(bench.task(1), bench.task(2), by: 100)
        try await bench.cancel(bench.task(1), bench.task(2))
        #expect(try await bench.undo(bench.task(order[0])).undone == .cancel)
        #expect(try await bench.delays() == (order[0] == 1 ? [100, nil] : [nil, 100]))
        #expect(try await bench.undo(bench.task(order[1])).undone == .cancel)
        #expect(try await bench.delays() == [100, 100])
        #expect(try await bench.queue.reader.batch(batch)?.filesWaiting == 2)
        try await bench.close()
    }

    @Test("a time that is taken back while a later run-now stands does not come back with that")
    func timeBelowRunNow() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 1))
        try await bench.delay(bench.task(1), by: 100)
        let set = try await bench.delay(bench.task(1), by: 200)
        try await bench.runNow(batch)
        try await bench.undo(set)
        #expect(try await bench.delays() == [nil])
        try await bench.undo(batch)
        #expect(try await bench.delays() == [100])
        try await bench.close()
    }

    @Test("a start time that is given after a run-now of a batch ends it, and one that has passed does not")
    func startTimeOfBatch() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 1)
        func isUrgent() async throws -> Bool { try await bench.queue.writer.lanes().allSatisfy(\.isUrgent) }
        try await bench.runNow(.batch(batch))
        try await bench.delay(.batch(batch), by: 0)
        #expect(try await isUrgent())
        let delay = try await bench.delay(.batch(batch), by: 100)
        #expect(try await !isUrgent())
        try await bench.undo(delay)
        #expect(try await isUrgent())
        try await bench.close()
    }

    @Test("a start time that is given after a run-now of a file ends it, and one that has passed does not")
    func startTimeOfFile() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 1, folders: ["a": 1])
        try await bench.prefer(.folder(batch, path: RawPath("photos/a")), as: .low)
        try await bench.runNow(bench.task(1), bench.task(2))
        try await bench.delay(bench.task(1), bench.task(2), by: 0)
        #expect(try bench.wantedNow() == [1, 2])
        let delay = try await bench.delay(bench.task(1), bench.task(2), by: 100)
        #expect(try bench.wantedNow() == [])
        #expect(try await bench.priorities() == [.normal, .low])
        #expect(try await bench.delays() == [100, 100])
        try await bench.undo(delay)
        #expect(try bench.wantedNow() == [1, 2])
        #expect(try await bench.delays() == [nil, nil])
        // The priority that comes with the time counts.
        try await bench.set(bench.task(1), to: NodeSettings(priority: .high, notBefore: bench.later(100)))
        #expect(try await bench.priorities() == [.high, .normal])
        #expect(try bench.wantedNow() == [2])
        try await bench.close()
    }
}
