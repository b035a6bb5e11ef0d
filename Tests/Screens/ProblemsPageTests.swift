import Configuration
import FoundationEssentials
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Problems are grouped by cause")
struct ProblemsPageTests {
    private func batch(_ id: Int64, _ name: String, _ causes: [CauseCount]) -> BatchSnapshot {
        var counts = FileCounts()
        counts.failed = causes.reduce(0) { $0 + $1.count }
        return BatchSnapshot(
            id: BatchID(rawValue: id), uuid: UUID(), session: .default, name: name, direction: .upload, state: .failed,
            scanning: false, paused: false, priority: .normal, createdAt: ScreenHarness.morning, finishedAt: nil,
            destination: "https://host/in/", counts: counts, bytes: ByteCounts(), waitReasons: [], causes: causes)
    }

    private func ago(_ seconds: Int64) -> Timestamp { ScreenHarness.morning.advanced(by: .seconds(-seconds)) }

    private var batches: [BatchSnapshot] {
        let refused = "host answered 403 to t20 (\u{1b}[2Jquota exceeded): free space there, or ask who runs it"
        var docs = CauseCount(code: .permissionDenied, count: 1200, message: refused, lastAt: ago(60))
        docs.said = "quota for user exceeded"
        docs.detail = "PUT /in/contracts/NDA%20signed.pdf -> 403, try 3"
        return [
            batch(
                1, "holiday-2024",
                [CauseCount(code: .sourceChanged, count: 2, message: "a file changed: look at it", lastAt: ago(7200))]),
            batch(3, "docs", [docs]),
            batch(4, "more", [CauseCount(code: .permissionDenied, count: 4, message: refused)]),
        ]
    }

