import LinuxSystem
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Running tasks") struct RunningTests {
    @Test("a walked tree is claimed, run and finished, and everything agrees")
    func wholeLife() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2, folders: ["raw": 3])
        #expect(try await queue.reader.batch(batch)?.filesTotal == 5)
        #expect(try await queue.reader.batch(batch)?.bytesTotal == 500)
        let tasks = try await queue.claimAll()
        #expect(tasks.count == 5)
        try await queue.complete(tasks)
        let snapshot = try await queue.reader.batch(batch)
        #expect(snapshot?.state == .completed)
        #expect(snapshot?.bytesVerified == 500)
        #expect(snapshot?.finishedAt == sandbox.clock.now)
        #expect(
            try await queue.eventTypes() == [.engineStarted, .batchQueued, .batchScanned]
                + Array(repeating: .taskCompleted, count: 5) + [.batchFinished, .sessionIdle])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}
