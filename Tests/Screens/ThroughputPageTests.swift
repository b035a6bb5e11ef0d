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
}
