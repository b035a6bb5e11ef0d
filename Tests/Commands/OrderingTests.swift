import CommandLine
import FoundationEssentials
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("What goes first, how fast, and back again")
struct OrderingTests {
    private let b7 = NodeID.batch(BatchID(rawValue: 7))

    private func bench(_ result: NodeResult.Outcome = .done, _ prepare: (inout FakeEngine.State) -> Void = { _ in })
        -> Bench
    {
        Bench(
            FakeEngine { state in
                state.results = [NodeResult(id: b7, result: result)]
                prepare(&state)
            })
    }

    @Test("move wants exactly one place, and tells of each ID")
    func move() async {
        let bench = bench()
        #expect(await bench.run("move", "b7") == .usage)
        #expect(await bench.run("move", "b7", "--top", "--bottom") == .usage)
        #expect(bench.engine.asked.isEmpty)
        #expect(await bench.run("move", "b7", "--before", "b3") == .done)
        #expect(bench.output == "b7 moved\n")
        #expect(bench.engine.asked.first?.contains("before") == true)
    }

    @Test("a pause may end by itself")
    func pauseUntil() async {
        let bench = bench()
        #expect(await bench.run("pause", "b7", "--until", "2027-01-02T03:04:05Z") == .done)
        #expect(bench.output.hasPrefix("b7 paused until 2027-01-02 "))
        #expect(bench.engine.asked.first?.hasPrefix("pauseUntil") == true)
        #expect(await bench.run("pause", "b7", "--until", "soon") == .usage)
        // Paused for good, and meant by a selector: no other time is claimed.
        let already = self.bench(.already)
        #expect(await already.run("pause", "--all", "--until", "2027-01-02T03:04:05Z") == .done)
        #expect(already.output == "b7 was paused already\n")
        #expect(await bench.run("resume", "b7", "--until", "+2h") == .usage)
    }

    @Test("a batch is queued before all others; when it cannot be moved it is queued all the same, and that is said")
    func first() async {
        let bench = bench()
        #expect(await bench.run("download", "--first", "https://h/x", "/tmp/") == .done)
        #expect(bench.engine.asked.contains { $0.contains("top") })
        let refused = self.bench(.refused)
        #expect(await refused.run("download", "--first", "https://h/x", "/tmp/") == .done)
        #expect(refused.error.contains("is queued, but not before the others"))
    }

