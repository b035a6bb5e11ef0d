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
        (screen.model.settings.ringsBell, screen.model.settings.notifies) = (true, true)
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

    private func screen() -> ScreenHarness {
        var screen = ScreenHarness(
            80, 24, [Rows.section(nil, [Rows.batch(1, "photos", .running, { $0.running = 3 })])])
        screen.model.settings.notifies = true
        return screen
    }

    private func notes(_ screen: ScreenHarness) -> [String] {
        screen.requests.compactMap { if case .notify(let text) = $0 { text.string } else { nil } }
    }

    @Test("a batch that was cancelled is not called done")
    func cancelled() {
        var screen = screen()
        screen.news([
            Rows.section(nil, [Rows.batch(1, "photos", .cancelled, { ($0.completed, $0.cancelled) = (1, 2) })])
        ])
        #expect(notes(screen) == ["photos: cancelled, 1 of 3 files done"])
    }

    @Test("a filter hides no end")
    func filtered() {
        var screen = screen()
        screen.press("f", "@err")
        #expect(screen.requests.contains(.watchBatches(true)) || screen.model.observed.endings.watches)
        screen.wait(.seconds(60))
        screen.send(.batches([Rows.batch(1, "photos", .completed, { $0.completed = 3 })]))
        #expect(notes(screen) == ["photos: done, 3 files"])
        screen.press("Esc")
        #expect(screen.requests.contains(.watchBatches(false)))
    }

    @Test("where the terminal says nothing of the focus, a key pressed a moment ago says that somebody looks")
    func unknownFocus() {
        var screen = screen()
        screen.press("j")
        screen.wait(.seconds(3))
        screen.news([Rows.section(nil, [Rows.batch(1, "photos", .completed, { $0.completed = 3 })])])
        #expect(notes(screen) == [])
    }

    @Test("the bell that is switched on asks for the focus")
    func bell() {
        var screen = screen()
        screen.model.settings.notifies = false
        #expect(!screen.model.tellsEnds)
        screen.press(":", "bell on", "Enter")
        #expect(screen.model.tellsEnds)
    }
}
