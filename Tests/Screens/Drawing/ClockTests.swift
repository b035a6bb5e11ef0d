import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The first line has the time and how long the engine has run")
struct ClockTests {
    private func screen(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows)
        screen.model.appearance.hasClock = true
        screen.connect()
        let status = EngineStatus(
            pid: 1, version: "1", uptime: 266_400, protocolVersion: "1", socket: "", queuePath: "", sessions: 1,
            batches: 3, tasksActive: 4, tasksWaiting: 0, bytesPerSecondUp: 0, bytesPerSecondDown: 0, residentBytes: 0)
        screen.send(.answer(.status(.success(status), number: screen.lastNumber)))
        screen.news(Rows.example, totals: Rows.exampleTotals)
        return screen
    }

    @Test("both where there is room, the time before the rest", arguments: [(80, 24), (120, 36)])
    func shown(_ columns: Int, _ rows: Int) {
        Pictures.expect(screen(columns, rows).picture, "clock-\(columns)x\(rows)")
    }

    @Test("it goes on by the minute, and wakes nobody who looks elsewhere or at another page")
    func minutes() {
        var screen = screen(80, 24)
        screen.wait(.seconds(61))
        #expect(screen.picture.contains("12:42 |"))
        #expect(screen.model.toNextMinute == .seconds(59))
        screen.send(.input(.focus(false)))
        #expect(screen.model.toNextMinute == nil)
        screen.send(.input(.focus(true)))
        screen.press("?")
        #expect(screen.model.toNextMinute == nil)
    }

    @Test("columns that are asked for by name: where to, priority, limit")
    func columns() {
        var screen = screen(120, 30)
        var sections = Rows.example
        sections[0].rows[1].priority = .background
        sections[0].rows[1].limit = 2 << 20
        screen.news(sections, totals: Rows.exampleTotals)
        screen.press(":", "columns destination priority limit percent state", "Enter")
        Pictures.expect(screen.picture, "columns-extra-120x30")
        #expect(
            screen.model.returning.kept.appearance.choices["columns"]?.value
                == "destination priority limit percent state")
    }

    @Test("columns of when, how often, by what it was compared, and a picture of the last seconds")
    func columnsOfTries() {
        var screen = screen(120, 30)
        screen.press(":", "columns started tries checksum sparkline state", "Enter")
        var sections = Rows.example
        for second in 0..<12 {
            for index in sections[2].rows.indices {
                sections[2].rows[index].startedAt = ScreenHarness.morning.advanced(by: .seconds(-86_400 * Int64(index)))
                sections[2].rows[index].attempts = index + 1
                if sections[2].rows[index].state == .completed { sections[2].rows[index].comparedBy = "sha-256" }
                guard sections[2].rows[index].state == .running else { continue }
                sections[2].rows[index].bytes.sent += 1000
                sections[2].rows[index].bytesPerSecond = Int64(1000 * ((second + index) % 5))
            }
            screen.news(sections, totals: Rows.exampleTotals)
            screen.wait(.seconds(1))
        }
        Pictures.expect(screen.picture, "columns-tries-120x30")
    }

    @Test("a batch says whose it is when there are batches of several sessions, and in a column when that is wished")
    func sessions() {
        var screen = screen(120, 30)
        var sections = Rows.example
        for index in sections[0].rows.indices { sections[0].rows[index].session = SessionName(rawValue: "photos") }
        screen.news(sections, totals: Rows.exampleTotals)
        #expect(!screen.picture.description.contains("(photos)"), "all are of one session")
        sections[0].rows[1].session = nil
        screen.news(sections, totals: Rows.exampleTotals)
        Pictures.expect(screen.picture, "sessions-120x30")
        screen.press(":", "columns session percent state", "Enter")
        Pictures.expect(screen.picture, "column-session-120x30")
    }

    @Test("the page of signs shows each set, and which one is on")
    func glyphs() {
        var screen = screen(80, 24)
        screen.press(":", "glyphs", "Enter")
        Pictures.expect(screen.picture, "glyphs-80x24")
        screen.press("Esc")
        if screen.model.page is TransfersPage {} else { Issue.record("the page is still open") }
    }
}