    @Test("set gives a batch anew what lets it in, and asks for a password as upload does")
    func renew() async throws {
        let engine = FakeEngine { $0.batches = [.sample(7, .waiting)] }
        let bench = Bench(engine) { $0.environment = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"] }
        func renewed(_ words: String...) async -> TransferSecrets? {
            bench.engine.state.withLock { $0.renewed = nil }
            _ = await bench.run((["set", "b7"] + words).map { Argument($0) })
            return bench.engine.state.withLock { $0.renewed }
        }
        let header = await renewed("--header", "Authorization: Bearer x")
        #expect(header?.headers == [HeaderField("Authorization", "Bearer x")] && header?.user == nil)
        let command = await renewed("--user", "u", "--password-command", "pass")
        #expect(command?.user == "u" && command?.passwordCommand == "pass" && command?.s3 == nil)
        #expect(await renewed("--s3-keys")?.s3 == S3Keys(accessKeyID: "AK", secretAccessKey: "SK"))
        #expect(await renewed("--netrc", "n")?.netrcFile == RawPath("/nowhere/n"))
        #expect(await renewed("--limit", "2M") == nil)
        #expect(await bench.run("set", "b7", "--user", "u") == .usage, "there is no terminal")
        #expect(await bench.run("set", "b7", "--user", "u:p") == .usage)
        let asking = Bench(engine) { $0.askPassword = { $0 == "Password for nas, user u: " ? "typed" : nil } }
        #expect(await asking.run("set", "b7", "--user", "u") == .done)
        #expect(asking.engine.state.withLock { $0.renewed }?.password == "typed")
        #expect(await asking.run("set", "b8", "--user", "u") == .noSuchObject, "nobody types a password for it")
        let byKeys = Bench(engine) { $0.askPassword = { _ in "" } }
        #expect(await byKeys.run("set", "b7", "--user", "u") == .done)
        #expect(byKeys.engine.state.withLock { $0.renewed }?.password == nil)
        #expect(await bench.run("set", "b7", "--s3-keys", "--user", "u") == .usage)
        #expect(bench.error.contains("--s3-keys beside another login"))
        let keyless = Bench(engine)
        #expect(await keyless.run("set", "b7", "--s3-keys") == .usage)
        #expect(keyless.error.contains("AWS_ACCESS_KEY_ID"))
    }

    @Test("set reads rates, times and priorities as they are written everywhere")
    func set() async {
        let bench = bench()
        #expect(await bench.run("set", "b7") == .usage)
        #expect(await bench.run("set", "b7", "--limit", "fast") == .usage)
        #expect(await bench.run("set", "b7", "--limit", "2M", "--priority", "high", "--not-before", "+1h") == .done)
        #expect(bench.output == "b7 changed\n")
        let deed = bench.engine.asked.first ?? ""
        #expect(deed.contains("limit: Optional(2097152)") && deed.contains("high"))
        let off = self.bench()
        #expect(await off.run("set", "b7", "--limit", "off") == .done)
        #expect(off.engine.asked.first?.contains("limit: Optional(0)") == true)
    }

    @Test("run-now takes selectors")
    func runNow() async {
        let bench = bench(.already)
        #expect(await bench.run("run-now") == .usage)
        #expect(await bench.run("run-now", "--batch", "b7", "--json") == .done)
        #expect(bench.output.contains("\"result\":\"already\""))
    }

    @Test("limit shows what holds; a timetable may be quoted or not; one way alone when that is said")
    func limit() async {
        let bench = bench { state in
            state.limits = TransferLimits(
                up: 512 << 10, down: nil, transfers: 2, transfersPerHost: 8, upTimetable: "08:00,512K 18:00,off",
                scoped: [ScopedLimit(kind: .host, name: "nas", rate: 1024)])
        }
        #expect(await bench.run("limit") == .done)
        #expect(
            bench.output == """
                Up        512K/s now, by 08:00,512K 18:00,off
                Down      off
                Transfers 2 at once, 8 to one host
                Host      nas 1K/s

                """)
        #expect(bench.engine.asked == ["limits"])
        _ = await bench.run("limit", "8:00,512k", "18:00,off", "--up")
        _ = await bench.run("limit", "off")
        _ = await bench.run("limit", "1K", "--host", "nas")
        _ = await bench.run("limit", "--transfers", "3")
        #expect(await bench.run("session", "set", "typo", "--limit", "2K") == .noSuchObject)
        #expect(bench.error.contains("session set: there is no session typo"))
        bench.engine.state.withLock { state in
            state.limits.scoped.append(ScopedLimit(kind: .session, name: "forgotten", rate: 1024))
        }
        #expect(await bench.run("session", "set", "forgotten", "--limit", "off") == .done)
        bench.engine.state.withLock { state in
            var batch = BatchSnapshot.sample(7, .running)
            batch.session = SessionName(rawValue: "photos") ?? .default
            state.batches = [batch]
        }
        _ = await bench.run("session", "set", "photos", "--limit", "2K")
        let wishes = bench.engine.state.withLock(\.wishes)
        #expect(
            wishes == [
                LimitsWish(up: "08:00,512K 18:00,off"), LimitsWish(up: "off", down: "off"),
                LimitsWish(scoped: [ScopedLimit(kind: .host, name: "nas", rate: 1024)]), LimitsWish(transfers: 3),
                LimitsWish(scoped: [ScopedLimit(kind: .session, name: "forgotten", rate: 0)]),
                LimitsWish(scoped: [ScopedLimit(kind: .session, name: "photos", rate: 2048)]),
            ])
        for line in [["limit", "tea"], ["limit", "--up"], ["limit", "08:00,1K", "--host", "nas"]] {
            #expect(await bench.run(line.map { Argument($0) }) == .usage, "\(line)")
        }
    }

    @Test("limit without an engine starts none")
    func noEngine() async {
        let bench = bench { $0.isRunning = false }
        #expect(await bench.run("limit", "--json") == .done)
        #expect(bench.output == "{\"running\":false}\n")
        #expect(bench.engine.asked.isEmpty)
    }

    @Test("undo --list shows what can be taken back, until when, and by which number")
    func undoable() async {
        let now: Int64 = 1_795_264_867_000
        let cancel = UndoStep(
            operation: 12, deed: .cancel, at: Timestamp(milliseconds: now - 3000), node: .batch(BatchID(rawValue: 7)),
            nodes: 4, name: "photos", startsAgain: false)
        let limit = UndoStep(
            operation: 11, deed: .limit, at: Timestamp(milliseconds: now - 9000), node: nil, name: "the engine",
            startsAgain: false)
        let old = UndoStep(
            operation: 3, deed: .cancel, at: Timestamp(milliseconds: now - 80_000_000),
            node: .task(TaskID(rawValue: 31)), name: "docs", startsAgain: true)
        let prepare = { (state: inout FakeEngine.State) in
            state.undoable = [cancel, limit, old]
            (state.undone, state.results) = (.cancel, [NodeResult(id: .batch(BatchID(rawValue: 7)), result: .done)])
        }
        let bench = Bench(FakeEngine(prepare), width: 90)
        #expect(await bench.run("undo", "--list") == .done)
        #expect(
            bench.output == """
                No     Time      Change    ID      Name
                12     12:41:04  cancel    b7      photos [and 3 more; for 7 s more]
                11     12:40:58  limit     -       limits of the engine [for 1 s more]
                3      2026-11-20 14:27:47  cancel    t31     docs [starts again from 0]

                """)
        let script = Bench(FakeEngine(prepare))
        #expect(await script.run("undo", "--list", "--json") == .done)
        #expect(script.output.split(separator: "\n").count == 3)
        #expect(
            script.output.hasPrefix(#"{"at":"2026-11-21T12:41:04.000Z","deed":"cancel","name":"photos","node":"b7""#))
        let taken = Bench(FakeEngine(prepare))
        #expect(await taken.run("undo", "12") == .done)
        #expect(taken.engine.asked == ["undo step 12"] && taken.output == "b7: the cancel was taken back\n")
        let none = Bench()
        #expect(await none.run("undo", "--list") == .done)
        #expect(none.error == "nothing can be taken back now\n" && none.output.isEmpty)
        #expect(await none.run("undo", "12") == .noSuchObject)
        #expect(await none.run("undo", "--list", "b7") == .usage)
        #expect(await none.run("undo", "x") == .usage)
    }

    @Test("a pause that ends as before again is not said to be taken back")
    func pausedAgain() async {
        func said(_ end: Timestamp?) async -> String {
            var result = NodeResult(id: .batch(BatchID(rawValue: 7)), result: .done)
            (result.pausedAgain, result.pausedUntil) = (true, end)
            let goesOn = NodeResult(id: .batch(BatchID(rawValue: 8)), result: .done)
            let bench = Bench(FakeEngine { [result] in ($0.undone, $0.results) = (.pause, [result, goesOn]) })
            #expect(await bench.run("undo") == .done)
            return bench.output
        }
        let other = "b8: the pause was taken back\n"
        let end = Timestamp(milliseconds: 1_795_284_000_000)
        #expect(await said(end) == "b7: paused until 2026-11-21 18:00:00 again\n" + other)
        #expect(await said(nil) == "b7: paused again until somebody resumes it\n" + other)
    }

    @Test("undo says what it took back")
    func undo() async {
        let bench = bench { $0.undone = .move }
        #expect(await bench.run("undo") == .done)
        #expect(bench.output == "b7: the move was taken back\n")
        let nothing = self.bench { $0.results = [] }
        #expect(await nothing.run("undo") == .refused)
        #expect(nothing.error.contains("undo: there is nothing to take back") && nothing.output.isEmpty)
        let script = self.bench { $0.results = [] }
        #expect(await script.run("undo", "--json") == .refused)
        #expect(script.output.contains(#"{"error":{"code":"refused","message":"undo: there is nothing to take back"#))
        let limits = self.bench {
            $0.results = []
            $0.undone = .limit
            $0.undoneLimits = TransferLimits(up: 1024, down: nil, transfers: 8, transfersPerHost: 8)
        }
        #expect(await limits.run("undo") == .done)
        #expect(limits.output.hasPrefix("Up        1K/s\n"))
    }
}
