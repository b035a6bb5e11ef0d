import CommandLine
import MartletKit
import Testing

@testable import Commands

@Suite("wait ends when nothing is left to wait for")
struct WaitingTests {
    @Test(
        "a batch's state says how it stands",
        arguments: [
            (BatchSnapshot.sample(1, .completed), Standing.over(completed: true)),
            (.sample(1, .completed, cancelled: 1), .over(completed: false)),
            (.sample(1, .failed, failed: 1), .over(completed: false)),
            (.sample(1, .cancelled, cancelled: 1), .over(completed: false)),
            (.sample(1, .running), .moving), (.sample(1, .queued), .moving), (.sample(1, .paused), .needsPerson),
            (.sample(1, .created), .needsPerson), (.sample(1, .waiting, reasons: [.auth]), .needsPerson),
            (.sample(1, .waiting, reasons: [.auth, .backoff]), .moving), (.sample(1, .waiting), .moving),
        ])
    func standing(batch: BatchSnapshot, expected: Standing) {
        #expect(Standing(batch) == expected)
    }

    @Test("a person is needed only when nothing moves, and patience waits on")
    func outcome() {
        let done = Standing.over(completed: true)
        #expect(WaitOutcome([], patient: false) == .over(completed: true))
        #expect(WaitOutcome([done, .over(completed: false)], patient: false) == .over(completed: false))
        #expect(WaitOutcome([.moving, .needsPerson], patient: false) == .goOn)
        #expect(WaitOutcome([done, .needsPerson], patient: false) == .needsPerson)
        #expect(WaitOutcome([done, .needsPerson], patient: true) == .goOn)
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
}
