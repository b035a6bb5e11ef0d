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

    private func logRequests(_ screen: ScreenHarness) -> [LogRequest] {
        screen.asked(LogRequest.self).map(\.request)
    }

    @Test("the higher lower part asks for them, shows them and follows; the lower one and other pages do not")
    func follows() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        #expect(logRequests(screen) == [])
        screen.press("|")
        let newest = LogRequest(level: .info, isPatient: true)
        #expect(logRequests(screen) == [newest])
        let lines = [line("begun"), line("403 Forbidden on 2 files\u{1B}[2J", .warning), line("retry 2 of 5")]
        screen.answer(LogRequest.self, .success((lines, 9)))
        #expect(logRequests(screen) == [LogRequest(level: .info, after: 9, isPatient: true)])
        Pictures.expect(screen.picture, "lower-log-120x36")
        let second = screen.lastNumber
        screen.press("L")
        screen.answer(LogRequest.self, .success(([line("later")], 10)), number: second)
        #expect(!logRequests(screen).contains { $0.after == 10 })
        screen.press("Esc")
        #expect(logRequests(screen) == [newest])
    }

    @Test("an engine without a log is asked once, and again when another one answers")
    func refused() {
        var screen = ScreenHarness(120, 36, Rows.example, totals: Rows.exampleTotals)
        screen.press("|")
        screen.answer(LogRequest.self, .failure(RequestError(.refused, "no")))
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