    private func screen(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.problems(.success(batches), number: screen.lastNumber)))
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
        screen.send(.answer(.problems(.success([full]), number: screen.lastNumber)))
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
            CauseCount(code: .http, count: 5, message: "host answered 404: look", httpStatus: 404),
            CauseCount(code: .http, count: 3, message: "host answered 413: cut it", httpStatus: 413),
            CauseCount(code: .http, count: 1, message: "host refuses the user"),
        ]
        screen.send(.answer(.problems(.success([batch(1, "a", statuses)]), number: screen.lastNumber)))
        #expect(
            screen.model.page.problemTitles == [
                "host answered 404", "host answered 413", TransferErrorCode.http.words,
            ])
        screen.press("r")
        #expect(screen.matched(.retry) == ["@err err=http err=404"])
        screen.press("j", "j", "r")
        #expect(screen.matched(.retry) == ["@err err=http !err=404 !err=413"])
    }

    @Test("Enter shows the files of the cause alone, Esc back to the tree")
    func files() {
        var screen = screen()
        screen.press("Enter")
        #expect(screen.model.filter?.text == "@err err=permissionDenied")
        guard case .transfers = screen.model.page else { return #expect(Bool(false), "still on the page") }
        screen = self.screen()
        screen.press("Esc")
        #expect(screen.cursorName == "holiday-2024")
    }

    @Test("what failed is left out only after a question; what waits is cancelled, which can be taken back")
    func leaveOut() {
        var screen = screen()
        screen.press("x")
        #expect(screen.picture.contains("Leave out 1,204 files of 2 batches?"))
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.matched(.leaveOut) == [])
        screen.press("x")
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.leaveOut) == ["@err err=permissionDenied"])
        var lost = batch(7, "photos", [])
        lost.waits = [
            WaitCount(
                reason: .backoff, code: .cannotFindHost, count: 3,
                message: "nsa.local cannot be found: check the spelling of its name, then the network")
        ]
        screen.send(.answer(.problems(.success([lost]), number: 1)))
        screen.press("3", "1", "3")
        screen.send(.answer(.problems(.success([lost]), number: screen.lastNumber)))
        #expect(screen.picture.contains("nsa.local cannot be found"))
        #expect(screen.picture.contains("Nobody knows a machine of that name."))
        #expect(screen.picture.contains("check the spelling"))
        screen.press("x")
        #expect(screen.matched(.cancel) == [#"@retry err:/^nsa\.local cannot be found/"#])
    }

    @Test("what a key does hits the cause under the cursor alone, and nothing when that has gone meanwhile")
    func alone() {
        var first = batch(7, "keys", [])
        first.waits = [WaitCount(reason: .hostKey, count: 4)]
        var second = batch(8, "logins", [])
        second.waits = [WaitCount(reason: .auth, count: 5)]
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.problems(.success([first, second]), number: screen.lastNumber)))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["@auth why=auth"])
        screen.press("j", "x")
        #expect(screen.matched(.cancel) == ["@auth why=hostKey"])
        // The one under the cursor goes, and the other moves to its place.
        screen.press("3", "1", "3")
        screen.send(.answer(.problems(.success([first, second]), number: screen.lastNumber)))
        var totals = Rows.exampleTotals
        totals.needsPerson = 9
        screen.news([], totals: totals)
        screen.send(.answer(.problems(.success([first]), number: screen.lastNumber)))
        screen.press("x")
        #expect(screen.matched(.cancel) == [] && screen.picture.contains("That problem is gone: choose another one."))
        screen.press("k", "x")
        #expect(screen.matched(.cancel) == ["@auth why=hostKey"])
    }

    @Test("d goes to the configured server that it is about, and Esc back to the problems")
    func server() throws {
        var screen = screen()
        screen.press("d")
        let text = "[nas]\nurl = sftp://nas.local/\n\n[work]\nurl = https://host/in\n"
        let file = DestinationsFile(bytes: Array(text.utf8))
        screen.send(.local(.places(Adding.places, Adding.recent, file)))
        guard case .destinations(let shown) = screen.model.page else { return #expect(Bool(false), "no page") }
        #expect(shown.current?.name == "work")
        screen.press("Esc")
        guard case .problems = screen.model.page else { return #expect(Bool(false), "not back") }
    }

    @Test("a bucket is told as one, and d takes new keys for its batch where no server keeps them")
    func keysOfBucket() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        var photos = batch(14, "photos", [])
        photos.destination = "s3://test/in/"
        photos.waits = [WaitCount(reason: .auth, count: 3)]
        screen.send(.answer(.problems(.success([photos]), number: screen.lastNumber)))
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
        guard case .letIn(let batches, let secrets, let number)? = screen.requests.first else {
            Issue.record("nothing was given: \(screen.requests)")
            return
        }
        #expect(batches == [BatchID(rawValue: 14)])
        #expect(secrets.s3 == S3Keys(accessKeyID: "AKIA", secretAccessKey: "SECRET") && secrets.user == nil)
        guard case .problems = screen.model.page else { return #expect(Bool(false), "not back") }
        let done = NodeResult(id: .batch(BatchID(rawValue: 14)), result: .done)
        screen.send(.answer(.acted(.success(NodesChanged(results: [done], undo: .operation(1))), number: number)))
        #expect(screen.picture.contains("\"photos\" goes on with what you typed."))
        #expect(!screen.model.repeating.hasChanges, "a login is kept by nobody but the engine")
    }

    @Test("a login that the engine keeps for a configured server is mended there; Esc leaves what waits as it is")
    func loginOfServer() {
        for (login, isKept) in [("login = kept\n", true), ("", false)] {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            var docs = batch(3, "docs", [])
            docs.waits = [WaitCount(reason: .auth, count: 3)]
            screen.send(.answer(.problems(.success([docs]), number: screen.lastNumber)))
            screen.press("d")
            let file = DestinationsFile(bytes: Array("[work]\nurl = https://host/in\nuser = ana\n\(login)".utf8))
            screen.send(.local(.places(Adding.places, Adding.recent, file)))
            guard case .destinations(let shown) = screen.model.page else { return #expect(Bool(false), "no page") }
            #expect((shown.form == nil) == isKept && (shown.current?.name == "work" || !isKept))
            screen.press("Esc")
            guard case .problems = screen.model.page else { return #expect(Bool(false), "not back") }
            #expect(!screen.requests.contains { if case .letIn = $0 { true } else { false } })
        }
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
        more.append(batch(9, "z", [CauseCount(code: .timedOut, count: 5000, message: "slow: wait")]))
        screen.send(.answer(.problems(.success(more), number: screen.lastNumber)))
        guard case .problems(let page) = screen.model.page else { return #expect(Bool(false), "the page is gone") }
        #expect(page.causes.map(\.files) == [5000, 1204, 2])
        #expect(page.cause?.error?.code == .sourceChanged)
    }

    @Test("the name of one file does not stand for all of them, neither as a cause nor in a folded row")
    func oneOfMany() {
        let message = "/src/a.txt is not there any more: put it back and retry, or cancel it"
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let cause = CauseCount(code: .sourceMissing, count: 3, message: message)
        screen.send(.answer(.problems(.success([batch(1, "docs", [cause])]), number: screen.lastNumber)))
        #expect(screen.lines[2].contains("x source missing"))
        #expect(screen.picture.contains("one of them: /src/a.txt is not there any more"))
        var group = Rows.group(3, 5, .failed, 14)
        group.error = TransferError(.sourceMissing, message)
        #expect(RowLabel.group(group, screen.model.look).string == "14 failed: source missing")
        group.counts.failed = 1
        #expect(RowLabel.group(group, screen.model.look).string == "1 failed: /src/a.txt is not there any more")
    }

    @Test("nothing has failed")
    func nothing() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("e")
        screen.send(.answer(.problems(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("Nothing has failed, and nothing needs you."))
    }

    /// A batch whose server serves nothing.
    private func unserved(_ id: Int64, _ name: String, _ server: String, retryIn seconds: Int64? = 7) -> BatchSnapshot {
        var found = batch(id, name, [])
        found.destination = "https://\(server)/in/"
        found.waits = [
            WaitCount(
                reason: .hostBackoff, code: .cannotConnectToHost, count: 10 * id,
                message: "\(server) does not accept the connection: Martlet tries again by itself", lastAt: ago(60),
                server: server, retryAt: seconds.map { ago(-$0) })
        ]
        return found
    }

    @Test("a server that serves nothing is a problem with its files, its cure and its next try")
    func unservedServer() {
        var totals = Rows.exampleTotals
        (totals.problems, totals.problemCauses, totals.needsServer) = (60, 2, 60)
        var screen = ScreenHarness(80, 24, Rows.example, totals: totals)
        screen.press("e")
        let answer = [unserved(1, "docs", "nas:8080"), unserved(2, "raw", "far:22"), unserved(3, "photos", "nas:8080")]
        screen.send(.answer(.problems(.success(answer), number: screen.lastNumber)))
        guard case .problems(let page) = screen.model.page else { return #expect(Bool(false), "no page") }
        #expect(page.causes.map(\.files) == [40, 20])
        Pictures.expect(screen.picture, "problems-unserved-80x24")
        screen.press("r")
        let waiting = NodeSelector(filter: "(why=hostBackoff | why=backoff) (id:b3 | id:b1)")
        let asked = Request.act(.retry, .matching(waiting), number: screen.lastNumber)
        #expect(screen.requests.contains(asked), "what waits for a person or a time is left alone: \(screen.requests)")
        let done = [NodeResult(id: .task(TaskID(rawValue: 1)), result: .done)]
        screen.send(.answer(.acted(.success(NodesChanged(results: done)), number: screen.lastNumber)))
        #expect(screen.picture.contains("Asking nas:8080 again now."))
        screen.press("r")
        screen.send(.answer(.acted(.success(NodesChanged(results: [])), number: screen.lastNumber)))
        #expect(screen.picture.contains("Nothing waits for its next try"))
        screen.press("Esc")
        #expect(
            LeavingText.lines(screen.model)[0].hasSuffix(
                "60 files wait for a server that serves nothing: see martlet why."))
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        #expect(screen.picture.contains("60 unserved") && !screen.picture.contains("ERR"))
    }

    @Test(
        "a server that asked for a long pause is a problem of its own kind: nothing is to be done, and it is not asked")
    func askedPause() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        var pausing = unserved(1, "docs", "nas:8080", retryIn: 600)
        pausing.waits[0].code = nil
        pausing.waits[0].message = "nas:8080 answered 503 Service Unavailable and asked for a pause"
        screen.press("e")
        screen.send(
            .answer(.problems(.success([pausing, unserved(2, "raw", "nas:8080")]), number: screen.lastNumber)))
        screen.press("j")
        Pictures.expect(screen.picture, "problems-pause-80x24")
        screen.press("r")
        #expect(screen.picture.contains("nobody asks it before that is over") && screen.requests.isEmpty)
    }

    @Test("the details of a batch whose files wait for their server say what to see to")
    func unservedDetails() {
        var row = Rows.batch(1, "docs", .waiting, { $0.waiting = 12 })
        row.waitReasons = [.hostBackoff]
        row.error = TransferError(
            .cannotConnectToHost, "nas:8080 does not accept the connection: Martlet tries again by itself")
        var screen = ScreenHarness(100, 24, [Rows.section(nil, [row])])
        screen.press("i")
        #expect(screen.picture.contains("nas:8080 does not accept the connection"))
        #expect(screen.picture.contains("see whether the server is running, and check its host and port"))
    }

    @Test("the next try on the page is asked for when it has come, and then once a second")
    func nextTry() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        func asks() -> Bool { screen.requests.contains { if case .problems = $0 { true } else { false } } }
        screen.press("e")
        screen.send(.answer(.problems(.success([unserved(1, "docs", "nas")]), number: screen.lastNumber)))
        screen.wait(.seconds(6))
        #expect(!asks())
        screen.wait(.seconds(1))
        #expect(asks())
        screen.send(.answer(.problems(.success([unserved(1, "docs", "nas", retryIn: nil)]), number: screen.lastNumber)))
        #expect(screen.picture.contains("now, by itself"))
        screen.wait(.milliseconds(900))
        #expect(!asks())
        screen.wait(.milliseconds(100))
        #expect(asks())
    }

    @Test("two servers that differ in the port are two problems, and what is done to one is done to none of the other")
    func ports() {
        func refused(_ id: Int64, _ server: String, _ status: Int = 404) -> BatchSnapshot {
            let message = "\(server) answered \(status) Not Found: check the address"
            let cause = CauseCount(code: .http, count: 10 - id, message: message, httpStatus: status)
            var found = batch(id, "b\(id)", [cause])
            found.destination = "http://\(server)/in/"
            return found
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let answer = [refused(1, "127.0.0.1:8080"), refused(2, "127.0.0.1:9090"), refused(3, "127.0.0.1:9090", 413)]
        screen.send(.answer(.problems(.success(answer), number: screen.lastNumber)))
        #expect(
            screen.model.page.problemTitles == [
                "127.0.0.1:8080 answered 404", "127.0.0.1:9090 answered 404", "127.0.0.1:9090 answered 413",
            ])
        screen.press("r")
        #expect(screen.matched(.retry) == ["@err err=http err=404 id:b1"])
        screen.press("j", "r")
        #expect(screen.matched(.retry) == ["@err err=http err=404 id:b2"])
        screen.press("j", "r")
        #expect(screen.matched(.retry) == ["@err err=http err=413"])
    }

    @Test("at 80 columns the reason is whole before names of batches and times are")
    func reasonFirst() {
        let names = ["holiday-2024-raw-and-edited", "contracts of the whole year"]
        let message = "nas.local:8443 answered 404 Not Found: check the address"
        let answer = names.enumerated().map { index, name in
            batch(
                Int64(index + 1), name,
                [CauseCount(code: .http, count: 1200, message: message, httpStatus: 404, lastAt: ago(60))])
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.problems(.success(answer), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "problems-long-80x24")
        #expect(screen.lines[2].contains("nas.local:8443 answered 404 Not Found "))
    }

    /// b8 is queued in the place of b7, and the engine is asked about that.
    private func replacing() -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.problems(.success([unserved(7, "docs", "nas:8080")]), number: screen.lastNumber)))
        #expect(screen.lines[2].contains("A address  r retry"), "\(screen.picture)")
        #expect(screen.picture.contains("A corrects the address, if it is wrong; else see whether"))
        screen.press("A")
        var order = BatchRequest(
            name: "docs",
            work: .upload(
                [UploadSource(path: RawPath(Adding.path("notes.txt")), placement: .named(RawPath("notes.txt")))],
                to: "https://nas:8080/in/"))
        order.like = BatchID(rawValue: 7)
        screen.send(.answer(.ordered(.success(order), number: screen.lastNumber)))
        screen.press("Enter")
        #expect(
            screen.picture.contains(
                "Instead of    b7, cancelled then if nothing of it was sent; u takes that back"))
        #expect(screen.picture.contains("  martlet cancel b7"), "the command shown comes to the same")
        screen.press("F2")
        let asked = screen.requests.contains { if case .queue = $0 { true } else { false } }
        #expect(
            asked
                && screen.model.outstanding.values.allSatisfy { if case .replaced = $0.purpose { false } else { true } }
        )
        var new = Adding.batch
        (new.id, new.name) = (BatchID(rawValue: 8), "docs")
        screen.send(.answer(.queued(.success(new), number: screen.lastNumber)))
        #expect(screen.requests.contains(.problems(number: screen.lastNumber)))
        return screen
    }

    @Test("of what is not reached the address is mended first, and the new batch takes the old one's place")
    func address() {
        var screen = replacing()
        screen.send(.answer(.problems(.success([unserved(7, "docs", "nas:8080")]), number: screen.lastNumber)))
        let old = NodeID.batch(BatchID(rawValue: 7))
        #expect(screen.requests.contains(.act(.cancel, .ids([old]), number: screen.lastNumber)))
        var result = NodeResult(id: old, result: .done)
        result.bytesToRepeat = 3 << 20
        screen.answer([result])
        let lost: SafeText = "3.0M already sent are lost: it cannot resume there, and undo sends them again."
        #expect(screen.model.notice?.text == "b8 \"docs\" is queued in the place of b7, which is cancelled. " + lost)
        #expect(screen.model.notice?.undo?.choice == .operation(7))
    }

    private func cancels(_ screen: ScreenHarness) -> Bool {
        screen.requests.contains { if case .act(.cancel, _, _) = $0 { true } else { false } }
    }

    @Test("an old batch that has come to move, or is gone, before the new one is queued stands, and that is said")
    func bothStand() {
        var moved = unserved(7, "docs", "nas:8080")
        moved.bytesSent = 1
        let mended = batch(7, "docs", [])
        for answer in [[moved], [mended], []] {
            var screen = replacing()
            screen.send(.answer(.problems(.success(answer), number: screen.lastNumber)))
            #expect(!cancels(screen))
            let said: SafeText = "b8 \"docs\" is queued; b7 changed meanwhile and is not cancelled: both stand."
            #expect(screen.model.notice?.text == said)
        }
        var screen = replacing()
        let error = RequestError(.engineUnreachable, "the engine does not answer: look")
        screen.send(.answer(.problems(.failure(error), number: screen.lastNumber)))
        let said: SafeText = "b8 \"docs\" is queued; b7 was not cancelled: the engine does not answer: look"
        #expect(!cancels(screen) && screen.model.notice?.text == said)
    }

    @Test("what failed for good, or of which anything was sent, is sent once more beside it, and nothing is cancelled")
    func elsewhere() {
        func isInPlace(_ batches: [BatchSnapshot]) -> [Bool] {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            screen.send(.answer(.problems(.success(batches), number: screen.lastNumber)))
            screen.press("A")
            return screen.model.outstanding.values.compactMap {
                if case .order(_, let inPlace) = $0.purpose { inPlace } else { nil }
            }
        }
        var (done, begun) = (unserved(7, "docs", "nas"), unserved(7, "docs", "nas"))
        done.filesCompleted = 900
        begun.bytesSent = 1
        #expect(isInPlace([unserved(7, "docs", "nas")]) == [true])
        #expect(isInPlace(batches) == [false] && isInPlace([done]) == [false] && isInPlace([begun]) == [false])
    }

    /// A batch of twelve files, all of which wait for a name that nobody knows.
    private func unknown(_ destination: String) -> BatchSnapshot {
        var found = batch(4, "raw", [])
        found.destination = destination
        found.filesWaiting = 12
        found.waits = [
            WaitCount(
                reason: .hostBackoff, code: .cannotFindHost, count: 12,
                message: "nas.lcoal cannot be found: check the spelling of its name; Martlet tries again by itself")
        ]
        return found
    }

    @Test("A is offered where it does something: neither for downloads nor on another machine")
    func correctsNothing() {
        func shown(_ batch: BatchSnapshot, machine: String? = nil) -> ScreenHarness {
            var screen = ScreenHarness(80, 24, machine: machine)
            screen.connect()
            screen.news(Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            screen.send(.answer(.problems(.success([batch]), number: screen.lastNumber)))
            return screen
        }
        func offers(_ screen: ScreenHarness) -> Bool {
            screen.picture.contains("A address") || screen.picture.contains("A corrects")
        }
        #expect(offers(shown(unknown("https://nas.lcoal/in/"))))
        #expect(!offers(shown(unknown("https://nas.lcoal/in/"), machine: "attic")))
        var screen = shown(unknown("/home/ana/in"))
        #expect(!offers(screen) && screen.lines[2].contains("r retry"))
        screen.press("r")
        #expect(screen.matched(.retry) == ["(why=hostBackoff | why=backoff) id:b4"])
        screen.answerDone()
        #expect(screen.model.notice?.text == "Asking the server again now.")
    }

    @Test("one name on two ports is one cause; all of its batch is meant, and asked about before it is cancelled")
    func twoPorts() {
        var found = unknown("/home/ana/in")
        var other = found.waits[0]
        (found.waits[0].count, other.count) = (7, 5)
        found.waits.append(other)
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.problems(.success([found]), number: screen.lastNumber)))
        #expect(screen.model.page.problemTitles == ["nas.lcoal cannot be found"])
        screen.press("x")
        #expect(screen.requests.isEmpty && screen.picture.contains("Leave out 12 files of \"raw\"?"))
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["(@run | @wait | @retry) id:b4"])
    }

    @Test("all that waits for a name that nobody knows is meant, whether it has been tried or not")
    func wholeUnknown() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(
            .answer(.problems(.success([unknown("https://nas.lcoal/in/")]), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "problems-unknown-80x24")
        screen.press("r")
        #expect(screen.matched(.retry) == ["(why=hostBackoff | why=backoff) id:b4"])
        screen.press("x")
        #expect(screen.requests.isEmpty, "what is tried just now is cancelled, too: it is asked about")
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["(@run | @wait | @retry) id:b4"])
        screen.press("Enter")
        #expect(screen.model.filter?.text == "(@run | @wait | @retry) id:b4")
    }

    @Test("two names that nobody knows are two problems, and what is done to one is done to none of the other")
    func unknownHosts() throws {
        func unknown(_ id: Int64, _ host: String) -> BatchSnapshot {
            var found = self.batch(id, host, [])
            found.destination = "https://\(host)/in/"
            let message = "\(host) cannot be found: check the spelling of its name, then the network"
            found.waits = [WaitCount(reason: .hostBackoff, code: .cannotFindHost, count: id, message: message)]
            return found
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let answer = [unknown(1, "lcoal"), unknown(2, "nas.lcoal"), unknown(3, "lcoal")]
        screen.send(.answer(.problems(.success(answer), number: screen.lastNumber)))
        guard case .problems(let page) = screen.model.page else {
            Issue.record("it is the page of problems")
            return
        }
        #expect(page.causes.map(\.files) == [4, 2])
        #expect(page.causes.map(\.title) == ["lcoal cannot be found", "nas.lcoal cannot be found"])
        let filter = try #require(page.causes[0].filter(among: page.causes))
        #expect(filter == #"@retry err:/^lcoal cannot be found/"#)
        #expect(page.causes[1].filter(among: page.causes) == #"@retry err:/^nas\.lcoal cannot be found/"#)
        for cause in page.causes { _ = try TransferFilter(cause.filter(among: page.causes) ?? "") }
        screen.press("r")
        guard case .act(.retry, .matching(let selector), _)? = screen.requests.first else {
            Issue.record("r tries again what matches")
            return
        }
        #expect(selector.filter == filter)
    }
}

extension ScreenHarness {
    /// The filters with which this was asked for just now.
    fileprivate func matched(_ deed: Deed) -> [String] {
        requests.compactMap { request in
            if case .act(deed, .matching(let selector), _) = request { selector.filter } else { nil }
        }
    }
}

extension Model.Page {
    fileprivate var problemTitles: [String] {
        if case .problems(let page) = self { page.causes.map(\.title) } else { [] }
    }
}
