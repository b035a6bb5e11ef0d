import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

extension QueueWriter {
    func boundUndo(bytes: Int64, tasks: Int64) {
        store.undoLog.bounds.mostBytes = bytes
        store.undoLog.bounds.mostTasks = tasks
    }
}

@Suite("Batches that are moved together") struct MovedBatchesTests {
    private func add(_ count: Int, to queue: TransferQueue) async throws -> [NodeID] {
        var batches: [NodeID] = []
        for number in 0..<count {
            batches.append(.batch(try await queue.writer.add(.directory("tree\(number)", held: true)).batch))
        }
        return batches
    }

    private func order(_ queue: TransferQueue) async throws -> [NodeID] {
        try await queue.reader.batches().map { .batch($0.id) }
    }

    private func bytes(_ sandbox: Sandbox) throws -> Int64 {
        try sandbox.database().integer("SELECT ifnull(sum(length(before)), 0) FROM undo") ?? 0
    }

    @Test("many of many cost what the batches are, not the product, and come back as they were")
    func many() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batches = try await add(300, to: queue)
        let written = try await queue.writer.changedRows()
        var operations: [Int64] = []
        for round in 0..<4 {
            let named = batches[(round * 20)...].prefix(200)
            let place: MovePlace = [.top, .bottom, .earlier, .before(batches[299])][round]
            operations.append(try #require(try await queue.writer.move(Array(named), to: place).operation))
        }
        #expect(try bytes(sandbox) < 4 * 300 * 20)
        #expect(try await queue.writer.changedRows() - written < 4 * (300 + 200) + 100)
        for operation in operations.reversed() {
            #expect(try await queue.writer.undo(.operation(operation), now: sandbox.clock.now).undone == .move)
        }
        #expect(try await order(queue) == batches)
        try await queue.close()
    }

    @Test("the oldest changes are forgotten where they are too large together, each as a whole")
    func bounds() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let tree = try await queue.addTree("tree", files: 1, folders: ["a": 30])
        let batches = try await add(50, to: queue)
        await queue.writer.boundUndo(bytes: 5000, tasks: 200)
        func count(_ table: String) throws -> Int64 {
            try sandbox.database().integer("SELECT count(*) FROM \(table)") ?? 0
        }
        var last: Int64?
        for round in 0..<40 {
            last = try await queue.writer.move([batches[round], batches[round + 1]], to: .top).operation
            #expect(try bytes(sandbox) < 6000)
        }
        let steps = try await queue.writer.undoSteps(now: sandbox.clock.now)
        #expect(steps.count < 20 && steps.count >= 2 && steps.first?.operation == last)
        #expect(steps.allSatisfy { $0.nodes == 2 })
        let folder = NodeID.folder(tree, path: RawPath("tree/a"))
        for _ in 0..<20 {
            for place in [MovePlace.top, .bottom] { last = try await queue.writer.move([folder], to: place).operation }
            #expect(try count("undo_tasks") <= 230)
        }
        #expect(try await queue.writer.undoSteps(now: sandbox.clock.now).first?.operation == last)
        #expect(try await queue.writer.undo(.last, now: sandbox.clock.now).undone == .move)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("one of them goes back alone, whichever it is, and the others later")
    func inPart() async throws {
        for back in 0..<3 {
            let sandbox = try Sandbox()
            let queue = try sandbox.open()
            let batches = try await add(6, to: queue)
            let operation = try #require(
                try await queue.writer.move([batches[0], batches[2], batches[4]], to: .bottom).operation)
            let moved = [0, 2, 4].map { batches[$0] }
            #expect(try await order(queue) == [1, 3, 5, 0, 2, 4].map { batches[$0] })
            _ = try await queue.writer.undo(.nodes([moved[back]]), now: sandbox.clock.now)
            let after = [[0, 1, 3, 5, 2, 4], [1, 2, 3, 5, 0, 4], [1, 3, 4, 5, 0, 2]][back]
            #expect(try await order(queue) == after.map { batches[$0] }, "\(back)")
            _ = try await queue.writer.undo(.operation(operation), now: sandbox.clock.now)
            #expect(try await order(queue) == batches, "\(back)")
            try await queue.close()
        }
    }

    @Test("one that goes back while a later move stands is where it was when that one is taken back")
    func standing() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batches = try await add(5, to: queue)
        let first = try #require(try await queue.writer.move([batches[0], batches[1]], to: .bottom).operation)
        let second = try #require(try await queue.writer.move([batches[4]], to: .top).operation)
        let now = [4, 2, 3, 0, 1].map { batches[$0] }
        #expect(try await order(queue) == now)
        _ = try await queue.writer.undo(.nodes([batches[0]]), now: sandbox.clock.now)
        #expect(try await order(queue) == now)
        _ = try await queue.writer.undo(.operation(second), now: sandbox.clock.now)
        #expect(try await order(queue) == [0, 2, 3, 4, 1].map { batches[$0] })
        _ = try await queue.writer.undo(.operation(first), now: sandbox.clock.now)
        #expect(try await order(queue) == batches)
        try await queue.close()
    }
}
