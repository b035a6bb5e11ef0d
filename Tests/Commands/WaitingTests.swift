import CommandLine
import Configuration
import FoundationEssentials
import MartletKit
import Testing

@testable import Commands

@Suite("wait ends when nothing is left to wait for")
struct WaitingTests {
    @Test(
        "a batch's state says how it stands",
        arguments: [
            (BatchSnapshot.sample(1, .completed), WaitState.over(completed: true)),
            (.sample(1, .completed, cancelled: 1), .over(completed: false)),
            (.sample(1, .failed, failed: 1), .over(completed: false)),
            (.sample(1, .cancelled, cancelled: 1), .over(completed: false)),
            (.sample(1, .cancelled), .over(completed: false)),
            (.sample(1, .running), .moving), (.sample(1, .queued), .moving), (.sample(1, .paused), .needsPerson),
            (.sample(1, .created), .needsPerson), (.sample(1, .waiting, reasons: [.auth]), .needsPerson),
            (.sample(1, .waiting, reasons: [.auth, .backoff]), .moving), (.sample(1, .waiting), .moving),
        ])
    func state(batch: BatchSnapshot, expected: WaitState) {
        #expect(WaitState(batch) == expected)
    }

    @Test(
        "where a part of it is paused and goes on by itself, nobody is needed yet",
        arguments: [TransferState.paused, .waiting])
    func pauseEnds(state: TransferState) {
        var batch = BatchSnapshot.sample(1, state, reasons: state == .waiting ? [.auth] : [])
        batch.pausedUntil = Timestamp(milliseconds: 1)
        #expect(WaitState(batch) == .moving)
        batch.pausedUntil = nil
        #expect(WaitState(batch) == .needsPerson)
    }

    @Test("a person is needed only when nothing moves, and patience waits on")
    func outcome() {
        let done = WaitState.over(completed: true)
        #expect(WaitStanding([], patient: false) == .over(completed: true))
        #expect(WaitStanding([done, .over(completed: false)], patient: false) == .over(completed: false))
        #expect(WaitStanding([.moving, .needsPerson], patient: false) == .goOn)
        #expect(WaitStanding([done, .needsPerson], patient: false) == .needsPerson)
        #expect(WaitStanding([done, .needsPerson], patient: true) == .goOn)
    }

    @Test("waiting goes on through changes until all completed")
    func completes() async {
        let bench = Bench(
            FakeEngine {
                $0.batches = [.sample(7, .running)]
                $0.steps = [{ _ in }, { $0 = [.sample(7, .completed)] }]
            })
        #expect(await bench.run("wait", "b7") == .done)
        #expect(bench.output == "b7 completed 100% 5/5 files 700M of 1.0G\n")
        #expect(bench.engine.asked == ["batch b7", "batch b7", "batch b7"])
    }

    @Test("an end that was taken back while another batch was waited for is not told")
    func takenBack() async {
        let bench = Bench(
            FakeEngine {
                $0.batches = [.sample(7, .running), .sample(8, .running)]
                // One for each question after a batch.
                $0.steps = [
                    { _ in }, { $0 = [.sample(7, .cancelled, cancelled: 5), .sample(8, .running)] }, { _ in }, { _ in },
                    { $0 = [.sample(7, .completed), .sample(8, .completed)] },
                ]
            })
        #expect(await bench.run("wait", "b7", "b8") == .done)
        #expect(bench.output.split(separator: "\n").count == 2 && !bench.output.contains("cancelled"))
    }

    private func end(_ batch: Int64, _ state: TransferState, cancelled: [Int64] = [], completed: [Int64] = [])
        -> [TransferEvent]
    {
        func event(_ type: TransferEventType, _ task: Int64?) -> TransferEvent {
            TransferEvent(
                seq: EventSequence(rawValue: 1), at: .sample, session: .default, batch: BatchID(rawValue: batch),
                task: task.map { TaskID(rawValue: $0) }, type: type, payload: EventPayload())
        }
        var last = event(.batchFinished, nil)
        last.payload.state = state
        return cancelled.map { event(.taskCancelled, $0) } + completed.map { event(.taskCompleted, $0) } + [last]
    }

