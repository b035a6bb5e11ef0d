import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("The window's title says how far it is")
struct WindowTitleTests {
    private func title(_ change: (inout QueueTotals) -> Void) -> String {
        var totals = Rows.exampleTotals
        change(&totals)
        return ScreenHarness(80, 24, Rows.example, totals: totals).model.windowTitle.string
    }

    @Test("a share, minutes, and how many failed")
    func titles() {
        #expect(title { _ in } == "martlet 32% 10m 1,204 ERR")
        #expect(title { ($0.problems, $0.secondsLeft) = (0, 59) } == "martlet 32% <1m")
        #expect(title { ($0.problems, $0.secondsLeft) = (0, nil) } == "martlet 32%")
        #expect(title { ($0.problems, $0.secondsLeft) = (0, 7800) } == "martlet 32% 2h10m")
        #expect(title { $0 = QueueTotals() } == "martlet")
        #expect(
            title {
                $0 = QueueTotals()
                $0.counts.completed = 3
            } == "martlet done")
    }

    @Test("without an engine nothing is claimed")
    func lost() {
        #expect(ScreenHarness(80, 24).model.windowTitle.string == "martlet")
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        #expect(screen.model.windowTitle.string == "martlet: no engine")
    }
}
