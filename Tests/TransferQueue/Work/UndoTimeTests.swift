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
}
