import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The log's last lines stand below the list where there is room, and nothing printed is lost")
struct RecentLogTests {
    private func line(_ text: String, _ level: LogLevel = .info) -> LogLine {
        LogLine(
            at: ScreenHarness.morning, level: level, batch: BatchID(rawValue: 3), task: nil, message: text)
    }

    private func logRequests(_ screen: ScreenHarness) -> [Request] {
        screen.requests.filter { if case .log = $0 { true } else { false } }
    }

    @Test("the higher lower part asks for them, shows them and follows; the lower one and other pages do not")
    func follows() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        #expect(logRequests(screen) == [])
        screen.press("|")
        let first = screen.lastNumber
        #expect(logRequests(screen) == [.log(.info, after: nil, number: first)])
        screen.send(
            .answer(
                .log(
                    [line("begun"), line("403 Forbidden on 2 files\u{1B}[2J", .warning), line("retry 2 of 5")], next: 9,
                    number: first)))
        #expect(logRequests(screen) == [.log(.info, after: 9, number: screen.lastNumber)])
        Pictures.expect(screen.picture, "lower-log-120x36")
        let second = screen.lastNumber
        screen.press("L")
        screen.send(.answer(.log([line("later")], next: 10, number: second)))
        #expect(!logRequests(screen).contains(.log(.info, after: 10, number: screen.lastNumber)))
        screen.press("Esc")
        #expect(logRequests(screen) == [.log(.info, after: nil, number: screen.lastNumber)])
    }

    @Test("an engine without a log is asked once, and again when another one answers")
    func refused() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        screen.press("|")
        screen.send(.answer(.noLog(RequestError(.refused, "no"), number: screen.lastNumber)))
        #expect(logRequests(screen) == [])
        screen.press("j")
        #expect(logRequests(screen) == [])
        screen.connect()
        #expect(logRequests(screen).count == 1)
    }

    @Test("what a library prints stands in the log, harmless, also while it is open")
    func printed() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.send(.printed([Array("libcurl: \u{1B}[2J".utf8)]))
        screen.press("L")
        screen.send(.printed([Array("again".utf8)]))
        #expect(screen.picture.contains("WARN  screen: printed: libcurl: \\x1b[2J"))
        #expect(screen.picture.contains("WARN  screen: printed: again"))
        #expect(screen.model.notice == nil)
    }
}
