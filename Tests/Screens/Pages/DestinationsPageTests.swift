import Configuration
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The page of configured servers")
struct DestinationsPageTests {
    private func page(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, [Rows.section(nil, [])])
        screen.press("D")
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        return screen
    }

    private func answer(_ screen: inout ScreenHarness, _ outcome: DestinationOutcome) {
        screen.answer(DestinationRequest.self, .success(outcome))
    }

    @Test("in every size", arguments: [(80, 24), (120, 36), (40, 8), (20, 5), (20, 2), (1, 1)])
    func sizes(_ columns: Int, _ rows: Int) {
        var screen = page(columns, rows)
        screen.press("t")
        answer(
            &screen,
            .report(
                DestinationReport(
                    ok: true, milliseconds: 84, protocol: "sftp", login: .ok, exists: true, freeBytes: 1 << 40)))
        screen.press("j", "t")
        answer(
            &screen,
            .report(
                DestinationReport(
                    ok: false, milliseconds: 9,
                    error: TransferError(
                        .http, "s3.eu-1.amazonaws.com answered 403 InvalidAccessKeyId",
                        .thenRetry("it does not take these keys; give others"), httpStatus: 403))))
        Pictures.expect(screen.picture, "destinations-\(columns)x\(rows)")
    }

    @Test("none yet; a new one; what is wrong with it")
    func new() throws {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("D")
        Pictures.expect(screen.picture, "destinations-none-80x24")
        screen.press("n", "nas", "Tab", "sftp//nas", "F2")
        Pictures.expect(screen.picture, "destinations-new-80x24")
        screen.press("^U", "https://ana@nas.example/in", "Tab", "Tab", "s3cret", "F2")
        #expect(!screen.picture.contains("s3cret"))
        guard case .save("nas", let saved)? = screen.asked(DestinationRequest.self).first?.request else {
            Issue.record("nothing was saved: \(screen.requests)")
            return
        }
        #expect(saved.password == "s3cret" && saved.destination.url == "https://nas.example/in/")
        #expect(saved.destination.user == "ana" && saved.destination.login == .kept)
        answer(&screen, .changed(DestinationsFile(bytes: try DestinationsFile(bytes: []).setting(saved.destination))))
        // It is asked at once.
        #expect(screen.asks { if case .test("nas", _) = $0 { true } else { false } })
        #expect(screen.picture.contains("nas is saved; use it as nas:PATH."))
    }

    @Test("the keys of S3 are an ID, which stands in the file, and a secret, which does not")
    func keys() throws {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("D", "n", "photos", "Tab", "s3://photos/", "Tab", "Tab", "SECRET", "F2")
        #expect(screen.picture.contains("Whose secret key is it? Type the access key ID."))
        screen.press("AKIA", "F2")
        guard case .save("photos", let saved)? = screen.asked(DestinationRequest.self).first?.request else {
            Issue.record("nothing was saved: \(screen.requests)")
            return
        }
        #expect(saved.destination.user == "AKIA" && saved.destination.login == .kept && saved.password == "SECRET")
        let file = String(decoding: try DestinationsFile(bytes: []).setting(saved.destination), as: UTF8.self)
        #expect(file == "[photos]\nurl = s3://photos/\nuser = AKIA\nlogin = kept\n")
        #expect(!screen.picture.contains("SECRET"))
    }

    @Test("a form says what it was filled from; when that is another by now, the page shows it and the form is over")
    func changedMeanwhile() throws {
        var screen = page(80, 24)
        let read = try #require(Adding.configured["nas"])
        screen.press("Enter", "F2")
        guard case .edit("nas", let saved)? = screen.asked(DestinationRequest.self).first?.request else {
            Issue.record("nothing was saved: \(screen.requests)")
            return
        }
        #expect(saved.read == read)
        var theirs = read
        theirs.url = "sftp://elsewhere/"
        let file = DestinationsFile(bytes: try Adding.configured.setting(theirs))
        answer(&screen, .changedMeanwhile(file, "nas was changed elsewhere"))
        #expect(screen.picture.contains("nas was changed elsewhere") && screen.picture.contains("sftp://elsewhere"))
        #expect((screen.model.page as? DestinationsPage)?.form == nil)
    }

    @Test("the answer to a form that was left takes away no other one: what is typed stays, and is no key")
    func leftForm() throws {
        var screen = page(80, 24)
        screen.press("Enter", "F2")
        let number = try #require(screen.asked(DestinationRequest.self).first?.number)
        screen.press("Esc", "n", "tap")
        let edited = DestinationOutcome.edited(Adding.configured, loginIsForgotten: false)
        screen.answer(DestinationRequest.self, .success(edited), number: number)
        #expect(screen.picture.contains("nas is changed."))
        screen.press("x")
        #expect((screen.model.page as? DestinationsPage)?.form?.fields.text(.name) == "tapx")
        #expect(screen.asked(DestinationRequest.self).isEmpty)
    }

    @Test("removing asks nothing and is taken back by u; picking begins a batch for it")
    func removing() {
        var screen = page(80, 24)
        screen.press("x")
        #expect(screen.asks { if case .remove("nas") = $0 { true } else { false } })
        answer(&screen, .changed(DestinationsFile(bytes: Adding.configured.removing("nas"))))
        #expect(!screen.picture.contains("sftp://"))
        Pictures.expect(screen.picture, "destinations-removed-80x24")
        screen.press("u")
        #expect(screen.asks { if case .restore = $0 { true } else { false } })
        answer(&screen, .restored("nas", Adding.configured))
        #expect(screen.picture.contains("nas is back.") && screen.picture.contains("sftp://"))
        answer(&screen, .failed("No server was removed in the last 24 h."))
        screen.press("x")
        answer(&screen, .changed(DestinationsFile(bytes: Adding.configured.removing("nas"))))
        screen.press("a")
        screen.list(Adding.entries)
        screen.press("Space", "F2")
        #expect(screen.model.adding?.destination.field.text == "photos:")
    }

    @Test("what was chosen for another place and left in the last look goes to the server it is sent to now")
    func sentElsewhere() {
        var screen = page(80, 24)
        screen.press("Esc", "a")
        screen.list(Adding.entries)
        screen.press("Space", "F2", "^U", "https://host/in/", "Enter")
        #expect(screen.picture.contains("[3 Review]"))
        screen.press("^C", "D")
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        screen.press("a")
        #expect(screen.picture.contains("[1 Pick]"))
        screen.press("F2", "Enter")
        #expect(screen.model.adding?.review?.work == .upload([Adding.path("edits")], to: "nas:"))
    }

    @Test("the form of a server has help of its own")
    func formHelp() {
        var screen = page(80, 24)
        screen.press("n", "F1")
        #expect(screen.lines[0].hasPrefix(" Help: a server "))
        screen.press("q")
        #expect(screen.model.page.isServerForm)
    }

    private func saved(_ screen: ScreenHarness) -> (deed: String, DestinationRequest.SavedDestination)? {
        for (deed, _) in screen.asked(DestinationRequest.self) {
            switch deed {
            case .edit(_, let saved): return ("edit", saved)
            case .signIn(_, let saved): return ("sign in", saved)
            default: continue
            }
        }
        return nil
    }

    @Test(
        "Enter edits what is there: what the form does not show stays, and the engine's password is not asked for again"
    )
    func editing() throws {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        let text = "[web]\nurl = https://h/in/\nuser = ana\nlogin = kept\npin = sha256//x\nlimit = 2M\n"
        let file = DestinationsFile(bytes: Array(text.utf8))
        screen.press("D")
        screen.send(.local(.places(Adding.places, Adding.recent, file)))
        #expect(screen.picture.contains("at most 2.0M/s for each batch"))
        screen.press("Enter")
        Pictures.expect(screen.picture, "destinations-edit-80x24")
        screen.press("^U", "https://h/out", "F2")
        let (deed, given) = try #require(saved(screen))
        #expect(deed == "edit" && given.password == nil && given.destination.url == "https://h/out/")
        #expect(given.destination.pin == "sha256//x" && given.destination.limit?.written == "2M")
        #expect(given.destination.login == .kept && given.destination.name == "web")
        answer(&screen, .edited(file, loginIsForgotten: true))
        #expect(screen.picture.contains("The password was another server's and is forgotten: sign in."))
        screen.press("Enter", "S-Tab", "S-Tab", "^U", "fast", "F2")
        #expect(saved(screen) == nil)
    }

    @Test("r signs in: a password for the engine to keep or a command, and never both")
    func signingIn() throws {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        let file = DestinationsFile(bytes: Array("[web]\nurl = https://h/in/\nuser = ana\n".utf8))
        screen.press("D")
        screen.send(.local(.places(Adding.places, Adding.recent, file)))
        screen.press("r")
        Pictures.expect(screen.picture, "destinations-sign-in-80x24")
        screen.press("F2")
        #expect(saved(screen) == nil && screen.picture.contains("Type the password, or the command that prints it."))
        screen.press("t0ken", "F2")
        let (deed, given) = try #require(saved(screen))
        #expect(deed == "sign in" && given.password == "t0ken" && given.destination.login == .kept)
        #expect(!screen.picture.contains("t0ken"))
        answer(&screen, .changed(DestinationsFile(bytes: try DestinationsFile(bytes: []).setting(given.destination))))
        #expect(screen.picture.contains("web: the engine keeps the password."))
        screen.press("r", "Tab", "./pass web", "F2")
        #expect(saved(screen) == nil && screen.picture.contains("Give the command's absolute path: it is run in /."))
        screen.press("^U", "pass web", "F2")
        let command = try #require(saved(screen))
        #expect(command.1.password == nil && command.1.destination.passwordCommand == "pass web")
        #expect(command.1.destination.login == .none)
    }

    @Test("a failed test counts until files go there again, however often the page is opened")
    func failedTest() {
        let batch = Rows.snapshot(
            1, "b", .completed, { $0.completed = 3 }, to: "https://h/in/", finished: ScreenHarness.morning)
        let file = DestinationsFile(bytes: Array("[web]\nurl = https://h/in/\n".utf8))
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        func open(_ batch: BatchSnapshot) {
            screen.press("D")
            screen.send(.local(.places(Adding.places, Adding.recent, file)))
            screen.send(.answer(.batches(.success([batch]), number: screen.lastNumber)))
        }
        open(batch)
        #expect(screen.picture.contains(" ok "))
        screen.press("t")
        let error = TransferError(.cannotConnectToHost, "h does not accept the connection", .step("look at it"))
        answer(&screen, .report(DestinationReport(ok: false, milliseconds: 9, error: error)))
        screen.press("Esc")
        open(batch)
        #expect(screen.picture.contains(" ERR ") && !screen.picture.contains(" ok "))
        #expect(screen.picture.contains("h does not accept the connection"))
        screen.press("Esc")
        var later = batch
        later.finishedAt = ScreenHarness.morning.advanced(by: .seconds(3600))
        open(later)
        #expect(screen.picture.contains(" ok ") && !screen.picture.contains(" ERR "))
    }

    @Test("when a server was used last: by the batches, now while one is not over")
    func used() {
        var screen = page(80, 24)
        func batch(_ id: Int64, _ url: String, over hours: Int64?) -> BatchSnapshot {
            Rows.snapshot(
                id, "b", .completed, to: url,
                finished: hours.map { ScreenHarness.morning.advanced(by: .seconds(-3600 * $0)) })
        }
        let batches = [
            batch(1, "sftp://nas.local/backup/a/", over: 50), batch(2, "sftp://nas.local/backup/b", over: 3),
            batch(3, "s3://photos/2024/x/", over: nil), batch(4, "https://elsewhere/", over: 1),
        ]
        let number = screen.model.requests.outstanding.first {
            if case .batches(.destinations) = $0.value.purpose { true } else { false }
        }
        screen.send(.answer(.batches(.success(batches), number: number?.key ?? -1)))
        let rows = screen.lines
        #expect(rows.first { $0.hasPrefix(" nas") }?.contains("3 h ago") == true)
        #expect(rows.first { $0.hasPrefix(" photos") }?.contains("now") == true)
        #expect(rows.first { $0.hasPrefix(" cloud") }?.contains("ago") == false)
    }

    @Test("what batches have met at a server last is said there, and stands for its state until it is tested")
    func trouble() {
        var screen = page(80, 24)
        func batch(_ name: String, _ waits: [WaitReason], _ status: Int, failed minutes: Int64) -> BatchSnapshot {
            Rows.snapshot(
                minutes, name, .failed, to: "s3://photos/2024/x/", waits: waits,
                causes: [
                    CauseCount(
                        code: .http, count: 1204,
                        finding: Finding("host answered \(status)", .thenRetry("make room there")),
                        httpStatus: status, lastAt: ScreenHarness.morning.advanced(by: .seconds(-60 * minutes)))
                ])
        }
        let number = screen.model.requests.outstanding.first {
            if case .batches(.destinations) = $0.value.purpose { true } else { false }
        }
        let batches = [
            batch("old", [], 500, failed: 9), batch("docs", [], 507, failed: 3), batch("older", [], 404, failed: 20),
        ]
        screen.send(.answer(.batches(.success(batches), number: number?.key ?? -1)))
        screen.press("j")
        Pictures.expect(screen.picture, "destinations-trouble-80x24")
        screen.press("t")
        answer(&screen, .report(DestinationReport(ok: true, milliseconds: 84, protocol: "s3", login: .ok)))
        #expect(screen.lines.first { $0.hasPrefix(" photos") }?.contains(" ok ") == true)
    }

    @Test("a configured server in the steps: its defaults stand in the review, and it is asked meanwhile")
    func steps() {
        var screen = Adding.screen(80, 24)
        screen.send(.local(.places(Adding.places, RecentPlaces(), Adding.configured)))
        screen.press("Space", "F2", "Down", "2024", "Enter")
        #expect(screen.model.adding?.review?.work == .upload([Adding.path("edits")], to: "photos:2024/"))
        #expect(screen.model.adding?.review?.form.word(.ifExists) == "skip")
        #expect(screen.asks { if case .test("photos:2024/", _) = $0 { true } else { false } })
        var report = DestinationReport(ok: true, milliseconds: 84, protocol: "tus", login: .ok)
        (report.exists, report.writable, report.freeBytes) = (false, true, 12 << 40)
        answer(&screen, .report(report))
        Pictures.expect(screen.picture, "review-configured-80x24")
        screen.press("Esc", "^U", "none:x", "Enter")
        #expect(screen.picture.contains("there is no destination"))
    }
}

