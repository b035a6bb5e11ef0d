import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The mouse answers questions, and forgives a hand that moves")
struct PointingTests {
    private func click(_ screen: inout ScreenHarness, _ row: Int, _ column: Int) {
        screen.send(.input(.mouse(MousePress(.left, at: Position(row: row, column: column)))))
    }

    /// Where a text stands.
    private func place(_ screen: ScreenHarness, _ text: String) throws -> (row: Int, column: Int) {
        let row = try #require(screen.lines.firstIndex { $0.contains(text) })
        let line = screen.lines[row]
        let start = try #require(line.firstRange(of: text)?.lowerBound)
        return (row, line.distance(from: line.startIndex, to: start))
    }

    @Test("one click chooses a line of a question, a second one takes it; none counts while it is new")
    func question() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("x")
        let stop = try place(screen, "Stop, keep")
        click(&screen, stop.row, stop.column)
        click(&screen, stop.row, stop.column)
        #expect(screen.model.dialog != nil && screen.requests.isEmpty, "it has just appeared")
        screen.wait(.seconds(1))
        click(&screen, stop.row, stop.column)
        #expect(screen.model.dialog?.selected == 0 && screen.requests.isEmpty)
        click(&screen, 0, stop.column)
        #expect(screen.model.dialog?.selected == 0, "outside its lines it means nothing")
        click(&screen, stop.row, stop.column + 3)
        #expect(screen.model.dialog == nil)
        let cancels = screen.requests.contains { if case .act(.cancel, _, _) = $0 { true } else { false } }
        #expect(cancels)
    }

    @Test("a double click may be a cell apart")
    func doubleClick() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        click(&screen, 5, 14)
        click(&screen, 5, 15)
        let isShown = if case .details = screen.model.page { true } else { false }
        #expect(isShown, "\(screen.picture)")
    }
}
