import CommandLine
import Configuration
import DisplayText
import FoundationEssentials
import LinuxSystem
import MartletKit
import Testing
import Wording

@testable import Commands

@Suite("The line mode: plain lines, numbered choices, the same commands") struct LineModeTests {
    private func batch(
        _ id: Int64, _ name: String, _ state: TransferState, sent: Int64 = 0, failed: Int64 = 0
    ) -> BatchSnapshot {
        var counts = FileCounts()
        (counts.running, counts.failed) = (3, failed)
        let causes = failed > 0 ? [CauseCount(code: .http, count: failed, message: "403 Forbidden")] : []
        return BatchSnapshot(
            id: BatchID(rawValue: id), uuid: UUID(), session: .default, name: name, direction: .upload, state: state,
            scanning: false, paused: state == .paused, priority: .normal, createdAt: Timestamp(milliseconds: 0),
            finishedAt: nil, destination: "https://h/", counts: counts,
            bytes: ByteCounts(total: 100, sent: sent, accepted: sent, verified: 0), waitReasons: [], causes: causes)
    }

    private var sight: LineDialogue.QueueState {
        var totals = QueueTotals()
        totals.batches = 3
        totals.counts.running = 3
        totals.bytes = ByteCounts(total: 498 << 30, sent: 160 << 30, accepted: 0, verified: 0)
        totals.bytesPerSecondUp = 41 << 20
        totals.secondsLeft = 600
        return LineDialogue.QueueState(
            batches: [
                batch(1, "holiday", .running, sent: 71), batch(2, "nas", .paused, sent: 21),
                batch(3, "docs", .failed, sent: 92, failed: 4),
            ], totals: totals)
    }