@Suite("A test of a server whose password is asked for")
struct AskedDestinationTests {
    private func screen() -> ScreenHarness {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        let file = DestinationsFile(bytes: Array("[web]\nurl = https://h/\nuser = ana\n".utf8))
        screen.press("D")
        screen.send(.local(.places(Adding.places, Adding.recent, file)))
        return screen
    }

    private func tested(_ screen: ScreenHarness) -> String?? {
        screen.asked(DestinationRequest.self).reduce(nil) { found, asked in
            if case .test("web", let password) = asked.request { .some(password) } else { found }
        }
    }

    @Test("has it typed, shows none of it, and can be left")
    func asking() {
        var screen = screen()
        screen.press("t")
        #expect(tested(screen) == nil && screen.picture.contains("Test of web"))
        screen.press("F2")
        #expect(screen.picture.contains("Type the password.") && tested(screen) == nil)
        screen.press("s3cret")
        #expect(!screen.picture.contains("s3cret"))
        screen.press("F2")
        #expect(tested(screen) == "s3cret")
        let report = DestinationReport(ok: true, milliseconds: 4, login: .ok)
        screen.answer(DestinationRequest.self, .success(.report(report)))
        #expect(screen.picture.contains("web answered in 4 ms: login ok."))
        screen.press("t", "Esc")
        #expect(!screen.picture.contains("Test of web"))
        // What was meant for the test is not a new server.
        screen.press("n")
        #expect(screen.picture.contains("New destination"))
    }

    @Test("a server that comes back without its password says so")
    func withoutLogin() {
        var screen = screen()
        screen.press("u")
        let file = DestinationsFile(bytes: Array("[web]\nurl = https://h/\nuser = ana\n".utf8))
        screen.answer(DestinationRequest.self, .success(.restored("web", file, loginIsGone: true)))
        #expect(screen.picture.contains("web is back, but its password is gone: remove it and describe it anew."))
    }
}

extension ScreenHarness {
    fileprivate func asks(_ isWanted: (DestinationRequest) -> Bool) -> Bool {
        asked(DestinationRequest.self).contains { isWanted($0.request) }
    }
}
