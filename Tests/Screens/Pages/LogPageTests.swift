import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The log: words, levels, following")
struct LogPageTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    @Test("words narrow the log, v changes its level, Esc gives all back before it leaves")
    func log() {
        var screen = example()
        screen.press("L")
        let lines = ["was queued", "the server answered 403", "403 again"].enumerated().map { index, message in
            LogLine(
                at: ScreenHarness.morning.advanced(by: .seconds(index)), level: index == 0 ? .info : .error,
                batch: BatchID(rawValue: 3), task: nil, message: message)
        }
        screen.answer(LogRequest.self, .success((lines, 3)))
        screen.press("/", "403")
        Pictures.expect(screen.picture, "log-find-80x24")
        screen.press("Enter", "Esc")
        if let log = screen.model.page as? LogPage { #expect(log.find.isEmpty) } else { Issue.record("left the log") }
        screen.press("v", "v")
        #expect(screen.asked(LogRequest.self).map(\.request) == [LogRequest(level: .warning)])
        screen.press("Esc")
        if screen.model.page is TransfersPage {} else { Issue.record("still in the log") }
    }

    @Test("the log goes on when the engine is back, and shows no line twice")
    func logIsBack() throws {
        func line(_ message: String) -> LogLine {
            LogLine(at: ScreenHarness.morning, level: .info, batch: nil, task: nil, message: message)
        }
        var screen = example()
        screen.press("L")
        screen.answer(LogRequest.self, .success(([line("was queued")], 1)))
        let before = screen.lastNumber
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.connect()
        let number = try #require(screen.asked(LogRequest.self).first?.number)
        screen.answer(LogRequest.self, .failure(RequestError(.engineUnreachable, "the line broke")), number: before)
        #expect(!screen.picture.contains("the line broke"))
        screen.answer(LogRequest.self, .success(([line("was queued"), line("has begun")], 2)), number: number)
        #expect(screen.lines.filter { $0.contains("was queued") }.count == 1)
        #expect(screen.lines.contains { $0.contains("has begun") })
    }

    @Test("a waiting read that another one has ended asks for nothing more")
    func ended() throws {
        var screen = example()
        screen.press("L")
        screen.answer(LogRequest.self, .success(([], 1)))
        let before = screen.lastNumber
        #expect(screen.asked(LogRequest.self).map(\.request.after) == [1])
        screen.press("v")
        screen.answer(LogRequest.self, .success(([], 1)))
        #expect(screen.asked(LogRequest.self).map(\.request.after) == [1])
        screen.answer(LogRequest.self, .success(([], 1)), number: before)
        #expect(screen.asked(LogRequest.self).isEmpty && screen.model.requests.outstanding[before] == nil)
    }

    @Test("who reads old lines of the log goes on seeing them, also when the oldest have gone")
    func oldLines() {
        func lines(_ numbers: Range<Int>) -> [LogLine] {
            numbers.map { number in
                LogLine(
                    at: ScreenHarness.morning.advanced(by: .seconds(Int64(number))), level: .info, batch: nil,
                    task: nil,
                    message: "line \(number)")
            }
        }
        var log = LogPage()
        log.add(lines(0..<LogPage.most))
        log.scroll(.pageUp, height: 20)
        let seen = log.window(20).map(\.message)
        log.add(lines(LogPage.most..<(LogPage.most + 3)))
        #expect(log.window(20).map(\.message) == seen)
    }
}
