import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The page of the throughput")
struct ThroughputPageTests {
    private func screen(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
        for speed in [12, 18, 40, 41, 38, 60, 55, 20, 0, 40] as [Int64] {
            var totals = Rows.exampleTotals
            totals.bytesPerSecondUp = speed * Rows.mega
            screen.wait(.seconds(15))
            screen.news(Rows.example, totals: totals)
        }
        screen.press("b")
        return screen
    }

    @Test(
        "a picture, the numbers beside it, and who has what; small windows keep the numbers",
        arguments: [(80, 24), (120, 36), (40, 10), (20, 2)])
    func pictures(columns: Int, rows: Int) {
        Pictures.expect(screen(columns, rows).picture, "throughput-\(columns)x\(rows)")
    }

    @Test("a message stands over the page, not under it")
    func message() {
        var screen = screen(80, 24)
        screen.model.say("Limits: up off, down 300K/s, 8 at once.")
        let line = screen.lines.first { $0.contains("300K/s") }
        #expect(line?.trimmed == "Limits: up off, down 300K/s, 8 at once.")
    }

    @Test("at every size, and with nothing to show")
    func sizes() {
        for (columns, rows) in [(1, 1), (3, 3), (11, 5), (25, 8), (60, 12), (300, 80)] {
            var screen = screen(columns, rows)
            #expect(screen.lines.allSatisfy { !$0.isEmpty })
            screen.press("Esc")
            guard case .transfers = screen.model.page else { return #expect(Bool(false), "still on the page") }
        }
        var empty = ScreenHarness(80, 24, [Rows.section(nil, [])])
        empty.press("2")
        #expect(empty.picture.contains("Limit: off"))
    }

    /// What the engine has kept of an hour and more, however short this screen is open.
    private func told(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = screen(columns, rows)
        let minutes = (0..<60).map { Int64($0 % 20) * Rows.mega }
        let series = [
            SpeedSeries(seconds: 5, up: minutes, down: Array(repeating: 0, count: 60)),
            SpeedSeries(seconds: 60, up: Array(minutes.suffix(30)), down: Array(repeating: Rows.mega, count: 30)),
            SpeedSeries(seconds: 600, up: [20 * Rows.mega, 3], down: [0, 0]),
        ]
        screen.send(.answer(.throughput(.success(series), number: screen.lastNumber)))
        return screen
    }

    @Test("the engine is asked when the page opens, and again while something moves, but not all the time")
    func asking() {
        var screen = screen(80, 24)
        func isAsked(_ screen: ScreenHarness) -> Bool {
            screen.requests.contains { if case .throughput = $0 { true } else { false } }
        }
        #expect(isAsked(screen))
        screen.send(.answer(.throughput(.success([]), number: screen.lastNumber)))
        screen.news(Rows.example, totals: Rows.exampleTotals)
        #expect(!isAsked(screen))
        screen.wait(.seconds(3))
        #expect(!isAsked(screen), "nothing has moved")
        screen.news(Rows.example, totals: Rows.exampleTotals)
        #expect(isAsked(screen))
    }

    @Test("l and h change the time, the arrows read a point of it, Esc stops reading and then leaves")
    func reading() {
        var screen = told(80, 24)
        Pictures.expect(screen.picture, "throughput-told-80x24")
        screen.press("l")
        #expect(screen.picture.contains("5m  [1h]  24h") && screen.picture.contains("avg 1h"))
        screen.press("Left", "Left", "Left")
        Pictures.expect(screen.picture, "throughput-hour-80x24")
        #expect(screen.picture.contains("12:41:30, 1 min: up 17.0M/s, down 1.0M/s"))
        screen.press("Right", "Right", "Right")
        #expect(screen.model.throughputView.point == nil)
        screen.press("Left", "l")
        #expect(screen.model.throughputView.point == nil && screen.picture.contains("[24h]"))
        screen.press("l", "h", "h", "h", "h", "Left", "Esc")
        guard case .throughput = screen.model.page else { return #expect(Bool(false), "the page is gone") }
        #expect(screen.picture.contains("[5m]"))
        screen.press("Esc")
        guard case .transfers = screen.model.page else { return #expect(Bool(false), "still on the page") }
    }

    @Test("time that has passed since the engine told moves the picture, and what is not known counts for no average")
    func passing() {
        var view = ThroughputView()
        #expect(view.steps(at: .zero).isEmpty && view.average(at: .zero) == 0)
        view.take([SpeedSeries(seconds: 5, up: [4, 8], down: [0, 4])], at: .seconds(10))
        #expect(view.average(at: .seconds(10)) == 8)
        #expect(view.steps(at: .seconds(21)).map(\.up) == [4, 8, 0, 0])
        #expect(view.steps(at: .seconds(10_000)).count == 60)
        view.movePoint(by: 1, at: .seconds(10))
        #expect(view.point == 0)
        for _ in 0..<9 { view.movePoint(by: 1, at: .seconds(10)) }
        #expect(view.point == 1)
    }
}
