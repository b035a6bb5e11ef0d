import Configuration
import FoundationEssentials
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

/// Servers that serve nothing, and which of several is to blame.
extension ProblemsPageTests {
    /// A batch whose server serves nothing.
    func unserved(_ id: Int64, _ name: String, _ server: String, retryIn seconds: Int64? = 7) -> BatchSnapshot {
        var found = batch(id, name, [])
        found.destination = "https://\(server)/in/"
        found.waits = [
            WaitCount(
                reason: .hostBackoff, code: .cannotConnectToHost, count: 10 * id,
                finding: Finding("\(server) does not accept the connection", .again), lastAt: ago(60),
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
        screen.send(.answer(.batches(.success(answer), number: screen.lastNumber)))
        guard let page = screen.model.page as? ProblemsPage else { return #expect(Bool(false), "no page") }
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
            .answer(.batches(.success([pausing, unserved(2, "raw", "nas:8080")]), number: screen.lastNumber)))
        screen.press("j")
        Pictures.expect(screen.picture, "problems-pause-80x24")
        screen.press("r")
        #expect(screen.picture.contains("nobody asks it before that is over") && screen.requests.isEmpty)
    }

    @Test("the details of a batch whose files wait for their server say what to see to")
    func unservedDetails() {
        var row = Rows.batch(1, "docs", .waiting, { $0.waiting = 12 })
        row.waitReasons = [.hostBackoff]
        row.error = TransferError(.cannotConnectToHost, "nas:8080 does not accept the connection", .again)
        var screen = ScreenHarness(100, 24, [Rows.section(nil, [row])])
        screen.press("i")
        #expect(screen.picture.contains("nas:8080 does not accept the connection"))
        #expect(screen.picture.contains("see whether the server is running, and check its host and port"))
    }

    @Test("the next try on the page is asked for when it has come, and then once a second")
    func nextTry() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        func asks() -> Bool { screen.requests.contains { if case .batches = $0 { true } else { false } } }
        screen.press("e")
        screen.send(.answer(.batches(.success([unserved(1, "docs", "nas")]), number: screen.lastNumber)))
        screen.wait(.seconds(6))
        #expect(!asks())
        screen.wait(.seconds(1))
        #expect(asks())
        screen.send(.answer(.batches(.success([unserved(1, "docs", "nas", retryIn: nil)]), number: screen.lastNumber)))
        #expect(screen.picture.contains("now, by itself"))
        screen.wait(.milliseconds(900))
        #expect(!asks())
        screen.wait(.milliseconds(100))
        #expect(asks())
    }

    @Test("two servers that differ in the port are two problems, and what is done to one is done to none of the other")
    func ports() {
        func refused(_ id: Int64, _ server: String, _ status: Int = 404) -> BatchSnapshot {
            let finding = Finding("\(server) answered \(status) Not Found", .step("check the address"))
            let cause = CauseCount(code: .http, count: 10 - id, finding: finding, httpStatus: status)
            var found = batch(id, "b\(id)", [cause])
            found.destination = "http://\(server)/in/"
            return found
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let answer = [refused(1, "127.0.0.1:8080"), refused(2, "127.0.0.1:9090"), refused(3, "127.0.0.1:9090", 413)]
        screen.send(.answer(.batches(.success(answer), number: screen.lastNumber)))
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
        let finding = Finding("nas.local:8443 answered 404 Not Found", .step("check the address"))
        let answer = names.enumerated().map { index, name in
            batch(
                Int64(index + 1), name,
                [CauseCount(code: .http, count: 1200, finding: finding, httpStatus: 404, lastAt: ago(60))])
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success(answer), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "problems-long-80x24")
        #expect(screen.lines[2].contains("nas.local:8443 answered 404 Not Found "))
    }

    @Test("a key that is not known and one that has changed are two problems, each with what to do")
    func hostKeys() {
        func waiting(_ id: Int64, _ finding: Finding) -> BatchSnapshot {
            var found = batch(id, "b\(id)", [])
            found.destination = "sftp://nas.local/in/"
            found.filesWaiting = 4
            found.waits = [WaitCount(reason: .hostKey, count: 4, finding: finding)]
            return found
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let unknown = Finding(
            "the key of nas.local is not known", aside: "No ED25519 host key is known for nas.local",
            .thenRetry("run ssh nas.local once"))
        let changed = Finding(
            "nas.local has another key than the known one", aside: "IDENTIFICATION HAS CHANGED",
            .thenRetry("somebody may be in between"))
        screen.send(
            .answer(.batches(.success([waiting(1, unknown), waiting(2, changed)]), number: screen.lastNumber)))
        #expect(
            screen.model.page.problemTitles == [
                "nas.local has another key than the known one", "the key of nas.local is not known",
            ])
        #expect(screen.picture.contains("What to do    somebody may be in between, then r "))
        screen.press("j")
        #expect(screen.picture.contains("What to do    run ssh nas.local once, then r "))
        screen.press("x")
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["(@auth why=hostKey | @wait) id:b1"])
    }
}
