import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Pictures of another machine's engine")
struct AttachedTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, machine: "nas")
        screen.connect()
        screen.news(Rows.example, totals: Rows.exampleTotals)
        return screen
    }

    @Test("its work, the line down, the line up again")
    func lineDown() {
        var screen = example()
        Pictures.expect(screen.picture, "attached-80x24")
        let since = screen.moment.wall
        screen.send(.link(.lost(since: since, nextTry: since.advanced(by: .seconds(1)), .line(problem: nil))))
        screen.wait(.seconds(1))
        screen.send(.link(.connecting))
        let problem = "no line to nas (ssh: connect to host nas port 22: Connection refused)"
        screen.send(.link(.lost(since: since, nextTry: since.advanced(by: .seconds(3)), .line(problem: problem))))
        Pictures.expect(screen.picture, "line-down-80x24")
        screen.press("x")
        #expect(screen.requests.isEmpty)
        #expect(screen.picture.contains("The line to nas is down: nothing can be changed now."))
        // The same reason is not said again over what the person reads.
        screen.send(.link(.connecting))
        screen.send(.link(.lost(since: since, nextTry: since.advanced(by: .seconds(9)), .line(problem: problem))))
        #expect(!screen.picture.contains("Connection refused"))
        screen.send(.resized(ScreenSize(columns: 20, rows: 2)))
        Pictures.expect(screen.picture, "line-down-20x2")
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        screen.connect()
        #expect(screen.picture.contains("The line to nas is up again."))
        screen.press("j", "k")
        var undisturbed = example()
        undisturbed.wait(.seconds(1))
        #expect(screen.picture == undisturbed.picture)
    }

    @Test(
        "what the engine says will be is counted down by its clock, and a change can be taken back for as long as it says"
    )
    func clock() {
        var screen = ScreenHarness(80, 24, machine: "nas")
        var identity = EngineIdentity(pid: 1, version: "1", protocolVersion: "1")
        (identity.clockAhead, identity.grace) = (.seconds(-3600), .seconds(25))
        screen.send(.link(.connected(identity)))
        var row = Rows.batch(1, "holiday", .waiting, { $0.waiting = 1 })
        row.waitReasons = [.backoff]
        row.retryAt = ScreenHarness.morning.advanced(by: .seconds(12 - 3600))
        screen.news([Rows.section(nil, [row])])
        #expect(screen.picture.contains("12s"))
        #expect(screen.model.nextWake == .seconds(1))
        screen.press("i")
        #expect(screen.picture.contains("in 12 s"))
        screen.press("Esc", "x")
        screen.answerDone()
        #expect(screen.picture.contains("u undo (25 s)"))
    }

    @Test("a time of the engine's today is told without its day, whatever day it is here")
    func today() {
        var screen = ScreenHarness(80, 24, machine: "nas")
        var identity = EngineIdentity(pid: 1, version: "1", protocolVersion: "1")
        identity.clockAhead = .seconds(86_400)
        screen.send(.link(.connected(identity)))
        screen.news([Rows.section(nil, [Rows.batch(1, "holiday", .running, { $0.running = 1 })])])
        screen.press(":", "pause for 2h", "Enter")
        screen.answerDone()
        #expect(screen.picture.contains("until 14:41:00."))
    }

    @Test("the engine there is gone, the line is not")
    func engineGone() {
        var screen = example()
        let since = screen.moment.wall
        screen.send(.link(.lost(since: since, nextTry: nil, .engine(problem: "no engine is running"))))
        #expect(screen.picture.contains("ENGINE OF nas NOT ANSWERING"))
        screen.press("s")
        #expect(screen.requests.contains(.startEngine))
        screen.connect()
    }

    @Test("files of that machine are refused by name, typed or pasted")
    func noFiles() {
        var screen = example()
        let refusal = "Files of nas cannot be picked from here"
        for key in ["a", "W"] {
            screen.press(key)
            #expect(screen.picture.contains(refusal))
        }
        screen.press("D")
        #expect(screen.picture.contains("Servers of nas are kept there"))
        screen.press("j")
        #expect(!screen.picture.contains(refusal))
        screen.send(.input(.paste(Paste(bytes: Array("/home/ana/x".utf8), isIncomplete: false))))
        #expect(screen.picture.contains(refusal))
        #expect(screen.model.adding == nil)
        #expect(!screen.picture.contains("a add"))
    }

    @Test("an empty queue, help and what is printed at the end name the machine")
    func words() {
        var screen = ScreenHarness(80, 24, machine: "nas")
        screen.connect()
        screen.news([Rows.section(nil, [])])
        Pictures.expect(screen.picture, "attached-empty-80x24")
        #expect(LeavingText.lines(screen.model).last == "Come back: martlet attach nas")
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil, .line(problem: nil))))
        #expect(LeavingText.lines(screen.model).first == "There was no line to nas; what was queued is not lost.")
        #expect(
            screen.model.helpLayout(HelpPage(.transfers)).rows.contains {
                String(describing: $0).contains("nas")
            })
    }
}
