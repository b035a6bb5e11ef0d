import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Waiting tasks") struct WaitingTests {
    private let refused = TransferError(.cannotConnectToHost, "connection refused", .step("start the server"))

    @Test("a task waits with its reasons and its error, and stands in line again when its time has come")
    func backoff() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        let due = sandbox.clock.now.advanced(by: .seconds(5))
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: due, error: refused), for: task.id)
        try await queue.writer.commit()
        let waiting = try await queue.reader.task(task.id)
        #expect(waiting?.state == .waiting)
        #expect(waiting?.waitReasons == [.backoff])
        #expect(waiting?.retryAt == due)
        #expect(waiting?.error == refused)
        #expect(waiting?.attempts == 1)
        #expect(try await queue.reader.batch(batch)?.waitReasons == [.backoff])
        #expect(try await queue.writer.nextWake() == due)
        try await queue.writer.wakeDue(now: due.advanced(by: .milliseconds(-1)))
        #expect(try await queue.claimAll().isEmpty)
        try await queue.writer.wakeDue(now: due)
        let again = try await queue.claimAll()
        #expect(again.map(\.failures) == [1])
        #expect(try await queue.writer.nextWake() == nil)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a row that waits for a time and has lost its task wakes the engine once")
    func damaged() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: "INSERT INTO task_details (task, retry_at) VALUES (77, 5)")
        let again = try sandbox.open()
        #expect(try await again.writer.nextWake() == Timestamp(milliseconds: 5))
        try await again.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await again.writer.nextWake() == nil)
        try await again.close()
    }

    @Test("a login that is refused again after a person gave another one is news")
    func refusedAgain() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let unknown = TransferError(
            .http, "nas does not let this user in", .step("give another login"), httpStatus: 401)
        func refuse() async throws {
            let task = try await queue.claimAll()[0]
            queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: unknown), for: task.id)
            try await queue.writer.commit()
        }
        try await refuse()
        var login = TransferSecrets()
        (login.user, login.password) = ("ana", "mistyped")
        let change = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: login)
        try await queue.writer.requeueWaitingForLogin(change.loginsGiven)
        try await refuse()
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100)
        let told = events.filter { [.waiting, .resumed].contains($0.type) }
        #expect(told.map(\.type) == [.waiting, .resumed, .waiting])
        #expect(told[1].batch == batch && told[1].task == nil && told[1].payload.message == "another login was given")
        // Nothing that waits was let go: nobody has to hear of it.
        try await queue.writer.requeueWaitingForLogin(change.loginsGiven)
        try await queue.writer.requeueWaitingForLogin(change.loginsGiven)
        #expect(try await queue.reader.events(after: told[2].seq, limit: 100).map(\.type) == [.resumed])
        try await queue.close()
    }

    @Test("what stays paused is not told to go on when its login is given")
    func pausedMeanwhile() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        let unknown = TransferError(
            .http, "nas does not let this user in", .step("give another login"), httpStatus: 401)
        queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: unknown), for: task.id)
        try await queue.writer.commit()
        _ = try await queue.writer.pause([.batch(batch)])
        var login = TransferSecrets()
        (login.user, login.password) = ("ana", "right")
        let change = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: login)
        try await queue.writer.requeueWaitingForLogin(change.loginsGiven)
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100)
        #expect(!events.contains { $0.type == .resumed })
        #expect(try await queue.reader.task(task.id)?.state == .paused)
        try await queue.close()
    }

    @Test("the waiting tasks of a batch are counted by their servers, all at once")
    func servers() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let urls = (0..<7).map { "https://h\($0 % 3)/f\($0)" }
        let batch = try await queue.writer.add(.downloads(urls)).batch
        let others = try await queue.writer.add(.downloads(["https://h1/other"])).batch
        for task in try await queue.claimAll() where task.id.rawValue != 1 {
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now.advanced(by: .seconds(60)), error: refused),
                for: task.id)
        }
        try await queue.writer.commit()
        let counts = try await queue.reader.waitingTasks(of: batch)
        #expect(counts == ["https://h0:443": 2, "https://h1:443": 2, "https://h2:443": 2])
        #expect(try await queue.reader.waitingTasks(of: others) == ["https://h1:443": 1])
        try await queue.close()
    }

    @Test("when the clock is set, what was to be tried soon is tried soon, and never far away")
    func setClock() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 3)
        let tasks = try await queue.claimAll()
        let now = sandbox.clock.now
        let (hours, seconds) = (Duration.seconds(9 * 3600), Duration.seconds(10))
        let day = Duration.seconds(86_400)
        // The first two were written by a clock that went right, before the machine came up with one that is behind: the second was sent
        // away for hours by its server.
        sandbox.clock.advance(by: hours)
        for (task, wait) in zip(tasks, [seconds, hours, seconds]) {
            if task.id == tasks[2].id { sandbox.clock.advance(by: .zero - hours) }
            let time = sandbox.clock.now.advanced(by: wait)
            queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: time, error: refused), for: task.claim)
            try await queue.writer.commit()
        }
        func waits(from time: Timestamp) async throws -> [Duration?] {
            var waits: [Duration?] = []
            for task in tasks { waits.append(try await queue.reader.task(task.id)?.retryAt?.since(time)) }
            return waits
        }
        try await queue.writer.moveRetries(by: .zero, now: now, within: day)
        #expect(try await waits(from: now) == [seconds, hours, seconds])
        let later = now.advanced(by: hours)
        try await queue.writer.moveRetries(by: hours, now: later, within: day)
        #expect(try await waits(from: later) == [seconds, hours, seconds])
        for back in [later.advanced(by: .seconds(-300)), now.advanced(by: .zero - day)] {
            try await queue.writer.moveRetries(by: .zero, now: back, within: day)
            #expect(try await waits(from: back) == [seconds, hours, seconds])
        }
        let last = now.advanced(by: .zero - day)
        try await queue.writer.moveRetries(by: .zero, now: last, within: .seconds(300))
        #expect(try await waits(from: last) == [seconds, .seconds(300), seconds])
        try await queue.close()
    }

    @Test("a task that waits for its next try does not wait for a time that was taken back")
    func timeTakenBack() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        let (due, later) = (
            sandbox.clock.now.advanced(by: .seconds(60)), sandbox.clock.now.advanced(by: .seconds(86_400))
        )
        let tasks = try await queue.claimAll().map(\.id)
        for id in tasks {
            queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: due, error: refused), for: id)
            _ = try await queue.writer.set([.task(id)], NodeSettings(notBefore: later))
        }
        #expect(try await queue.reader.task(tasks[0])?.retryAt == later)
        _ = try await queue.writer.undo(.nodes([.task(tasks[0])]), now: sandbox.clock.now)
        let waiting = try await queue.reader.task(tasks[0])
        #expect(waiting?.waitReasons == [.backoff] && waiting?.retryAt == due)
        // Whoever says "at once" does not mean the next try, either.
        _ = try await queue.writer.set([.task(tasks[1])], NodeSettings(notBefore: sandbox.clock.now))
        #expect(try await queue.reader.task(tasks[1])?.state == .queued)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a time that is put back starts nothing anew that is over")
    func timePutBack() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let later = sandbox.clock.now.advanced(by: .seconds(86_400))
        let tasks = try await queue.claimAll().map(\.id)
        for id in tasks {
            _ = try await queue.writer.set([.task(id)], NodeSettings(notBefore: later))
            _ = try await queue.writer.set([.task(id)], NodeSettings(notBefore: sandbox.clock.now))
        }
        let again = try await queue.claimAll()
        try await queue.complete([again[0]])
        queue.writer.record(.failed(TransferError(.http, "no")), for: again[1].claim)
        try await queue.writer.commit()
        _ = try await queue.writer.cancel([.task(again[2].id)])
        for claim in again { _ = try await queue.writer.undo(.nodes([.task(claim.id)]), now: sandbox.clock.now) }
        _ = try await queue.writer.undo(.nodes([.task(again[2].id)]), now: sandbox.clock.now)
        var states: [TransferState?] = []
        for claim in again { states.append(try await queue.reader.task(claim.id)?.state) }
        // The cancel is what was done to the third last: it is taken back, and then its time.
        #expect(states == [.completed, .failed, .waiting])
        #expect(try await queue.reader.batch(batch)?.filesCompleted == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("failures in a row are counted until the accepted position advances")
    func failures() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for expected in [0, 1, 2, 1] {
            let task = try await queue.claimAll()[0]
            #expect(task.failures == expected)
            queue.writer.record(.running, for: task.id)
            if expected == 2 { queue.writer.record(.checkpoint(resumePoint: nil, accepted: 10), for: task.id) }
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        try await queue.close()
    }

    @Test("an upload that goes on further than was known has made progress")
    func resumedFurther() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for (offset, expected) in [(Int64(10), 0), (20, 1), (20, 1), (20, 2), (30, 3), (30, 1)] {
            let task = try await queue.claimAll()[0]
            #expect(task.failures == expected, "before \(offset)")
            queue.writer.record(.resumedAtOffset(offset, repeated: 0), for: task.id)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        try await queue.close()
    }

    @Test("bytes that are confirmed again after the file began anew are no progress, until a person retries it")
    func confirmedAgain() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        func attempt(_ accepted: Int64, expecting failures: Int, fails: Bool = false) async throws {
            let task = try await queue.claimAll()[0]
            #expect(task.failures == failures, "before \(accepted)")
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.checkpoint(resumePoint: nil, accepted: accepted), for: task.id)
            queue.writer.record(.restarted(reason: "lost", repeated: accepted, identity: nil), for: task.id)
            if fails {
                queue.writer.record(.failed(refused), for: task.id)
                try await queue.writer.commit()
            } else {
                queue.writer.record(
                    .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
                try await queue.writer.wakeDue(now: sandbox.clock.now)
            }
        }
        try await attempt(50, expecting: 0)
        try await attempt(50, expecting: 1)
        try await attempt(40, expecting: 2)
        // It comes further than ever.
        try await attempt(60, expecting: 3)
        try await attempt(60, expecting: 1, fails: true)
        _ = try await queue.writer.retry([.batch(batch)])
        try await attempt(60, expecting: 0)
        let task = try await queue.claimAll()[0]
        // After so many beginnings only what an attempt goes on from counts.
        #expect(task.failures == 1 && task.furthest == 0 && task.accepted == 0)
        try await queue.close()
    }

    @Test("bytes of another version at the server are progress, however far the one before came")
    func anotherVersion() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for (accepted, isOther) in [(50, false), (40, true), (10, false)] as [(Int64, Bool)] {
            let task = try await queue.claimAll()[0]
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.checkpoint(resumePoint: nil, accepted: accepted), for: task.id)
            queue.writer.record(
                .restarted(reason: "changed", repeated: accepted, identity: nil, isOther: isOther), for: task.id)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        let task = try await queue.claimAll()[0]
        #expect(task.furthest == 10 && task.failures == 1)
        try await queue.close()
    }

    @Test("to go back and to come again is no progress, whoever says so")
    func backAndAgain() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for round in 0..<3 {
            let task = try await queue.claimAll()[0]
            queue.writer.record(.running, for: task.id)
            #expect(task.failures == round)
            queue.writer.record(.resumedAtOffset(40, repeated: 0), for: task.id)
            queue.writer.record(.checkpoint(resumePoint: nil, accepted: 60), for: task.id)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        let task = try await queue.claimAll()[0]
        #expect(task.furthest == 60 && task.failures == 3)
        try await queue.close()
    }

    @Test("one byte more with each attempt, or of ever new versions, is no progress, and its events have a bound")
    func byteByByte() async throws {
        for isOther in [false, true] {
            let sandbox = try Sandbox()
            let queue = try sandbox.open()
            let batch = try await queue.addTree(files: 1)
            var most = 0
            for count in 1...250 {
                let task = try await queue.claimAll()[0]
                most = max(most, task.failures)
                #expect(task.failures >= min(count - 1 - (isOther ? 4 : 0), 1))
                queue.writer.record(.running, for: task.id)
                queue.writer.record(.sizeKnown(1 << 40), for: task.id)
                if isOther {
                    queue.writer.record(
                        .restarted(reason: "changed", repeated: 1, identity: nil, isOther: true), for: task.id)
                }
                let accepted: Int64 = isOther ? 100_000 : Int64(count)
                queue.writer.record(.resumedAtOffset(accepted, repeated: 0), for: task.id)
                let error = count.isMultiple(of: 2) ? refused : TransferError(.timedOut, "silent")
                queue.writer.record(
                    .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: error), for: task.id)
                try await queue.writer.wakeDue(now: sandbox.clock.now)
            }
            #expect(most >= 245)
            let kinds: [TransferEventType] = [.waiting, .restarted, .resumedAtOffset]
            let events = try await queue.eventTypes().filter { kinds.contains($0) }.count
            #expect(events <= (isOther ? 310 : 210))
            // A person's retry is news.
            for task in try await queue.claimAll() { queue.writer.record(.failed(refused), for: task.id) }
            try await queue.writer.commit()
            _ = try await queue.writer.retry([.batch(batch)])
            let task = try await queue.claimAll()[0]
            #expect(task.failures == 0)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.commit()
            #expect(try await queue.eventTypes().last == .waiting)
            try await queue.close()
        }
    }

    @Test(
        "a file that grows while it is read is no progress after three versions, until an attempt goes on from what is there"
    )
    func growing() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        func attempt(_ facts: TaskFact...) async throws -> ClaimedTask {
            let task = try await queue.claimAll()[0]
            for fact in [.running] + facts { queue.writer.record(fact, for: task.id) }
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
            return task
        }
        let restarted = TaskFact.restarted(reason: "changed", repeated: 1, identity: nil, isOther: true)
        var failures: [Int] = []
        for count in 1...12 {
            let length = Int64(count) << 20
            failures.append(try await attempt(.checkpoint(resumePoint: nil, accepted: length), restarted).failures)
        }
        #expect(failures.suffix(8) == Array(failures[4]..<(failures[4] + 8)), "\(failures)")
        // What came is of use once it is gone on with, and not before.
        _ = try await attempt(.checkpoint(resumePoint: nil, accepted: 50 << 20))
        let before = try await attempt().failures
        let going = try await attempt(.resumedAtOffset(50 << 20, repeated: 0))
        #expect(before > failures[11] && going.failures == before + 1)
        #expect(try await attempt(.resumedAtOffset(50 << 20, repeated: 0)).failures == 1, "once")
        #expect(try await attempt().failures == 2)
        try await queue.close()
    }

    @Test("the time of a reading that the next attempt may go on from does not count towards giving up")
    func patience() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let hour: Int64 = 3_600_000
        func attempt(lasting duration: Int64 = 0, _ facts: TaskFact...) async throws -> ClaimedTask {
            let task = try await queue.claimAll()[0]
            queue.writer.record(.running, for: task.id)
            try await queue.writer.commit()
            sandbox.clock.advance(by: .milliseconds(duration))
            for fact in facts { queue.writer.record(fact, for: task.id) }
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
            return task
        }
        let restarted = TaskFact.restarted(reason: "changed", repeated: 1, identity: nil, isOther: true)
        _ = try await attempt(.checkpoint(resumePoint: nil, accepted: 10))
        for _ in 1...4 { _ = try await attempt(restarted) }
        let before = try #require(try await attempt().patienceSince)
        _ = try await attempt(lasting: 3 * hour, .checkpoint(resumePoint: nil, accepted: 1 << 30))
        let after = try #require(try await attempt().patienceSince)
        #expect(after.milliseconds - before.milliseconds >= 3 * hour)
        _ = try await attempt(lasting: 3 * hour)
        #expect(try await attempt().patienceSince == after, "nothing came")
        // One that begins again has not gone on from there, and its own time is in doubt alone.
        for _ in 1...3 {
            _ = try await attempt(lasting: 3 * hour, restarted, .checkpoint(resumePoint: nil, accepted: 2 << 30))
        }
        let last = try #require(try await attempt().patienceSince)
        #expect(last.milliseconds - before.milliseconds <= 3 * hour)
        try await queue.close()
    }

    @Test("a beginning again that has nothing to lose was told by who lost it")
    func toldOnce() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        var task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.restarted(reason: "broken off", repeated: 100, identity: nil), for: task.id)
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        task = try await queue.claimAll()[0]
        queue.writer.record(.restarted(reason: "cannot go on", repeated: 0, identity: nil), for: task.id)
        try await queue.writer.commit()
        let shown = try #require(try await queue.reader.task(task.id))
        #expect(shown.restarts == 1 && shown.bytesRepeated == 100)
        #expect(try await queue.eventTypes().filter { $0 == .restarted }.count == 1)
        try await queue.close()
    }

    @Test("what many attempts confirm together is progress")
    func littleByLittle() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        var failures: [Int] = []
        for count in 1...8 {
            let task = try await queue.claimAll()[0]
            failures.append(task.failures)
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.sizeKnown(1 << 40), for: task.id)
            queue.writer.record(.checkpoint(resumePoint: nil, accepted: Int64(count) * 30_000), for: task.id)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        #expect(failures == [0, 1, 2, 3, 1, 2, 3, 1])
        try await queue.close()
    }

    @Test("the same news is told once, until something else happens")
    func news() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        for _ in 0..<5 {
            let task = try await queue.claimAll()[0]
            queue.writer.record(.running, for: task.id)
            queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: refused), for: task.id)
            try await queue.writer.wakeDue(now: sandbox.clock.now)
        }
        #expect(try await queue.eventTypes().filter { $0 == .waiting }.count == 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.id)
        queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: nil), for: task.id)
        try await queue.writer.commit()
        #expect(try await queue.eventTypes().filter { $0 == .waiting }.count == 2)
        #expect(try await queue.reader.task(task.id)?.attempts == 6)
        try await queue.close()
    }

    @Test("a reason that is gone lets go of those that waited for nothing else, where it is gone")
    func clearing() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let request = BatchRequest.downloads(["http://a/1", "http://b:81/2", "http://a/3"])
        let batch = try await queue.writer.add(request).batch
        let tasks = try await queue.claimAll().sorted { $0.id < $1.id }
        let both: WaitReasons = [WaitReasons(.hostBackoff), WaitReasons(.connectivity)]
        for (task, reasons) in zip(tasks, [WaitReasons(.hostBackoff), WaitReasons(.hostBackoff), both]) {
            queue.writer.record(.waiting(reasons, retryAt: nil, error: nil), for: task.id)
        }
        try await queue.writer.clearWait(WaitReasons(.hostBackoff), origin: "http://a:80")
        #expect(try await queue.reader.tasks(batch: batch, limit: 3).map(\.state) == [.queued, .waiting, .waiting])
        #expect(try await queue.reader.tasks(batch: batch, limit: 3)[2].waitReasons == [.connectivity])
        #expect(try await queue.reader.batch(batch)?.waitReasons == [.connectivity, .hostBackoff])
        try await queue.writer.clearWait(both)
        #expect(try await queue.reader.batch(batch)?.waitReasons == [])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a waiting task that is paused and resumed waits on; retry tries at once")
    func paused() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: refused), for: task.id)
        let folder = NodeID.folder(batch, path: RawPath("photos"))
        for node in [NodeID.task(task.id), folder] {
            _ = try await queue.writer.pause([node])
            #expect(try await queue.reader.task(task.id)?.state == .paused)
            #expect(try await queue.reader.batch(batch)?.waitReasons == [])
            _ = try await queue.writer.resume([node])
            #expect(try await queue.reader.task(task.id)?.state == .waiting)
            #expect(try await queue.reader.check() == [])
        }
        _ = try await queue.writer.retry([.batch(batch)])
        #expect(try await queue.claimAll().count == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what is claimed and never started was never begun")
    func released() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        let first = try await queue.claimAll()
        try await queue.writer.release(unstarted: [first[0].claim])
        let again = try await queue.claimAll()
        #expect(again.map(\.begunBefore) == [nil])
        try await queue.writer.release(unstarted: [again[0].claim, first[1].claim, .anyone(TaskID(rawValue: 77))])
        #expect(try await queue.reader.task(first[0].id)?.startedAt == nil)
        #expect(try await queue.claimAll().map(\.id) == first.map(\.id))
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a claim is on the disk before its tasks are handed out")
    func durableClaims() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 5)
        let commits = await queue.writer.commits
        let claimed = try await queue.claimAll(limit: 3, now: Timestamp(milliseconds: 123))
        #expect(await queue.writer.commits == commits + 1)
        #expect(
            try sandbox.database().rows("SELECT id FROM tasks WHERE begun_at = 123") { $0.integer(0) }
                == claimed.map(\.id.rawValue))
        #expect(try await queue.writer.lanes().map(\.ready) == [2])
        await queue.abandon()
    }
}
