import Configuration
import DisplayText
@testable import MartletKit
import Terminal
import Testing
import Wording

@testable import TerminalUI

@Suite("Problems are grouped by cause")
struct ProblemsPageTests {
    func batch(_ id: Int64, _ name: String, _ causes: [CauseCount]) -> BatchSnapshot {
        Rows.snapshot(id, name, .failed, { $0.failed = causes.reduce(0) { $0 + $1.count } }, causes: causes)
    }

    func ago(_ seconds: Int64) -> Timestamp { ScreenHarness.morning.advanced(by: .seconds(-seconds)) }

    var batches: [BatchSnapshot] {
        let refused = Finding(
            "host answered 403 to t20", aside: "\u{1b}[2Jquota exceeded", .step("free space there, or ask who runs it"))
        var docs = CauseCount(code: .permissionDenied, count: 1200, finding: refused, lastAt: ago(60))
        docs.said = "quota for user exceeded"
        docs.detail = "PUT /in/contracts/NDA%20signed.pdf -> 403, try 3"
        return [
            batch(
                1, "holiday-2024",
                [
                    CauseCount(
                        code: .sourceChanged, count: 2, finding: Finding("a file changed", .step("look at it")),
                        lastAt: ago(7200))
                ]),
            batch(3, "docs", [docs]),
            batch(4, "more", [CauseCount(code: .permissionDenied, count: 4, finding: refused)]),
        ]
    }

    func screen(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        return screen
    }

    @Test(
        "a cause is one line, and below stands what happened and what to do",
        arguments: [(80, 24), (120, 36), (40, 8), (20, 2)])
    func pictures(columns: Int, rows: Int) {
        Pictures.expect(screen(columns, rows).picture, "problems-\(columns)x\(rows)")
    }

