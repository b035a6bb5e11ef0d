import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Pauses, their ends and holds, where an older change is taken back before a newer one") struct UndoPauseTests {
    private enum Kind: CaseIterable {
        case batch, folder, task

        var node: NodeID {
            switch self {
            case .batch: .batch(BatchID(rawValue: 1))
            case .folder: .folder(BatchID(rawValue: 1), path: RawPath("photos/a"))
            case .task: .task(TaskID(rawValue: 1))
            }
        }
    }

    @Test("a pause stays when an older one is taken back, and ends with its own undo", arguments: Kind.allCases)
    private func pauseAfterPause(_ kind: Kind) async throws {
        let (bench, node) = try await bench(kind)
        let first = try await bench.pause(node)
        try await bench.resume(node)
        let third = try await bench.pause(node, until: 100)
        try await bench.undo(first)
        #expect(try await bench.pause(of: node) == .until(100))
        try await bench.undo(third)
        #expect(try await bench.pause(of: node) == nil)
        try await bench.close()
    }

    @Test("a pause keeps its end when an older resume is taken back", arguments: Kind.allCases)
    private func pauseAfterResume(_ kind: Kind) async throws {
        let (bench, node) = try await bench(kind)
        try await bench.pause(node)
        let second = try await bench.resume(node)
        let third = try await bench.pause(node, until: 100)
        try await bench.undo(second)
        #expect(try await bench.pause(of: node) == .until(100))
        let back = try await bench.undo(third)
        #expect(try await bench.pause(of: node) == .endless)
        #expect(back.results.map(\.pausedAgain) == [true])
        try await bench.close()
    }

    @Test("what was resumed goes on when an older pause's end is taken back", arguments: Kind.allCases)
    private func resumeAfterEnd(_ kind: Kind) async throws {
        let (bench, node) = try await bench(kind)
        try await bench.pause(node, until: 50)
        let second = try await bench.pause(node, until: 100)
        let third = try await bench.resume(node)
        let back = try await bench.undo(second)
        #expect(try await bench.pause(of: node) == nil)
        #expect(back.results.map(\.pausedAgain) == [nil])
        try await bench.undo(third)
        #expect(try await bench.pause(of: node) == .until(50))
        try await bench.close()
    }

    @Test("a pause comes back with the undo of a later run-now, not with that of the resume", arguments: Kind.allCases)
    private func runNowAfterResume(_ kind: Kind) async throws {
        let (bench, node) = try await bench(kind)
        try await bench.pause(node, until: 100)
        let second = try await bench.resume(node)
        let third = try await bench.runNow(node)
        try await bench.undo(second)
        #expect(try await bench.pause(of: node) == nil)
        try await bench.undo(third)
        #expect(try await bench.pause(of: node) == .until(100))
        try await bench.close()
    }

    @Test("a batch that a run-now has started is not held again by the undo of an older resume")
    func runNowOfHeld() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2, held: true))
        let first = try await bench.resume(batch)
        let second = try await bench.runNow(batch)
        try await bench.undo(first)
        #expect(try bench.isHeld(batch) == false)
        try await bench.undo(second)
        #expect(try bench.isHeld(batch) == true)
        try await bench.close()
    }

    @Test("a pause says nothing of a hold, which comes back below it")
    func pauseOfHeld() async throws {
        let bench = try ChangeBench()
        let batch = NodeID.batch(try await bench.queue.addTree(files: 2, held: true))
        let first = try await bench.resume(batch)
        let second = try await bench.pause(batch)
        try await bench.undo(first)
        #expect(try bench.isHeld(batch) == true)
        #expect(try await bench.pause(of: batch) == .endless)
        try await bench.undo(second)
        #expect(try bench.isHeld(batch) == true)
        #expect(try await bench.pause(of: batch) == nil)
        try await bench.close()
    }

    @Test("pauses and resumes that an earlier version has noted are taken back as well", arguments: Kind.allCases)
    private func earlier(_ kind: Kind) async throws {
        let (bench, node) = try await bench(kind)
        let first = try await bench.pause(node)
        let second = try await bench.resume(node)
        // It did not write down what follows from the deed.
        try bench.sandbox.database(.readWrite).run("UPDATE undo SET before = '{}'")
        try await bench.undo(first)
        #expect(try await bench.pause(of: node) == nil)
        try await bench.undo(second)
        #expect(try await bench.pause(of: node) == nil)
        let third = try await bench.pause(node)
        try bench.sandbox.database(.readWrite).run("UPDATE undo SET before = '{}'")
        try await bench.undo(third)
        #expect(try await bench.pause(of: node) == nil)
        try await bench.close()
    }

    private func bench(_ kind: Kind) async throws -> (ChangeBench, NodeID) {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(folders: ["a": 2])
        return (bench, kind.node)
    }
}
