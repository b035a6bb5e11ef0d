import LinuxSystem
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Running tasks") struct RunningTests {
    @Test("what ran when the engine ended begins at zero and says so, unless something remembers how far it was")
    func endedInTheMiddle() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 3)
        let tasks = try await queue.claimAll()
        for task in tasks.prefix(2) { queue.writer.record(.running, for: task.id) }
        queue.writer.record(.checkpoint(resumePoint: Array("{}".utf8), accepted: 10), for: tasks[0].id)
        try await queue.close()
        queue = try sandbox.open()
        let again = try await queue.claimAll().sorted { $0.id.rawValue < $1.id.rawValue }
        #expect(again.map(\.restarts) == [0, 1, 0])
        #expect(again.map(\.accepted) == [10, 0, 0])
        #expect(try await queue.eventTypes().count { $0 == .restarted } == 1)
        try await queue.close()
    }

    @Test("each kill has it begin at zero and says so, as long as only a guess is known of what it left")
    func killedAgain() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for kill in 1...3 {
            let task = try #require(try await queue.claimAll().first)
            #expect(task.restarts == kill - 1)
            queue.writer.record(.running, for: task.id)
            try await queue.close()
            queue = try sandbox.open()
            #expect(try await queue.writer.interruptedUploads(to: "http://").map(\.task.id) == [task.id])
            queue.writer.record(.guess(resumePoint: [7]), for: task.id)
        }
        #expect(try await queue.eventTypes().count { $0 == .restarted } == 3)
        // What is known is gone on from.
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.checkpoint(resumePoint: [8], accepted: 10), for: task.id)
        try await queue.close()
        queue = try sandbox.open()
        let again = try #require(try await queue.claimAll().first)
        #expect(again.restarts == 3 && again.resumePoint == [8] && again.accepted == 10)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what a kill threw away at a server that cannot resume is counted, and what is known of the server is kept")
    func killedOnTheWay() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        let point = Array("{}".utf8)
        for task in tasks {
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.checkpoint(resumePoint: point, accepted: 0), for: task.id)
            queue.writer.record(.sent(40, kept: false), for: task.id)
        }
        // It ends in time: nothing of it is on its way any more.
        queue.writer.record(.restarted(reason: "cut", repeated: 50, identity: nil), for: tasks[1].id)
        queue.writer.record(.checkpoint(resumePoint: point, accepted: 0), for: tasks[1].id)
        try await queue.close()
        queue = try sandbox.open()
        let shown = try await [queue.reader.task(tasks[0].id, history: true), queue.reader.task(tasks[1].id)]
        #expect(shown.map { $0?.bytesRepeated } == [40, 50])
        #expect(shown.map { $0?.restarts } == [1, 1])
        #expect(shown[0]?.history?.contains { $0.message?.hasSuffix("this server cannot resume") == true } == true)
        let again = try await queue.claimAll()
        #expect(again.map(\.resumePoint) == [point, point])
        try await queue.close()
    }

    @Test("what is forgotten leaves nothing to go on from and no doubt, only how much had been accepted")
    func forgotten() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.checkpoint(resumePoint: [8], accepted: 40, secret: "http://h/u"), for: task.id)
        queue.writer.record(.failed(TransferError(.integrity, "it differs: look there")), for: task.id)
        queue.writer.record(.forgotten, for: task.id)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(task.id)?.bytesAccepted == 40)
        _ = try await queue.writer.retry([.batch(batch)])
        let again = try #require(try await queue.claimAll().first)
        #expect(again.begunBefore == nil && again.resumePoint == nil && again.resumeSecret == nil)
        #expect(again.accepted == 40)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "who retries a file that had changed takes it as it is then, by its own name or by its batch's",
        arguments: [true, false])
    func retriedChange(byBatch: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        for (task, code) in zip(tasks, [TransferErrorCode.sourceChanged, .http]) {
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.failed(TransferError(code, "no")), for: task.id)
        }
        try await queue.writer.commit()
        _ = try await queue.writer.retry(byBatch ? [.batch(batch)] : tasks.map { .task($0.id) })
        let again = try await queue.claimAll().sorted { $0.id.rawValue < $1.id.rawValue }
        let isOpen = again.map { task in
            if case .upload(_, _, let identity) = task.work { identity.isOpen } else { false }
        }
        #expect(isOpen == [true, false])
        #expect(again.map { $0.begunBefore == nil } == [true, false])
        try await queue.close()
    }

    @Test("how far an upload had come is known after a kill, until its server has said what it has")
    func unconfirmed() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let tasks = try await queue.claimAll()
        for task in tasks {
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.checkpoint(resumePoint: Array("{}".utf8), accepted: 10), for: task.id)
            queue.writer.record(.sent(40, kept: true), for: task.id)
        }
        queue.writer.record(.resumed(at: 30, repeated: 10), for: tasks[1].id)
        queue.writer.record(.checkpoint(resumePoint: nil, accepted: 40), for: tasks[2].id)
        try await queue.close()
        queue = try sandbox.open()
        let known = try await queue.writer.unconfirmed()
        #expect(known.map(\.task) == [tasks[0].id] && known.map(\.sent) == [40] && known.map(\.batch) == [batch])
        #expect(known.map(\.shown) == [40])
        #expect(try await queue.reader.task(tasks[0].id)?.restarts == 0)
        #expect(try await queue.claimAll().map(\.accepted) == [10, 30, 40])
        try await queue.close()
    }

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