    @Test("what waits for a person is counted where problems are counted, and is not called an error")
    func badge() {
        var totals = Rows.exampleTotals
        (totals.problems, totals.problemCauses, totals.needsPerson) = (3, 1, 3)
        var screen = ScreenHarness(80, 24, Rows.example, totals: totals)
        #expect(screen.picture.contains(" 3 problems: press e "))
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        #expect(screen.picture.contains("3 need you") && !screen.picture.contains("3 ERR"))
        (totals.problems, totals.problemCauses) = (5, 2)
        screen.news([], totals: totals)
        #expect(screen.picture.contains("5 ERR"))
        (totals.problems, totals.needsSpace) = (5, 2)
        screen.news([], totals: totals)
        #expect(screen.picture.contains("3 need you"))
        totals.needsPerson = 0
        totals.problems = 2
        screen.news([], totals: totals)
        #expect(screen.picture.contains("2 need space") && !screen.picture.contains("ERR"))
        #expect(LeavingText.lines(screen.model)[0].hasSuffix(" 2 files wait for space on a disk: see martlet why."))
        (totals.problems, totals.needsPerson) = (6, 1)
        screen.news([], totals: totals)
        #expect(
            LeavingText.lines(screen.model)[0].hasSuffix(
                " 3 files failed. 1 file waits for you: see martlet why. 2 files wait for space on a disk: see martlet why."
            ))
        // The same file is not told of twice.
        totals.counts = FileCounts()
        (totals.counts.waiting, totals.problems, totals.needsPerson, totals.needsSpace) = (3, 1, 1, 0)
        screen.news([], totals: totals)
        #expect(
            LeavingText.lines(screen.model)[0]
                == "2 files waiting. They go on without this window. 1 file waits for you: see martlet why.")
        totals.counts.waiting = 1
        screen.news([], totals: totals)
        #expect(
            LeavingText.lines(screen.model)[0]
                == "Nothing goes on without you. 1 file waits for you: see martlet why.")
        (totals.problems, totals.needsPerson, totals.needsSpace) = (5, 3, 0)
        screen.news([], totals: totals)
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        #expect(screen.picture.contains(" 5 problems in 2 causes: press e "))
        screen.press("e")
        var full = batch(7, "photos", [])
        full.waits = [WaitCount(reason: .remoteDiskSpace, count: 2)]
        screen.send(.answer(.batches(.success([full]), number: screen.lastNumber)))
        #expect(screen.model.page.problemTitles == ["waits for space on the server"])
    }

    @Test("one key tries all files of a cause again, in whatever batch they are, and no others")
    func retry() {
        var screen = screen()
        screen.press("r")
        #expect(screen.matched(.retry) == ["@err err=permissionDenied"])
        screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let statuses = [
            CauseCount(code: .http, count: 5, finding: Finding("host answered 404", .step("look")), httpStatus: 404),
            CauseCount(code: .http, count: 3, finding: Finding("host answered 413", .step("cut it")), httpStatus: 413),
            CauseCount(code: .http, count: 1, message: "host refuses the user"),
        ]
        screen.send(.answer(.batches(.success([batch(1, "a", statuses)]), number: screen.lastNumber)))
        #expect(
            screen.model.page.problemTitles == [
                "host answered 404", "host answered 413", TransferErrorCode.http.words,
            ])
        screen.press("r")
        #expect(screen.matched(.retry) == ["@err err=http err=404"])
        screen.press("j", "j", "r")
        #expect(screen.matched(.retry) == ["@err err=http !err=404 !err=413"])
    }

    /// The requests that change what batches do about what is there, and of which.
    func settled(_ screen: ScreenHarness) -> [NodeChoice] {
        screen.requests.compactMap {
            guard case .act(.set(let settings, _), let nodes, _) = $0, settings.ifExists == .replace else { return nil }
            return nodes
        }
    }

    @Test("a proxy that wants a login is no server that wants one, and is told in its own words")
    func proxy() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let proxy = Finding("h answered 407", .thenRetry("the proxy wants a login"))
        var (refused, held) = (batch(1, "a", []), batch(2, "b", []))
        refused.waits = [WaitCount(reason: .auth, count: 3, finding: Finding(""))]
        held.waits = [WaitCount(reason: .auth, count: 2, finding: proxy)]
        screen.send(.answer(.batches(.success([refused, held]), number: screen.lastNumber)))
        #expect(screen.picture.contains("takes another login from you here"))
        screen.press("j")
        #expect(screen.picture.contains("h answered 407"))
        #expect(screen.picture.contains("What to do    the proxy wants a login, then"))
        screen.press("d")
        #expect(!screen.picture.contains("Let \"b\" in"))
    }

    @Test(
        "a login is typed for one server, whatever name another one shares with it, and room is waited for by its own files"
    )
    func oneServer() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        func waiting(_ id: Int64, _ url: String, _ reason: WaitReason) -> BatchSnapshot {
            var batch = Rows.snapshot(id, "b\(id)", .waiting, { $0.waiting = 2 * id }, to: url)
            batch.waits = [WaitCount(reason: reason, count: id, finding: Finding(""))]
            return batch
        }
        let batches = [
            waiting(3, "https://nas/in/", .auth), waiting(4, "ftp://nas/in/", .auth),
            waiting(5, "https://nas/other/", .auth), waiting(1, "sftp://nas/in/", .remoteDiskSpace),
        ]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        #expect(screen.model.page.problemTitles.count == 3)
        #expect(screen.picture.contains("\"b5\" (b5) 5 files, \"b3\" (b3) 3 files"))
        screen.press("j", "j", "r")
        #expect(screen.matched(.retry) == ["why=remoteDiskSpace id:b1"])
    }

    @Test("one reason at two servers, or of an upload and a download, is two problems, and each is acted upon alone")
    func places() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        func there(_ id: Int64, _ at: String, _ direction: BatchDirection) -> BatchSnapshot {
            let cause = CauseCount(
                code: .destinationExists, count: id,
                finding: Finding("a file of that name is there already, at \(at)", .step("move it")))
            var batch = batch(id, "mid.iso", [cause])
            (batch.destination, batch.direction) = (at, direction)
            return batch
        }
        let batches = [
            there(9, "https://one/in/", .upload), there(8, "https://two/in/", .upload), there(7, "/src/", .download),
            there(6, "https://one/other/", .upload),
        ]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        #expect(screen.model.page.problemTitles.count == 3)
        #expect(screen.picture.contains("\"mid.iso\" (b9) 9 files, \"mid.iso\" (b6) 6 files"))
        screen.press("j", "j", "r")
        #expect(screen.picture.contains("7 files of \"mid.iso\" (to /src/)"))
        screen.wait(.seconds(1))
        screen.press("o")
        #expect(settled(screen) == [.ids([.batch(BatchID(rawValue: 7))])])
        screen.send(.answer(.acted(.success(NodesChanged(results: [])), number: screen.lastNumber)))
        #expect(screen.matched(.retry).allSatisfy { $0.contains("b7") && !$0.contains("b9") })
    }

    @Test("what is there already is overwritten or skipped by one key and its answer, and tried again then")
    func existing() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let there = CauseCount(
            code: .destinationExists, count: 3, finding: Finding("t20 is there already", .step("move it")))
        let batches = [batch(3, "docs", [there]), batch(4, "more", [there])]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "problems-existing-80x24")
        screen.press("r")
        Pictures.expect(screen.picture, "problems-existing-question-80x24")
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(settled(screen) == [] && screen.matched(.retry) == [])
        screen.press("r")
        screen.wait(.seconds(1))
        screen.press("o")
        #expect(settled(screen) == [.ids([.batch(BatchID(rawValue: 3)), .batch(BatchID(rawValue: 4))])])
        #expect(screen.matched(.retry) == [])
        screen.send(.answer(.acted(.success(NodesChanged(results: [])), number: screen.lastNumber)))
        #expect(screen.matched(.retry) == ["@err err=destinationExists"])
        screen.press("r")
        screen.wait(.seconds(1))
        screen.press("t")
        #expect(screen.matched(.retry) == ["@err err=destinationExists"] && settled(screen) == [])
    }

    @Test("a retry that asks first neither comes after what was asked since, nor is it passed over by an undo")
    func overtakenRetry() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("}", "}", "r")
        let question = screen.lastNumber
        screen.press("u")
        #expect(screen.requests.isEmpty)
        #expect(screen.model.notice?.text == "The engine has not answered yet: r asked it what failed.")
        screen.press("p")
        #expect(!screen.requests.isEmpty)
        let refused = CauseCount(code: .permissionDenied, count: 4, message: "no")
        screen.send(.answer(.batches(.success([batch(3, "docs", [refused])]), number: question)))
        #expect(screen.requests.isEmpty)
        let said: SafeText = "Not tried again, as another change came in between: r once more does."
        #expect(screen.model.notice?.text == said)
    }

    @Test("what is there already is not tried again where the batch was cancelled before the engine had its new rule")
    func overtakenRule() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("}", "}", "r")
        let there = CauseCount(
            code: .destinationExists, count: 3, finding: Finding("t20 is there already", .step("move it")))
        screen.send(.answer(.batches(.success([batch(3, "docs", [there])]), number: screen.lastNumber)))
        screen.wait(.seconds(1))
        screen.press("o")
        let rule = screen.lastNumber
        #expect(settled(screen) == [.ids([.batch(BatchID(rawValue: 3))])])
        screen.press("x")
        let docs = NodeChoice.rows([.batch(BatchID(rawValue: 3))])
        #expect(screen.requests.contains(.act(.cancel, docs, number: screen.lastNumber)))
        let done = NodesChanged(
            results: [NodeResult(id: .batch(BatchID(rawValue: 3)), result: .done)], undo: .operation(9))
        screen.send(.answer(.acted(.success(done), number: rule)))
        #expect(!screen.requests.contains { if case .act(.retry, _, _) = $0 { true } else { false } })
        let said: SafeText = "Not tried again, as another change came in between: r once more does."
        #expect(screen.model.notice?.text == said)
    }

    @Test("r on a batch in the list asks only where something of its files is there already")
    func existingOfBatch() {
        func retried(_ causes: [CauseCount]) -> ScreenHarness {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("}", "}")
            #expect(screen.cursorName == "docs")
            screen.press("r")
            #expect(screen.matched(.retry) == [])
            screen.send(.answer(.batches(.success([batch(3, "docs", causes)]), number: screen.lastNumber)))
            return screen
        }
        let refused = CauseCount(code: .permissionDenied, count: 4, message: "no")
        let there = CauseCount(
            code: .destinationExists, count: 3, finding: Finding("t20 is there already", .step("move it")))
        let docs = NodeChoice.rows([.batch(BatchID(rawValue: 3))])
        var screen = retried([refused])
        #expect(screen.requests.contains(.act(.retry, docs, number: screen.lastNumber)))
        screen = retried([refused, there])
        #expect(screen.picture.contains("there already") && screen.requests.isEmpty)
        screen.wait(.seconds(1))
        screen.press("o")
        #expect(settled(screen) == [.ids([.batch(BatchID(rawValue: 3))])])
        screen.send(
            .answer(
                .acted(
                    .success(
                        NodesChanged(
                            results: [NodeResult(id: .batch(BatchID(rawValue: 3)), result: .done)], undo: .operation(9))
                    ),
                    number: screen.lastNumber)))
        #expect(screen.requests.contains(.act(.retry, docs, number: screen.lastNumber)))
        let tried = NodesChanged(results: [NodeResult(id: .batch(BatchID(rawValue: 3)), result: .done)])
        screen.send(.answer(.acted(.success(tried), number: screen.lastNumber)))
        screen.press("u")
        let back = NodesChanged(
            results: [NodeResult(id: .batch(BatchID(rawValue: 3)), result: .done)], undo: nil, undone: .set)
        screen.send(.answer(.acted(.success(back), number: screen.lastNumber)))
        let said: SafeText = "Took back the change of b3. What was overwritten meanwhile cannot be had back."
        #expect(screen.model.notice?.text == said)
    }

    @Test("what is not known yet is not written down as nothing", arguments: ["w", "o"])
    func notTold(_ key: String) {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e", key)
        #expect(screen.requests.isEmpty && screen.picture.contains("The engine has not told the problems yet"))
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        screen.press(key)
        #expect(screen.requests.count == 1)
    }

    @Test("Enter shows the files of the cause alone, Esc back to the tree")
    func files() {
        var screen = screen()
        screen.press("Enter")
        #expect(screen.model.filters.shown?.text == "@err err=permissionDenied")
        guard screen.model.page is TransfersPage else { return #expect(Bool(false), "still on the page") }
        screen = self.screen()
        screen.press("Esc")
        #expect(screen.cursorName == "holiday-2024")
    }

    @Test("what is left out for good lies in the batches that were shown; more of it is asked about once more")
    func leaveOutMore() {
        var screen = screen()
        screen.press("x")
        screen.wait(.seconds(1))
        let text = screen.model.dialog?.counted ?? ""
        #expect(text == "@err err=permissionDenied (id:b3 | id:b4)")
        screen.send(.counted(FilterCount(text: text, matched: 1300, total: 20_000, complete: false)))
        #expect(screen.picture.contains("Leave out 1,300 files of 2 batches?"))
        screen.press("x")
        #expect(screen.matched(.purge) == [], "that was the answer to another question")
        screen.wait(.seconds(1))
        screen.send(.counted(FilterCount(text: text, matched: 1300, total: 20_000, complete: true)))
        screen.press("x")
        #expect(screen.matched(.purge) == [text])
    }

    @Test("what failed is left out only after a question; what waits is cancelled, which can be taken back")
    func leaveOut() {
        var screen = screen()
        screen.press("x")
        #expect(screen.picture.contains("Leave out 1,204 files of 2 batches?"))
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.matched(.purge) == [])
        screen.press("x")
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.purge) == ["@err err=permissionDenied (id:b3 | id:b4)"])
        var lost = batch(7, "photos", [])
        lost.waits = [
            WaitCount(
                reason: .backoff, code: .cannotFindHost, count: 3,
                finding: Finding("nsa.local cannot be found", .step("check the spelling of its name, then the network"))
            )
        ]
        screen.send(.answer(.batches(.success([lost]), number: 1)))
        screen.press("3", "1", "3")
        screen.send(.answer(.batches(.success([lost]), number: screen.lastNumber)))
        #expect(screen.picture.contains("nsa.local cannot be found"))
        #expect(screen.picture.contains("Nobody knows a machine of that name."))
        #expect(screen.picture.contains("check the spelling"))
        screen.press("x")
        #expect(screen.matched(.cancel) == [#"@retry err:/^nsa\.local cannot be found/ id:b7"#])
    }

    @Test("in a small window the advice comes first, and no server is offered to a download")
    func adviceInSmall() {
        var screen = screen(40, 12)
        #expect(screen.picture.contains("What to do"))
        var waiting = batch(7, "iso", [])
        (waiting.direction, waiting.destination) = (.download, "/home/ana/iso")
        waiting.waits = [WaitCount(reason: .auth, count: 3)]
        screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success([waiting]), number: screen.lastNumber)))
        #expect(!screen.picture.contains("d server") && !screen.picture.contains("d takes"))
        #expect(screen.picture.contains("set b7"))
    }

    @Test("what a key does hits the cause under the cursor alone, and nothing when that has gone meanwhile")
    func alone() {
        var first = batch(7, "keys", [])
        first.waits = [WaitCount(reason: .hostKey, count: 4)]
        var second = batch(8, "logins", [])
        second.waits = [WaitCount(reason: .auth, count: 5)]
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success([first, second]), number: screen.lastNumber)))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["@auth why=auth id:b8"])
        screen.press("j", "x")
        #expect(screen.matched(.cancel) == ["@auth why=hostKey id:b7"])
        // The one under the cursor goes, and the other moves to its place.
        screen.press("3", "1", "3")
        screen.send(.answer(.batches(.success([first, second]), number: screen.lastNumber)))
        var totals = Rows.exampleTotals
        totals.needsPerson = 9
        screen.news([], totals: totals)
        screen.send(.answer(.batches(.success([first]), number: screen.lastNumber)))
        screen.press("x")
        #expect(
            screen.matched(.cancel) == []
                && screen.picture.contains("That problem is gone: the cursor is on another one now."))
        screen.press("k", "x")
        #expect(screen.matched(.cancel) == ["@auth why=hostKey id:b7"])
    }

    @Test("d goes to the configured server that it is about, and Esc back to the problems")
    func server() throws {
        var screen = screen()
        screen.press("d")
        let text = "[nas]\nurl = sftp://nas.local/\n\n[work]\nurl = https://host/in\n"
        let file = DestinationsFile(bytes: Array(text.utf8))
        screen.send(.local(.places(Adding.places, Adding.recent, file)))
        guard let shown = screen.model.page as? DestinationsPage else { return #expect(Bool(false), "no page") }
        #expect(shown.current?.name == "work")
        screen.press("Esc")
        guard screen.model.page is ProblemsPage else { return #expect(Bool(false), "not back") }
    }

    @Test("a bucket is told as one, and d takes new keys for its batch where no server keeps them")
    func keysOfBucket() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        var photos = batch(14, "photos", [])
        photos.destination = "s3://test/in/"
        photos.waits = [WaitCount(reason: .auth, count: 3)]
        screen.send(.answer(.batches(.success([photos]), number: screen.lastNumber)))
        #expect(screen.picture.contains("waits because s3://test does not let it in"))
        Pictures.expect(screen.picture, "problems-bucket-80x24")
        screen.press("d")
        screen.send(.local(.places(Adding.places, Adding.recent, DestinationsFile(bytes: []))))
        Pictures.expect(screen.picture, "let-in-80x24")
        screen.press("F2")
        #expect(screen.picture.contains("Type the password, or the command that prints it."))
        screen.press("SECRET", "F2")
        #expect(screen.picture.contains("Whose password is it?") && !screen.picture.contains("SECRET"))
        screen.press("AKIA", "F2")
        guard case .act(.set(_, let secrets?), .ids(let batches), let number)? = screen.requests.first else {
            Issue.record("nothing was given: \(screen.requests)")
            return
        }
        #expect(batches == [.batch(BatchID(rawValue: 14))])
        #expect(secrets.s3 == S3Keys(accessKeyID: "AKIA", secretAccessKey: "SECRET") && secrets.user == nil)
        guard screen.model.page is ProblemsPage else { return #expect(Bool(false), "not back") }
        let done = NodeResult(id: .batch(BatchID(rawValue: 14)), result: .done)
        screen.send(.answer(.acted(.success(NodesChanged(results: [done], undo: .operation(1))), number: number)))
        #expect(screen.picture.contains("\"photos\" goes on with what you typed."))
        #expect(screen.model.changes.history.newest?.request == nil, "a login is kept by nobody but the engine")
    }

    @Test("a login that the engine keeps for a configured server is mended there; Esc leaves what waits as it is")
    func loginOfServer() {
        for (login, isKept) in [("login = kept\n", true), ("", false)] {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            var docs = batch(3, "docs", [])
            docs.waits = [WaitCount(reason: .auth, count: 3)]
            screen.send(.answer(.batches(.success([docs]), number: screen.lastNumber)))
            screen.press("d")
            let file = DestinationsFile(bytes: Array("[work]\nurl = https://host/in\nuser = ana\n\(login)".utf8))
            screen.send(.local(.places(Adding.places, Adding.recent, file)))
            guard let shown = screen.model.page as? DestinationsPage else { return #expect(Bool(false), "no page") }
            #expect((shown.form == nil) == isKept && (shown.current?.name == "work" || !isKept))
            screen.press("Esc")
            guard screen.model.page is ProblemsPage else { return #expect(Bool(false), "not back") }
            #expect(!screen.requests.contains { if case .act(.set(_, .some), _, _) = $0 { true } else { false } })
        }
    }

    @Test("one retry for all files of a cause, wherever they are")
    func retriesAll() {
        let cause = CauseCount(
            code: .http, count: 4, finding: Finding("the server answered 403", .step("ask who runs it")))
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let batches = [batch(3, "docs", [cause]), batch(4, "b", [cause])]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        screen.press("r")
        let selectors = screen.requests.compactMap { request -> NodeSelector? in
            if case .act(.retry, .matching(let selector), _) = request { selector } else { nil }
        }
        #expect(selectors == [NodeSelector(filter: "@err err=http")])
    }

    @Test("o shows the report in the pager and w writes it: every cause, and nothing raw")
    func report() {
        var screen = screen()
        screen.press("o")
        guard case .showPlain(let text)? = screen.requests.first else { return #expect(Bool(false), "no pager") }
        #expect(text.hasPrefix("Problems at 2026-11-21T12:41:00: 1,206 files in 2 causes"))
        #expect(text.contains("permission denied: 1,204 files") && text.contains("a file changed"))
        #expect(!text.unicodeScalars.contains("\u{1b}"))
        screen.press("w")
        #expect(screen.requests.contains(.write(text, name: "problems.txt")))
        screen.send(.answer(.written(file: "/home/ana/problems.txt")))
        #expect(screen.picture.contains("Written into /home/ana/problems.txt."))
    }

    @Test("the cursor stays on its cause when others come")
    func news() {
        var screen = screen()
        screen.press("j")
        var totals = Rows.exampleTotals
        totals.problems += 5000
        screen.news([], totals: totals)
        var more = batches
        more.append(batch(9, "z", [CauseCount(code: .timedOut, count: 5000, finding: Finding("slow", .step("wait")))]))
        screen.send(.answer(.batches(.success(more), number: screen.lastNumber)))
        guard let page = screen.model.page as? ProblemsPage else { return #expect(Bool(false), "the page is gone") }
        #expect(page.causes.map(\.files) == [5000, 1204, 2])
        #expect(page.cause?.error?.code == .sourceChanged)
    }

    @Test("the name of one file does not stand for all of them, neither as a cause nor in a folded row")
    func oneOfMany() {
        let finding = Finding(
            "/src/a.txt is not there any more", isOfFile: true, .retry("put it back and retry"))
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let cause = CauseCount(code: .sourceMissing, count: 3, finding: finding)
        screen.send(.answer(.batches(.success([batch(1, "docs", [cause])]), number: screen.lastNumber)))
        #expect(screen.lines[2].contains("x source missing"))
        #expect(screen.picture.contains("one of them: /src/a.txt is not there any more"))
        var group = Rows.group(3, 5, .failed, 14)
        group.error = TransferError(.sourceMissing, finding)
        #expect(RowLabel.group(group, screen.model.appearance).string == "14 failed: source missing")
        group.counts.failed = 1
        #expect(RowLabel.group(group, screen.model.appearance).string == "1 failed: /src/a.txt is not there any more")
    }

    @Test("nothing has failed")
    func nothing() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("e")
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("Nothing has failed, and nothing needs you."))
    }
}

extension ScreenHarness {
    /// The filters with which this was asked for just now.
    func matched(_ deed: NodeDeed) -> [String] {
        requests.compactMap { request in
            if case .act(deed, .matching(let selector), _) = request { selector.filter } else { nil }
        }
    }
}

extension Page {
    var isServerForm: Bool { if let page = self as? DestinationsPage { page.form != nil } else { false } }

    var problemTitles: [String] {
        if let page = self as? ProblemsPage { page.causes.map(\.title) } else { [] }
    }
}
