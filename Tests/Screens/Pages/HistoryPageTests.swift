import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("History, the log's words and levels, leaving with choices")
struct HistoryPageTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    private func batch(_ id: Int64, _ name: String, _ state: TransferState, after seconds: Int64, failed: Int64 = 0)
        -> BatchSnapshot
    {
        let causes =
            failed > 0
            ? [
                CauseCount(
                    code: .http, count: failed, finding: Finding("the server answered 403", .step("ask who runs it")))
            ] : []
        return Rows.snapshot(
            id, name, state, { ($0.completed, $0.failed) = (1100, failed) },
            finished: ScreenHarness.morning.advanced(by: .seconds(seconds)),
            bytes: ByteCounts(total: 12 << 30, sent: 12 << 30, accepted: 12 << 30, verified: 0), causes: causes)
    }

    @Test("an empty list says what was finished today, and asks once")
    func today() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])], totals: QueueTotals())
        #expect(screen.model.requests.outstanding.values.map(\.request) == [.batches(number: 1)])
        let yesterday = batch(9, "old", .completed, after: -86_400)
        let all = [
            batch(1, "holiday", .completed, after: 0), batch(7, "scans", .failed, after: 60, failed: 4), yesterday,
        ]
        screen.send(.answer(.batches(.success(all), number: 1)))
        #expect(screen.picture.contains("Finished today: 2 batches, 2,200 files, 24.0G"))
        screen.wait(.seconds(60))
        #expect(screen.model.requests.outstanding.isEmpty)
        // Of another day it is asked anew.
        screen.wait(.seconds(86_400))
        #expect(screen.model.requests.outstanding.values.map(\.request) == [.batches(number: screen.lastNumber)])
        screen.send(.answer(.batches(.success(all), number: screen.lastNumber)))
        #expect(!screen.picture.contains("Finished today"))
        // What came and ended stands in the list; cleared, it is asked for again.
        screen.news([Rows.section(nil, [Rows.batch(1, "new", .completed, { $0.completed = 1 })])])
        screen.news([Rows.section(nil, [])], totals: QueueTotals())
        screen.send(.answer(.batches(.success([yesterday]), number: screen.lastNumber)))
        #expect(!screen.picture.contains("Finished today"))
    }

    @Test("finished work, the last first; from there to its row, or to try again")
    func history() {
        var screen = example()
        screen.press("H")
        #expect(screen.requests.contains(.batches(number: screen.lastNumber)))
        let batches = [
            batch(1, "holiday-2024", .running, after: 0), batch(7, "old-scans", .completed, after: 60),
            batch(3, "docs", .failed, after: 7200, failed: 4),
        ]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "history-80x24")
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        Pictures.expect(screen.picture, "history-40x8")
        screen.press("j", "r")
        #expect(screen.model.notice?.text.string.contains("nothing to try again") == true)
        screen.press("k", "Enter")
        #expect(screen.cursorName == "docs")
        screen.press("6")
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "history-empty-40x8")
    }

    @Test("opened while the engine is away it says so, and asks when the engine is back", arguments: ["H", "e"])
    func lost(key: String) {
        var screen = example()
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.press(key)
        #expect(screen.picture.contains("The engine does not answer: nobody knows now."))
        screen.connect()
        let asked = screen.requests.contains { if case .batches = $0 { true } else { false } }
        #expect(asked && screen.picture.contains("Asking the engine ..."))
    }

    @Test("an error is shown until the engine gives a good answer")
    func mended() {
        var screen = example()
        let error = RequestError(.internal, "the disk is full")
        func change(_ number: Int64) {
            var totals = Rows.exampleTotals
            (totals.counts.completed, totals.problems) = (number, number)
            screen.news([], totals: totals)
        }
        screen.press("H")
        screen.send(.answer(.batches(.failure(error), number: screen.lastNumber)))
        #expect(screen.picture.contains("the disk is full"))
        change(1)
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("No batch has finished yet."))
        screen.press("3")
        screen.send(.answer(.batches(.failure(error), number: screen.lastNumber)))
        #expect(screen.picture.contains("the disk is full"))
        change(2)
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("Nothing has failed, and nothing needs you."))
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
        screen.answer(LogQuestion.self, .success((lines, 3)))
        screen.press("/", "403")
        Pictures.expect(screen.picture, "log-find-80x24")
        screen.press("Enter", "Esc")
        if let log = screen.model.page as? LogPage { #expect(log.find.isEmpty) } else { Issue.record("left the log") }
        screen.press("v", "v")
        #expect(screen.asked(LogQuestion.self).map(\.question) == [LogQuestion(level: .warning)])
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
        screen.answer(LogQuestion.self, .success(([line("was queued")], 1)))
        let before = screen.lastNumber
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.connect()
        let number = try #require(screen.asked(LogQuestion.self).first?.number)
        screen.answer(LogQuestion.self, .failure(RequestError(.engineUnreachable, "the line broke")), number: before)
        #expect(!screen.picture.contains("the line broke"))
        screen.answer(LogQuestion.self, .success(([line("was queued"), line("has begun")], 2)), number: number)
        #expect(screen.lines.filter { $0.contains("was queued") }.count == 1)
        #expect(screen.lines.contains { $0.contains("has begun") })
    }

    @Test("a task's story is asked for when the engine is back")
    func detailsAreBack() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [Rows.task(1, 10, "a.mov", .completed)])])
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        func asks() -> Bool { !screen.asked(StoryQuestion.self).isEmpty }
        screen.press("i")
        #expect(!asks())
        screen.connect()
        #expect(asks())
    }

    @Test("Q says what goes on; Enter only leaves")
    func leaving() {
        var screen = example()
        screen.press("Q")
        Pictures.expect(screen.picture, "leave-80x24")
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.requests == [.leave])
        var other = example()
        other.press("Q")
        other.wait(.seconds(1))
        other.press("f")
        #expect(other.requests == [.stopEngine(finishRunning: true)])
        #expect(
            LeavingText.lines(other.model).first
                == "The engine ends when 4 running files are through. What is queued stays.")
        var third = example()
        third.press("Q")
        third.wait(.seconds(1))
        third.press("Esc")
        #expect(third.requests.isEmpty)
        third.press("q")
        #expect(third.requests == [.leave])
    }

    @Test("one retry for all files of a cause, wherever they are")
    func causes() {
        var screen = example()
        screen.press("e")
        screen.send(
            .answer(
                .batches(
                    .success([
                        batch(3, "docs", .failed, after: 9, failed: 4), batch(4, "b", .failed, after: 9, failed: 1),
                    ]), number: screen.lastNumber)))
        screen.press("r")
        let selectors = screen.requests.compactMap { request -> NodeSelector? in
            if case .act(.retry, .matching(let selector), _) = request { selector } else { nil }
        }
        #expect(selectors == [NodeSelector(filter: "@err err=http")])
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