    @Test("what was purged while it was waited for counts as it had ended")
    func purged() async {
        for (events, status) in [
            (end(8, .completed), ExitStatus.done), (end(8, .failed), .refused), (end(9, .completed), .noSuchObject),
            (end(8, .completed, cancelled: [3]), .refused),
            (end(8, .completed, cancelled: [3], completed: [3]), .done),
        ] {
            let bench = Bench(
                FakeEngine {
                    $0.batches = [.sample(7, .running), .sample(8, .running)]
                    $0.events = events
                    $0.steps = [{ _ in }, { $0 = [.sample(7, .completed)] }]
                })
            #expect(await bench.run("wait", "b7", "b8") == status)
            #expect(bench.output == "b7 completed 100% 5/5 files 700M of 1.0G\n")
            #expect(bench.error.contains("martlet: b8 ") && bench.error.contains("purged"))
        }
        // What was never there is no end.
        let unknown = Bench(FakeEngine { $0.batches = [.sample(7, .completed)] })
        #expect(await unknown.run("wait", "b7", "b8") == .noSuchObject)
    }

    @Test("a failure is status 1 and told with its cause")
    func failure() async {
        let bench = Bench(FakeEngine { $0.batches = [.sample(7, .failed, failed: 2), .sample(8, .completed)] })
        #expect(await bench.run("wait") == .refused)
        #expect(bench.error == "martlet: b7: 2 failed: 403 Forbidden\n")
        #expect(bench.output.split(separator: "\n").count == 2)
    }

    @Test("what needs a person is status 4, named with what would unblock it")
    func needsPerson() async {
        let answer = WhyAnswer(
            id: .batch(BatchID(rawValue: 7)), state: .waiting, waitReasons: [.auth], since: nil, retryAt: nil, tasks: 1,
            sentence: "b7 waits for a password", unblock: "run martlet retry b7")
        let bench = Bench(
            FakeEngine {
                $0.batches = [.sample(7, .waiting, reasons: [.auth])]
                $0.answers = [answer]
            })
        #expect(await bench.run("wait", "b7") == .needsPerson)
        #expect(bench.error.contains("martlet: b7 waits for a password: run martlet retry b7\n"))
        #expect(bench.error.contains("wait: b7 cannot go on without you"))
    }