    @Test("everything is said in words, and what can be answered")
    func greeting() {
        var talk = LineDialogue(units: .iec)
        #expect(
            talk.greeting(sight) == [
                "martlet. 3 batches. 32 percent, 160 gibibytes of 498 gibibytes. 41.0 mebibytes per second. About 10 minutes.",
                "1 holiday, running, 71 percent.", "2 nas, paused, 21 percent.",
                "3 docs, failed, 92 percent. 4 files failed: 403 Forbidden.",
                "1 to 3 choose, a add, g download, f filter, t limits, s status, e problems, u undo, c clear finished, h help, q leave:",
            ])
    }

    @Test("sizes are said in words")
    func sizes() {
        let (iec, si) = (LineDialogue(units: .iec), LineDialogue(units: .si))
        #expect(iec.size(1) == "1 byte")
        #expect(iec.size(0) == "0 bytes")
        #expect(iec.size(3 << 40) == "3.0 tebibytes")
        #expect(si.size(9_800_000) == "9.8 megabytes")
        #expect(si.size(512_000) == "512 kilobytes")
    }

    @Test("help, problems and undo are at hand in every menu", arguments: ["1", "t31", "f"])
    func everywhere(_ menu: String) {
        var talk = LineDialogue(units: .iec)
        _ = talk.greeting(sight)
        _ = talk.answer(menu, sight)
        if menu == "f" { _ = talk.answer("@err", sight) }
        let place = talk.place
        #expect(talk.prompt(sight).last?.hasSuffix("u undo, e problems, h help, 0 back:") == true)
        #expect(talk.answer("h", sight).lines.count == 2)
        #expect(talk.answer("e", sight).lines == ["b3 docs, failed, 92 percent. 4 files failed: 403 Forbidden."])
        #expect(talk.answer("u", sight).commands == [["undo"]])
        #expect(talk.place == place)
    }

    @Test("what only waits for another try, a server or a person is told of among the problems, too")
    func waiting() {
        var (talk, sight) = (LineDialogue(units: .iec), sight)
        var (unknown, retried) = (batch(4, "raw", .waiting), batch(5, "tax", .waiting, failed: 1))
        unknown.waits = [
            WaitCount(
                reason: .hostBackoff, code: .cannotFindHost, count: 3,
                finding: Finding("nsa.local cannot be found", .again("check the spelling of its name"))),
            WaitCount(reason: .hostKey, count: 1),
        ]
        retried.waitReasons = [.backoff]
        sight.batches = [batch(1, "holiday", .running), unknown, retried]
        #expect(
            talk.answer("e", sight).lines == [
                "b4 raw, waiting, 0 percent.", "3 files wait: nsa.local cannot be found.",
                "1 file waits for \(WaitReason.hostKey.words).",
                "b5 tax, waiting, 0 percent, waits for \(WaitReason.backoff.words). 1 file failed: 403 Forbidden.",
            ])
        sight.batches = [batch(1, "holiday", .running)]
        #expect(talk.answer("e", sight).lines == ["Nothing has failed, and nothing waits for you or a server."])
    }

    @Test(
        "what is there already is tried again only when it is said what becomes of it",
        arguments: [
            ("o", [["set", "b3", "--if-exists", "replace"], ["retry", "b3"]]),
            ("s", [["set", "b3", "--if-exists", "skip"], ["retry", "b3"]]), ("t", [["retry", "b3"]]), ("", []),
            ("0", []),
            ("x", []),
        ])
    func existing(_ answer: String, _ commands: [[String]]) {
        var (talk, sight) = (LineDialogue(units: .iec), sight)
        sight.batches[2].causes = [CauseCount(code: .destinationExists, count: 4, message: "a.txt is there already")]
        _ = talk.greeting(sight)
        _ = talk.answer("3", sight)
        #expect(talk.answer("r", sight) == LineDialogue.Reply())
        #expect(talk.prompt(sight)[0].hasPrefix("Something of that name is there. o overwrites it, "))
        #expect(talk.answer(answer, sight).commands == commands)
        #expect(talk.place == .batch(BatchID(rawValue: 3)))
    }

    @Test("choices are commands; a cancel asks first")
    func choices() {
        var talk = LineDialogue(units: .iec)
        _ = talk.greeting(sight)
        #expect(talk.answer("2", sight).lines == ["nas, paused, 21 percent."])
        #expect(
            talk.prompt(sight) == [
                "nas. p resume, x cancel, w why, t limit, o first, s status, l its files, f folder or file, u undo, e problems, h help, 0 back:"
            ])
        #expect(talk.answer("p", sight).commands == [["resume", "b2"]])
        #expect(talk.answer("x", sight).commands == [])
        #expect(talk.answer("", sight).lines == ["Not cancelled."])
        _ = talk.answer("x", sight)
        #expect(talk.answer("y", sight).commands == [["cancel", "b2"]])
        _ = talk.answer("0", sight)
        #expect(talk.answer("9", sight).lines == ["\"9\" is none of the choices."])
        _ = talk.answer("a", sight)
        #expect(talk.answer("'a b' ~/c", sight) == LineDialogue.Reply())
        #expect(talk.answer("https://h/in/", sight).commands == [["upload", "a b", "~/c", "https://h/in/"]])
        #expect(talk.answer("q", sight).leaves)
    }

    @Test("a choice does what was said of it, whatever has changed since")
    func saidBefore() {
        var (talk, later) = (LineDialogue(units: .iec), sight)
        later.batches[1].paused.toggle()
        later.batches[1].state = .running
        _ = talk.greeting(sight)
        _ = talk.answer("2", sight)
        #expect(talk.prompt(sight)[0].hasPrefix("nas. p resume, "))
        #expect(talk.answer("p", later).commands == [["resume", "b2"]])
        #expect(talk.prompt(later)[0].hasPrefix("nas. p pause, "))
        #expect(talk.answer("p", sight).commands == [["pause", "b2"]])
    }

    @Test("0 goes back from every question but that of a limit")
    func back() {
        var talk = LineDialogue(units: .iec)
        for words in [["a"], ["a", "x"], ["g"], ["g", "https://h/a"], ["f"]] {
            for word in words { _ = talk.answer(word, sight) }
            #expect(talk.answer("0", sight) == LineDialogue.Reply() && talk.place == .top, "\(words)")
        }
        _ = talk.answer("3", sight)
        for word in ["f", "d"] {
            _ = talk.answer(word, sight)
            #expect(talk.answer("0", sight) == LineDialogue.Reply() && talk.place == .batch(BatchID(rawValue: 3)))
        }
        _ = talk.answer("0", sight)
        #expect(talk.answer("0", sight).lines == ["Nothing is further back; q leaves."])
        #expect(talk.answer("3", sight).lines.count == 1)
        #expect(talk.answer("l", sight).files == BatchID(rawValue: 3))
    }

    @Test("of a batch's files the first are told, what needs a look before what is done, and how many more there are")
    func files() async throws {
        let lines = Mutex(["1", "l", "q", "q"])
        var batch = batch(1, "holiday", .running)
        batch.filesTotal = 42
        let engine = FakeEngine { [batch] in
            ($0.batches, $0.totals.batches) = ([batch], 1)
            $0.tasks = (1...40).map { .sample($0, .completed, batch: 1, name: "done\($0)") }
            $0.tasks += [.sample(41, .running, batch: 1, name: "runs"), .sample(42, .failed, batch: 1, name: "bad")]
        }
        let bench = Bench(engine) { $0.readLine = { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        _ = await bench.run("--accessible")
        let told = bench.output.split(separator: "\n").filter { $0.hasPrefix("t") }
        #expect(told.count == LineDialogue.most)
        #expect(told[0].hasSuffix("bad") && told[1].hasSuffix("runs") && told[2].hasSuffix("done1"), "\(told)")
        #expect(bench.output.contains("And 22 more: martlet list b1 lists all.\n"))
    }

    @Test(
        "limits, of everything and of one; folders and files by their names; filters, with what is done to all of them")
    func more() {
        var talk = LineDialogue(units: .iec)
        func commands(_ lines: String...) -> [[String]] { lines.flatMap { talk.answer($0, sight).commands } }
        #expect(commands("t", "up 512K") == [["limit"], ["limit", "512K", "--up"]])
        #expect(commands("t", "transfers 4") == [["limit"], ["limit", "--transfers", "4"]])
        #expect(commands("t", "08:00,512K 18:00,off") == [["limit"], ["limit", "08:00,512K 18:00,off"]])
        #expect(commands("2", "t", "2M", "o") == [["set", "b2", "--limit", "2M"], ["move", "b2", "--top"]])
        #expect(commands("f", "raw/2024/", "p") == [["pause", "b2:raw/2024"]])
        #expect(commands("x", "n", "x", "y") == [["cancel", "b2:raw/2024"]])
        #expect(commands("t", "off", "l") == [["set", "b2:raw/2024", "--limit", "off"], ["list", "b2:raw/2024"]])
        #expect(talk.answer("0", sight) == LineDialogue.Reply() && talk.place == .batch(BatchID(rawValue: 2)))
        #expect(commands("0", "t31", "w", "0") == [["why", "t31"]])
        #expect(
            commands("f", "@err size>1G", "r") == [
                ["list", "--filter", "@err size>1G"], ["retry", "--filter", "@err size>1G"],
            ])
        #expect(commands("x", "y", "0") == [["cancel", "--filter", "@err size>1G"]])
        #expect(talk.place == .top)
        #expect(commands("f", "", "t", "") == [["limit"]])
        #expect(talk.answer("b9", sight).lines == ["There is no b9."])
    }

    @Test("a number that is no choice stops nothing", arguments: ["0", "-1", "\(Int.min)", "\(Int.max)"])
    func numbers(number: String) {
        var (talk, sight) = (LineDialogue(units: .iec), sight)
        sight.destinations = ["nas"]
        #expect(talk.answer(number, sight).commands == [] && talk.place == .top)
        _ = talk.answer("a", sight)
        _ = talk.answer("~/x", sight)
        #expect(talk.answer(number, sight).commands == (number == "0" ? [] : [["upload", "~/x", number]]))
    }

    @Test("a number means what was said last under it, whatever has changed since")
    func saidNumbers() {
        var (talk, sight) = (LineDialogue(units: .iec), sight)
        sight.destinations = ["nas", "public"]
        _ = talk.greeting(sight)
        (_, _) = (talk.answer("a", sight), talk.answer("~/x", sight))
        _ = talk.prompt(sight)
        sight.destinations = ["public", "nas"]
        #expect(talk.answer("1", sight).commands == [["upload", "~/x", "nas:"]])
        let first = sight.batches[0].id
        sight.batches.reverse()
        _ = talk.answer("1", sight)
        #expect(talk.place == .batch(first))
    }

    @Test("while a command runs nobody else reads the keyboard: it may ask for a password, which a URL shows nobody")
    func keyboard() async throws {
        let lines = Mutex(["a", #filePath, "https://ana@nas/in/", "q"])
        let isRead = Mutex(false)
        let isAsked = Mutex(false)
        let engine = FakeEngine { ($0.batches, $0.totals.batches) = ([], 0) }
        let bench = Bench(engine) {
            $0.readLine = {
                isRead.withLock { $0 = true }
                defer { isRead.withLock { $0 = false } }
                return lines.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            }
            $0.askPassword = { _ in
                #expect(!isRead.withLock { $0 } && lines.withLock { $0 } == ["q"])
                isAsked.withLock { $0 = true }
                return nil
            }
        }
        _ = await bench.run("--accessible")
        #expect(TransferURL.withoutPassword("https://ana:geheim@nas/in/") == "https://ana@nas/in/")
        #expect(isAsked.withLock { $0 } && lines.withLock { $0.isEmpty })
    }

    @Test("where to is chosen among what is configured; what failed can go elsewhere; URLs are fetched")
    func places() {
        var (talk, sight) = (LineDialogue(units: .iec), sight)
        sight.destinations = ["nas", "photos"]
        _ = talk.answer("a", sight)
        _ = talk.answer("~/x", sight)
        #expect(talk.prompt(sight) == ["Known: 1 nas, 2 photos.", "To which URL? 0 goes back:"])
        #expect(talk.answer("2", sight).commands == [["upload", "~/x", "photos:"]])
        _ = talk.answer("3", sight)
        #expect(talk.prompt(sight)[0].contains("r retry, d other destination"))
        _ = talk.answer("d", sight)
        let elsewhere = LineDialogue.Elsewhere(batch: BatchID(rawValue: 3), destination: "nas:")
        #expect(talk.answer("1", sight).elsewhere == elsewhere)
        _ = talk.answer("0", sight)
        _ = talk.answer("g", sight)
        _ = talk.answer("https://h/a https://h/b", sight)
        #expect(talk.answer("'my files'", sight).commands == [["download", "https://h/a", "https://h/b", "my files/"]])
    }

    @Test("an end or a failure is told at once, progress each 10 percent and each 30 seconds at most")
    func news() {
        var talk = LineDialogue(units: .iec)
        _ = talk.greeting(sight)
        var next = sight
        next.batches[0] = batch(1, "holiday", .running, sent: 80)
        #expect(talk.news(next, now: 40_000) == [])
        next.batches[0] = batch(1, "holiday", .running, sent: 81)
        #expect(talk.news(next, now: 40_000) == ["holiday, running, 81 percent."])
        next.batches[0] = batch(1, "holiday", .running, sent: 95)
        #expect(talk.news(next, now: 60_000) == [])
        next.batches[0] = batch(1, "holiday", .completed, sent: 100)
        #expect(talk.news(next, now: 61_000) == ["holiday, completed."])
        #expect(talk.news(next, now: 99_000) == [])
        next.batches.append(batch(4, "new", .queued))
        #expect(talk.news(next, now: 99_000) == ["New: new, queued, 0 percent."])
    }

    @Test("words are taken apart as a shell does, and written so that they read the same")
    func words() {
        #expect(LineDialogue.words(#"a 'b c' "d'e" f\ g ''"#) == ["a", "b c", "d'e", "f g", ""])
        #expect(LineDialogue.words("'a") == nil)
        for word in ["a", "", "b c", "it's", "$x", "~/a", "a'\u{301} b", "\u{D4E}' b"] {
            #expect(LineDialogue.words(word.shellWord) == [word])
        }
    }

    @Test("a whole conversation, with the commands shown as they are run")
    func conversation() async {
        let lines = Mutex(["1", "p", "0", "q"])
        let batches = sight.batches
        let engine = FakeEngine {
            $0.batches = batches
            $0.totals.batches = 3
            $0.results = [NodeResult(id: .batch(BatchID(rawValue: 1)), result: .done)]
        }
        let bench = Bench(engine) { $0.readLine = { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        #expect(await bench.run("--accessible") == .done)
        #expect(bench.output.contains("martlet pause b1\n"))
        #expect(engine.asked.contains { $0.hasPrefix("pause") })
        #expect(bench.output.hasSuffix("Come back: martlet --accessible\n"))
        #expect(!bench.output.contains("\u{1B}"))
    }

    /// What is said when these lines are typed while so much of everything cannot be continued.
    private func talk(atRisk: Int64, _ lines: [String]) async -> (bench: Bench, asked: [String]) {
        let lines = Mutex(lines + ["q", "q", "q"])
        let batches = sight.batches
        let engine = FakeEngine {
            ($0.batches, $0.totals.batches) = (batches, 3)
            let (batch, task) = (BatchID(rawValue: 1), TaskID(rawValue: 31))
            var (row, file) = (
                NodeRow(id: .batch(batch), name: "holiday", state: .running, counts: FileCounts(), bytes: ByteCounts()),
                NodeRow(id: .task(batch, task), name: "a", state: .running, counts: FileCounts(), bytes: ByteCounts())
            )
            (row.bytesAtRisk, file.bytesAtRisk) = (atRisk, atRisk)
            $0.nodes = [.batch(batch): row, .task(task): file]
            $0.tasks = [TaskSnapshot.sample(31, .running, batch: 1)]
            $0.results = [NodeResult(id: .batch(batch), result: .done)]
        }
        let bench = Bench(engine) { $0.readLine = { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        _ = await bench.run("--accessible")
        return (bench, engine.asked.filter { $0.hasPrefix("pause") || $0.hasPrefix("cancel") })
    }

    @Test(
        "what a pause costs is said before it is done", arguments: [["1", "p"], ["t31", "p"], ["f", "*.jpg", "p"]])
    func costOfPause(lines: [String]) async throws {
        let cost = "already sent must be sent again: it cannot resume there."
        let few = await talk(atRisk: 99 << 20, lines)
        let said = try #require(few.bench.output.firstRange(of: "99.0 mebibytes \(cost)\n"), "\(few.bench.output)")
        #expect(few.bench.output[said.upperBound...].hasPrefix("martlet pause "))
        #expect(few.asked.count == 1)

        let many = await talk(atRisk: 340 << 20, lines)
        #expect(many.bench.output.contains("340 mebibytes \(cost) Pause "), "\(many.bench.output)")
        #expect(many.asked.isEmpty)
        #expect(await talk(atRisk: 340 << 20, lines + ["n"]).bench.output.contains("Not paused."))
        #expect(await talk(atRisk: 340 << 20, lines + ["y"]).asked.count == 1)
        let none = await talk(atRisk: 0, lines)
        #expect(!none.bench.output.contains("already sent") && none.asked.count == 1)
    }

    @Test("what a cancel costs stands in its question", arguments: [["1", "x"], ["t31", "x"], ["f", "*.jpg", "x"]])
    func costOfCancel(lines: [String]) async {
        let cost = "already sent are lost: it cannot resume there, and undo sends them again."
        let asked = await talk(atRisk: 99 << 20, lines)
        #expect(asked.bench.output.contains("99.0 mebibytes \(cost) Cancel "), "\(asked.bench.output)")
        #expect(asked.asked.isEmpty)
        #expect(await talk(atRisk: 99 << 20, lines + ["y"]).asked.count == 1)
    }

    @Test("what failed is queued again for another place, by its paths, whatever is in them")
    func elsewhere() async throws {
        let lines = Mutex(["3", "d", "https://other/in", "q", "q"])
        let batches = sight.batches
        let sandbox = try Sandbox()
        // What is shown of the second is the name of the third, which nobody has asked to send.
        let names: [[UInt8]] = [Array("one".utf8), Array("a\nb".utf8), Array(#"a\x0ab"#.utf8), [0x61, 0xFF]]
        for name in names { try sandbox.file(name) }
        let paths = names.map { RawPath(sandbox.path + [0x2F] + $0) }
        let failed = [paths[0], paths[1], paths[3]]
        let engine = FakeEngine { state in
            state.batches = batches
            state.tasks = failed.enumerated().map { index, path in
                var task = TaskSnapshot.sample(Int64(index + 1), .failed, batch: 3)
                (task.source, task.sourceBase64) = path.shown
                return task
            }
        }
        let bench = Bench(engine) { $0.readLine = { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        #expect(await bench.run("--accessible") == .done)
        let request = try #require(engine.requests.first)
        guard case .upload(let sources, let to) = request.work else { return }
        #expect(to == "https://other/in/" && sources.map(\.path) == failed)
    }
}
