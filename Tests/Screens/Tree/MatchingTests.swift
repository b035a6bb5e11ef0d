import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("All that match a filter means all of them, not the rows that this screen holds")
struct MatchingTests {
    /// 1,204 files match, three rows of them are here, all are marked.
    private func marked() -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("f", "@err", "Enter")
        let all = Rows.example
        var update = ViewUpdate()
        update.sections = [
            Rows.section(nil, [all[0].rows[2]]), Rows.section(.batch(BatchID(rawValue: 3)), [all[3].rows[0]]),
            Rows.section(all[3].rows[0].id, Array(all[4].rows.prefix(2)), total: 1204),
        ]
        update.filter = FilterCount(text: "@err", matched: 1204, total: 12_406, complete: true)
        screen.send(.update(update))
        screen.press("M")
        return screen
    }

    private func deeds(_ screen: ScreenHarness) -> [Request] {
        screen.requests.filter { if case .act = $0 { true } else { false } }
    }

    private func isForAll(_ screen: ScreenHarness, _ deed: NodeDeed) -> Bool {
        deeds(screen).contains {
            if case .act(deed, .matching(NodeSelector(filter: "@err")), _) = $0 { true } else { false }
        }
    }

    @Test("moving them at once is refused by name, by key and by command", arguments: ["[", "]"])
    func moving(key: String) {
        var screen = marked()
        screen.press(key)
        #expect(deeds(screen) == [])
        #expect(screen.model.notice?.text.string.hasPrefix("All that match cannot be moved at once") == true)
        screen.press(":", "move top", "Enter")
        #expect(deeds(screen) == [])
        #expect(screen.model.notice?.isError == true)
    }

    @Test("the limit typed into the form is for the filter")
    func limit() {
        var screen = marked()
        screen.openLimits()
        #expect(screen.model.form?.lines.last?.label.string == "1,204 files that match @err")
        screen.press("2M", "Enter")
        #expect(isForAll(screen, .set(NodeSettings(limit: 2 << 20))))
    }

    @Test("so are priorities, from the menu and by command, and commands without a name")
    func priority() {
        var screen = marked()
        screen.press("o")
        #expect(screen.picture.contains("Order of 1,204 files that match @err"))
        screen.press("n")
        #expect(isForAll(screen, .runNow))
        screen.answerDone()
        screen = marked()
        screen.press(":", "set priority high", "Enter")
        #expect(screen.model.dialog?.title.string == "Change 1,204 files that match @err?")
        screen.wait(.seconds(1))
        screen.press("y")
        #expect(isForAll(screen, .set(NodeSettings(priority: .high))))
        screen = marked()
        screen.press(":", "pause", "Space", "Enter")
        #expect(screen.model.dialog?.title.string == "Pause 1,204 files that match @err?")
    }

    @Test("a question about a filter that is not on says how many files as soon as they are counted")
    func counted() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press(":", "cancel size>1G", "Enter")
        #expect(screen.model.dialog?.title.string == "Cancel all files that match size>1G?")
        #expect(screen.requests.contains(.count(["size>1G"])))
        screen.send(.counted(FilterCount(text: "size>1G", matched: 12, total: 12_406, complete: false)))
        #expect(screen.model.dialog?.title.string == "Cancel 12+ files that match size>1G?")
        screen.send(.counted(FilterCount(text: "size>1G", matched: 1, total: 12_406, complete: true)))
        #expect(screen.model.dialog?.title.string == "Cancel 1 file that match size>1G?")
        screen.press("Esc")
        screen.wait(.seconds(1))
        screen.press("Esc")
        #expect(screen.requests.contains(.count([])))
        screen.press(":", "retry *", "Enter")
        #expect(screen.model.dialog?.title.string == "Retry everything (1,204 files)?")
    }

    @Test("a pause for a time, or until one, is never taken for a filter")
    func time() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        let end = ScreenHarness.morning.advanced(by: .seconds(7200))
        screen.press(":", "pause for 2h", "Enter")
        #expect(
            screen.requests.contains {
                if case .act(.pauseUntil(end), .rows([.batch(BatchID(rawValue: 1))]), _) = $0 { true } else { false }
            })
        screen.answerDone()
        #expect(screen.model.notice?.text.string == "Paused \"holiday-2024\" until 14:41:00.")
        screen.press(":", "pause b2 until +2h", "Enter")
        #expect(
            screen.requests.contains {
                if case .act(.pauseUntil(end), .ids([.batch(BatchID(rawValue: 2))]), _) = $0 { true } else { false }
            })
        screen.press(":", "pause b1 until 2026-11-21T12:00Z", "Enter")
        #expect(screen.model.notice?.text.string == "12:00:00 is over already: give a time that is to come.")
        // A name may have these words in it.
        screen.press(":", "pause waiting for", "Enter")
        #expect(screen.model.dialog?.title.string.contains("waiting for") == true)
    }
}