    @Test("a timeout is status 75 and names what is left")
    func timeout() async {
        let bench = Bench(FakeEngine { $0.batches = [.sample(7, .running), .sample(8, .completed)] })
        #expect(await bench.run("wait", "--json", "--timeout", "0s") == .timedOut)
        #expect(
            bench.output
                == "{\"error\":{\"code\":\"timedOutWaiting\",\"message\":\"wait: b7 not over after 0s: wait longer, or see martlet why\"}}\n"
        )
    }

    @Test("waiting for a task that is not there is status 3")
    func missing() async {
        #expect(await Bench().run("wait", "t9") == .noSuchObject)
        #expect(await Bench { $0.queueExists = false }.run("wait", "b1") == .noSuchObject)
        #expect(await Bench { $0.queueExists = false }.run("wait") == .done)
    }

    @Test("upload --wait prints the id, then how it ended")
    func uploadAndWait() async throws {
        let sandbox = try Sandbox()
        try sandbox.file("a")
        let path = sandbox.path
        let bench = Bench(FakeEngine { $0.steps = [{ $0 = [.sample(7, .completed)] }] }, progress: true) {
            $0.currentDirectory = path
        }
        #expect(await bench.run("upload", "--wait", "a", "https://h/x/") == .done)
        #expect(bench.output == "b7\nb7 completed 100% 5/5 files 700M of 1.0G\n")
        #expect(bench.error.hasPrefix("\rb7 running 68% 5/8 files 700M of 1.0G 10.0M/s 32s left"))
        #expect(bench.error.hasSuffix(" \r"))
    }

    private static let nas = {
        let batch = NodeID.batch(BatchID(rawValue: 7))
        var answer = WhyAnswer(
            id: batch, state: .waiting, waitReasons: [.hostBackoff], since: nil,
            retryAt: Timestamp(milliseconds: 1_795_264_887_000), tasks: 1,
            sentence: "b7 waits (for 4 s): nobody answers at nas:22 (after 3 ms); next try in 20 s", unblock: "",
            because: "nobody answers at nas:22 (after 3 ms)")
        answer.remedy = .idle("\(.retry(batch)) tries at once")
        answer.becauseInShort = "nobody answers at nas:22"
        return answer
    }()

    @Test("what does not move says why and what to do, once, into a pipe and on a terminal", arguments: [false, true])
    func notice(isTerminal: Bool) async throws {
        let waiting = BatchSnapshot.sample(7, .waiting, reasons: [.hostBackoff])
        let engine = FakeEngine { [waiting] in
            $0.batches = [waiting]
            $0.answers = [Self.nas]
            $0.steps = [{ _ in }, { _ in }, { _ in }, { $0 = [.sample(7, .completed)] }]
        }
        let bench = Bench(engine, progress: isTerminal)
        #expect(await bench.run("wait", "b7") == .done)
        let line =
            "martlet: b7 waits: nobody answers at nas:22 (after 3 ms); tried again at 12:41:27: martlet retry b7 tries at once\n"
        #expect(bench.error.components(separatedBy: line).count == 2)
        #expect(engine.asked.count { $0 == "why b7" } == 4)
        if isTerminal {
            #expect(bench.error.contains("\rb7 waits: nobody answers at nas:22, 68% 5/8 files"))
        } else {
            #expect(bench.error == line)
        }
    }

    @Test("a reason is said again only when it is another, or when something has arrived since")
    func notices() {
        var notices = WaitNotices()
        let id = NodeID.batch(BatchID(rawValue: 7))
        let other = NodeID.batch(BatchID(rawValue: 8))
        let heard: [(String, NodeID, Int64)] = [
            ("refused after 3 ms", id, 10), ("refused after 12 ms", id, 10), ("no such name", id, 10),
            ("refused after 4 ms", id, 10), ("no such name", other, 0), ("refused after 4 ms", id, 11),
        ]
        let new = heard.map { notices.isNew($0.0, of: $0.1, progress: $0.2) }
        #expect(new == [true, false, true, false, true, true])
    }

    @Test("watch says how many batches wait, and for what")
    func watchAll() async {
        var other = Self.nas
        (other.because, other.becauseInShort, other.state) = ("for mains power", nil, .waiting)
        var running = Self.nas
        (running.because, running.state) = (nil, .running)
        var paused = running
        paused.state = .paused
        let answers = [Self.nas, running, Self.nas, other, paused]
        #expect(
            answers.states(of: 7)
                == "1 running, 3 wait (nobody answers at nas:22; for mains power), 1 paused, 2 over")
        #expect([Self.nas].states(of: 1) == "1 waits (nobody answers at nas:22)")
        #expect([WhyAnswer]().states(of: 0).isEmpty)
        let many = (0..<10_000).map { number in
            var answer = Self.nas
            answer.becauseInShort = "nobody answers at h\(number)"
            return answer
        }
        #expect(
            many.states(of: 10_000) == "10000 wait (nobody answers at h0; nobody answers at h1; "
                + "and 9998 other reasons: see martlet why)")
        var totals = QueueTotals()
        (totals.batches, totals.counts.waiting) = (2, 3)
        #expect(
            totals.progressText(.iec, states: "2 wait (for mains power)")
                == "2 batches: 2 wait (for mains power), 0% 0/3 files 0B of 0B")
        (totals.counts.waiting, totals.counts.completed) = (0, 3)
        #expect(totals.progressText(.iec, states: "") == "2 batches completed 100% 3/3 files 0B of 0B")
    }
}
