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

    @Test(
        "a retry begins from the point that was recorded with the end of a failed or cancelled upload",
        arguments: [false, true])
    func retryPoint(isCancelled: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        let retry = RetryPoint(resumePoint: [7], accepted: 10, secret: "XurlX")
        // Of what was cancelled it is known, too: a retry is possible then.
        if isCancelled { _ = try await queue.writer.cancel([.task(task.id)]) }
        queue.writer.record(.failed(TransferError(.sourceChanged, "no"), retry: retry), for: task.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.task(task.id)?.state == (isCancelled ? .cancelled : .failed))
        _ = try await queue.writer.retry([.task(task.id)])
        let again = try await queue.claimAll()[0]
        #expect(again.resumePoint == [7] && again.accepted == 10 && again.resumeSecret == "XurlX")
        try await queue.close()
    }

    @Test(
        "the status by which a server said that it has a file is told, and is no other mark of the task",
        arguments: [200, 201, 202, 204, 299])
    func answered(status: Int) async throws {
        let marks: [TaskFlags] = [
            .paused, .skipped, .verifiedBySize, .verifiedByDigest, .directory, .details, .guessed, .publishing,
            .cancelled, .unsettled, .spared,
        ]
        var flags = TaskFlags()
        flags.answered = status
        #expect(flags.answered == status && marks.allSatisfy { !flags.contains($0) })
        for mark in marks { flags.insert(mark) }
        #expect(flags.answered == status)
        flags.answered = nil
        #expect(flags == TaskFlags(marks))
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        var completion = Completion(size: 10, verified: .none)
        completion.answered = status
        queue.writer.record(.completed(completion), for: task.claim)
        try await queue.writer.commit()
        let shown = try await queue.reader.task(task.id)
        #expect(shown?.answered == status && shown?.skipped == false && shown?.verified == Verification.none)
        #expect(try await queue.reader.check() == [])
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

    @Test(
        "what was sent for nothing is counted, too, when a person stopped it right before the kill",
        arguments: [true, false])
    func killedWhileStopped(cancels: Bool) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.sent(40, kept: false), for: task.id)
        _ =
            cancels
            ? try await queue.writer.cancel([.task(task.id)]) : try await queue.writer.pause([.task(task.id)])
        await queue.abandon()
        for _ in 0..<2 {
            queue = try sandbox.open()
            let shown = try #require(try await queue.reader.task(task.id))
            #expect(shown.bytesRepeated == 40 && shown.restarts == 1)
            #expect(shown.state == (cancels ? .cancelled : .paused))
            try await queue.close()
        }
    }

    @Test("a server that says late that it remembers is gone on with after a kill, by the address that it gave")
    func rememberedLate() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        let tasks = try await queue.claimAll()
        for task in tasks {
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.sent(40, kept: false), for: task.id)
            try await queue.writer.commit()
        }
        queue.writer.record(.sent(60, kept: true), for: tasks[0].id)
        for task in tasks {
            queue.writer.record(
                .checkpoint(resumePoint: Array("{}".utf8), accepted: 50, secret: "XurlX"), for: task.id)
        }
        try await queue.writer.commit()
        await queue.abandon()
        queue = try sandbox.open()
        // Any change removes the secrets that nobody refers to.
        try await queue.writer.wakeDue(now: .now)
        try await queue.writer.commit()
        let again = try await queue.claimAll()
        #expect(again.map(\.accepted) == [50, 0] && again.map(\.restarts) == [0, 1])
        // What is left at a server that cannot go on with it is still known, too.
        #expect(again.map(\.resumeSecret) == ["XurlX", "XurlX"])
        try await queue.close()
    }

    @Test("what was claimed and never begun has reached no server, whoever takes it back first")
    func neverBegun() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 5)
        let tasks = try await queue.claimAll()
        #expect(tasks.allSatisfy { $0.begunBefore == nil })
        let later = sandbox.clock.now.advanced(by: .seconds(60))
        let held = try await queue.writer.set([.task(tasks[3].id)], NodeSettings(notBefore: later))
        try await queue.writer.release(unstarted: held.stopped)
        #expect(held.stopped == [tasks[3].claim])
        queue.writer.record(.running, for: tasks[0].claim)
        queue.writer.record(.running, for: tasks[4].claim)
        queue.writer.record(.untouched, for: tasks[1].claim)
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: nil), for: tasks[1].claim)
        try await queue.writer.commit()
        let change = try await queue.writer.pause([.batch(batch)])
        // The engine says a little later what of it had not begun.
        try await queue.writer.release(unstarted: change.stopped.filter { $0 == tasks[2].claim })
        queue.writer.record(.untouched, for: tasks[4].claim)
        _ = try await queue.writer.resume([.batch(batch)])
        try await queue.writer.clearWait([WaitReasons(.backoff)])
        _ = try await queue.writer.set([.task(tasks[3].id)], NodeSettings(notBefore: sandbox.clock.now))
        let again = try await queue.claimAll().sorted { $0.id.rawValue < $1.id.rawValue }
        #expect(again.map { $0.begunBefore == nil } == [false, true, true, true, true])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("waiting is counted from the first try, also of tries that reached nobody, and anew after a person's retry")
    func patience() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 2)
        let begun = sandbox.clock.now
        for _ in 0..<3 {
            for task in try await queue.claimAll(now: sandbox.clock.now) {
                #expect(task.begunBefore == nil && (task.patienceSince ?? begun) == begun)
                queue.writer.record(.untouched, for: task.claim)
                queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: nil), for: task.claim)
            }
            try await queue.writer.commit()
            sandbox.clock.advance(by: .seconds(60))
            try await queue.writer.clearWait([WaitReasons(.backoff)])
        }
        let tried = try await queue.claimAll(now: sandbox.clock.now)
        for task in tried {
            queue.writer.record(.untouched, for: task.claim)
            queue.writer.record(.failed(TransferError(.gaveUp, "too long")), for: task.claim)
        }
        try await queue.writer.commit()
        #expect(try await queue.reader.task(tried[0].id)?.startedAt == begun)
        _ = try await queue.writer.retry([.task(tried[0].id)])
        _ = try await queue.writer.retry([.batch(batch)])
        let now = sandbox.clock.now
        let again = try await queue.claimAll(now: now)
        #expect(again.map(\.patienceSince) == [now, now])
        for task in again {
            queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: nil), for: task.claim)
        }
        try await queue.writer.commit()
        // What waits for a person, or is paused by one, is not given up for that.
        sandbox.clock.advance(by: .seconds(60))
        try await queue.writer.clearWait([WaitReasons(.auth)], of: [again[0].id])
        let answered = sandbox.clock.now
        #expect(try await queue.claimAll(now: answered).map(\.patienceSince) == [answered])
        _ = try await queue.writer.pause([.batch(batch)])
        sandbox.clock.advance(by: .seconds(60))
        _ = try await queue.writer.resume([.batch(batch)])
        try await queue.writer.clearWait([WaitReasons(.auth)])
        let resumed = sandbox.clock.now
        #expect(try await queue.claimAll(now: resumed).map(\.patienceSince) == [resumed, resumed])
        // Nor for what was not to begin before a time.
        let begin = resumed.advanced(by: .seconds(3600))
        _ = try await queue.writer.set([.batch(batch)], NodeSettings(notBefore: begin))
        sandbox.clock.advance(by: .seconds(3660))
        #expect(try await queue.claimAll(now: sandbox.clock.now).map(\.patienceSince) == [begin, begin])
        try await queue.close()
    }

    @Test("what ended by a clock that was set by days keeps its age")
    func clockSet() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let begun = sandbox.clock.now
        for task in try await queue.claimAll() {
            queue.writer.record(.failed(TransferError(.unsupported, "no")), for: task.claim)
        }
        try await queue.writer.commit()
        let ended = try #require(try await queue.reader.batch(batch)?.finishedAt)
        let times = begun...ended
        try await queue.writer.moveEnds(by: .seconds(3600), at: times)
        #expect(try await queue.reader.batch(batch)?.finishedAt == ended)
        try await queue.writer.moveEnds(by: .seconds(20 * 365 * 86_400), at: times)
        #expect(
            try await queue.reader.batch(batch)?.finishedAt == ended.advanced(by: .seconds(20 * 365 * 86_400)))
        // By the new clock already.
        try await queue.writer.moveEnds(by: .seconds(-90_000), at: times)
        #expect(
            try await queue.reader.batch(batch)?.finishedAt == ended.advanced(by: .seconds(20 * 365 * 86_400)))
        try await queue.close()
    }

    @Test("a restart brings the point of what is left along, in one step with the source's new identity")
    func restartWithPoint() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.checkpoint(resumePoint: [1], accepted: 50, secret: "old"), for: task.claim)
        let identity = SourceIdentity(size: 7, modifiedNanoseconds: 8, inode: 9)
        queue.writer.record(
            .restarted(reason: "it changed", repeated: 50, identity: identity, resumePoint: [2], secret: "old"),
            for: task.claim)
        try await queue.writer.commit()
        await queue.abandon()
        queue = try sandbox.open()
        let again = try #require(try await queue.claimAll().first)
        #expect(again.resumePoint == [2] && again.resumeSecret == "old" && again.accepted == 0 && again.size == 7)
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
        queue.writer.record(.failed(TransferError(.integrity, "it differs", .step("look there"))), for: task.id)
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
        // What was sent of the file as it was may lie there.
        #expect(again.allSatisfy { $0.begunBefore != nil })
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
        queue.writer.record(.resumedAtOffset(30, repeated: 10), for: tasks[1].id)
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

    @Test("what an upload had sent is known although the pause that broke it off came to the queue first")
    func unconfirmedAfterPause() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try #require(try await queue.claimAll().first)
        queue.writer.record(.running, for: task.claim)
        try await queue.writer.commit()
        _ = try await queue.writer.pause([.batch(batch)])
        queue.writer.record(.checkpoint(resumePoint: Array("{}".utf8), accepted: 10), for: task.claim)
        queue.writer.record(.sent(40, kept: true), for: task.claim)
        queue.writer.record(.requeued, for: task.claim)
        try await queue.close()
        queue = try sandbox.open()
        let known = try await queue.writer.unconfirmed()
        #expect(known.map(\.sent) == [40])
        // What is paused stands where its server has confirmed it: a start of the engine is no news of that.
        #expect(known.map(\.shown) == [nil])
        _ = try await queue.writer.resume([.batch(batch)])
        #expect(try await queue.writer.unconfirmed().map(\.shown) == [40])
        _ = try await queue.writer.pause([.task(task.id)])
        #expect(try await queue.writer.unconfirmed().map(\.shown) == [nil])
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
