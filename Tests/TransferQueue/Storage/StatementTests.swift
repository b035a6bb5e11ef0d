import Testing
import TransferModel

@testable import TransferQueue

@Suite("Statements") struct StatementTests {
    @Test(
        "the same changes at another time and of other batches need no other statements: values are bound, not written")
    func kept() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        var counts: [Int] = []
        for round in 0..<4 {
            let batch = try await bench.queue.addTree("photos\(round)", files: 3, folders: ["in": 2])
            let folder = NodeID.folder(batch, path: RawPath("photos\(round)/in"))
            try await bench.delay(.batch(batch), by: 60)
            try await bench.set(.batch(batch), to: NodeSettings(limit: 1000))
            let first = try await bench.queue.reader.tasks(batch: batch, limit: 1)[0].id
            for node in [NodeID.batch(batch), folder, .task(first)] {
                try await bench.pause(node, until: round + 50)
                try await bench.resume(node)
                try await bench.prefer(node, as: .high)
                try await bench.undo(node)
                try await bench.runNow(node)
                try await bench.cancel(node)
                try await bench.undo(try #require(try await writer.undoSteps(now: bench.now).first?.operation))
            }
            _ = try await bench.queue.claimAll(limit: 2)
            try await bench.cancel(.batch(batch))
            _ = try await writer.retry([.batch(batch)])
            try await bench.cancel(.batch(batch))
            _ = try await writer.clear([.batch(batch)])
            _ = try await writer.purge([.batch(batch)])
            bench.sandbox.clock.advance(by: .seconds(4000))
            _ = try await writer.endsOfCancels(now: bench.now)
            _ = try await writer.purgedRemains(now: bench.now)
            try await writer.wakeDue(now: bench.now)
            _ = try await writer.nextWake()
            _ = try await writer.forgetHosts(learntBefore: bench.now, limit: 10)
            _ = try await writer.forgetPurged(now: bench.now)
            counts.append(await writer.statementCount())
        }
        #expect(counts[3] == counts[2] && counts[2] == counts[1], "\(counts)")
        try await bench.close()
    }
}
