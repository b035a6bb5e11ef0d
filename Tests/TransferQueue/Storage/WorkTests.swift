import Testing
import TransferModel

@testable import TransferQueue

/// The work of a change follows what it changes, whatever else of the queue waits or has failed.
@Suite("Work of a change") struct WorkTests {
    private static let folders = 40

    /// A change of a tree's folders that failed or wait, or of many batches.
    enum Change: CaseIterable {
        case retry, retryCancelled, runNow, runNowBatches, cancel, cancelBatches, undoCancels
    }

    @Test(
        "a change of many folders or batches does not go through what waits or failed elsewhere",
        arguments: Change.allCases)
    func bystanders(change: Change) async throws {
        let (few, many) = (try await steps(of: change, bystanders: 100), try await steps(of: change, bystanders: 3000))
        #expect(many < few * 2, "\(few) steps beside 100 files, \(many) beside 3,000")
    }

    /// Steps of SQLite's machine.
    private func steps(of change: Change, bystanders: Int) async throws -> Int64 {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree("others", files: bystanders)
        try await stop(bench, at: bystanders / 2)
        let names = (0..<Self.folders).map { "f\($0)" }
        let batch = try await bench.queue.addTree(
            "mine", folders: Dictionary(uniqueKeysWithValues: names.map { ($0, 2) }))
        var batches: [NodeID] = []
        for number in 0..<Self.folders { batches.append(.batch(try await bench.queue.addTree("b\(number)", files: 1))) }
        let folders = names.map { NodeID.folder(batch, path: RawPath("mine/\($0)")) }
        let writer = bench.queue.writer
        switch change {
        case .retry: try await stop(bench, at: 0)
        case .retryCancelled: try await bench.cancel(.batch(batch))
        case .undoCancels:
            try await bench.pause(.batch(batch))
            for folder in folders { try await bench.pause(folder) }
            _ = try await writer.cancel(folders)
        case .runNow, .runNowBatches, .cancel, .cancelBatches: break
        }
        try await writer.commit()
        let before = await writer.virtualMachineSteps()
        let changed: NodeChange =
            switch change {
            case .retry: try await writer.retry(folders)
            case .retryCancelled: try await writer.retry([.batch(batch)])
            case .runNow: try await writer.runNow(folders)
            case .runNowBatches: try await writer.runNow(batches)
            case .cancel: try await writer.cancel(folders)
            case .cancelBatches: try await writer.cancel(batches)
            case .undoCancels: try await bench.undoLast()
            }
        let steps = await writer.virtualMachineSteps() - before
        #expect(changed.results.allSatisfy { $0.result == .done }, "\(changed.results)")
        try await bench.close()
        return steps
    }

    /// Ends each attempt: the first ones fail, the others wait.
    private func stop(_ bench: ChangeBench, at first: Int) async throws {
        let error = TransferError(.permissionDenied, "no")
        for (number, task) in try await bench.queue.claimAll(limit: 10_000).enumerated() {
            bench.queue.writer.record(
                number < first
                    ? .failed(error, retry: nil)
                    : .waiting(WaitReasons(.backoff), retryAt: bench.later(3000), error: error), for: task.claim)
        }
        try await bench.queue.writer.commit()
    }

    @Test("purging single files goes through no other files that failed in their folder")
    func failedNeighbours() async throws {
        func steps(failed: Int) async throws -> Int64 {
            let bench = try ChangeBench()
            _ = try await bench.queue.addTree(files: failed)
            try await stop(bench, at: failed)
            let before = await bench.queue.writer.virtualMachineSteps()
            let purged = try await bench.queue.writer.purge((1...50).map { bench.task($0) })
            #expect(purged.results.allSatisfy { $0.result == .done })
            let steps = await bench.queue.writer.virtualMachineSteps() - before
            try await bench.close()
            return steps
        }
        let (few, many) = (try await steps(failed: 100), try await steps(failed: 3000))
        // What the batch failed of is counted once, at the end.
        #expect(many < few * 5, "\(few) steps among 100 failed files, \(many) among 3,000")
    }

    @Test("a cancel of many files that is taken back goes through the paused folders of their batch once")
    func pausedFolders() async throws {
        func steps(paused: Int) async throws -> Int64 {
            let bench = try ChangeBench()
            let names = (0..<paused).map { "f\($0)" }
            let batch = try await bench.queue.addTree(
                "mine", files: 100, folders: Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
            for name in names { try await bench.pause(.folder(batch, path: RawPath("mine/\(name)"))) }
            _ = try await bench.queue.writer.cancel((1...100).map { bench.task($0) })
            let before = await bench.queue.writer.virtualMachineSteps()
            _ = try await bench.undoLast()
            let steps = await bench.queue.writer.virtualMachineSteps() - before
            try await bench.close()
            return steps
        }
        let (few, many) = (try await steps(paused: 4), try await steps(paused: 80))
        #expect(many < few * 2, "\(few) steps with 4 paused folders, \(many) with 80")
    }
}
