import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Who looks elsewhere is told when a batch ends")
struct EndingTests {
    private func ended(_ focus: Bool?, failed: Int64 = 0) -> [Request] {
        var screen = ScreenHarness(
            80, 24, [Rows.section(nil, [Rows.batch(1, "evil\u{1b}]0;x", .running, { $0.running = 3 })])])
        (screen.model.ringsBell, screen.model.notifies) = (true, true)
        if let focus { screen.send(.input(.focus(focus))) }
        let over = Rows.batch(
            1, "evil\u{1b}]0;x", failed > 0 ? .failed : .completed, { ($0.completed, $0.failed) = (3 - failed, failed) }
        )
        screen.news([Rows.section(nil, [over])])
        let first = screen.requests
        screen.news([Rows.section(nil, [over])])
        return first.filter { if case .show = $0 { false } else { true } } + screen.requests.filter { $0 == .bell }
    }

    @Test("once, without the focus or when nothing is known of it, and never with raw text")
    func ends() {
        let name = SafeText("evil\u{1b}]0;x")
        #expect(ended(false) == [.bell, .notify(name + ": done, 3 files")])
        #expect(ended(nil, failed: 1) == [.bell, .notify(name + ": 1 of 3 files failed")])
        #expect(ended(true) == [])
        #expect(!name.string.unicodeScalars.contains("\u{1b}"))
    }
}
