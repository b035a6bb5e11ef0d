import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Filtering: every change that can be read counts at once, Esc takes it all back")
struct FilterLineTests {
    private func example() -> ScreenHarness { ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals) }

    /// What the engine was asked for last.
    private func wanted(_ screen: ScreenHarness) -> String? {
        for case .show(_, _, let filter) in screen.requests { return filter }
        return nil
    }

    private func found(
        _ screen: inout ScreenHarness, _ text: String, _ sections: [TreeSection], matched: Int64, complete: Bool = true
    ) {
        var update = ViewUpdate()
        update.sections = sections
        update.filter = FilterCount(text: text, matched: matched, total: 12_406, complete: complete)
        screen.send(.update(update))
    }

    private var errors: [TreeSection] {
        let all = Rows.example
        let contracts = all[3].rows[0]
        return [
            Rows.section(nil, [all[0].rows[2]]), Rows.section(.batch(BatchID(rawValue: 3)), [contracts]),
            Rows.section(contracts.id, Array(all[4].rows.prefix(2)), total: 1204),
        ]
    }

    @Test("typed letter by letter, found, kept, gone through, marked, cleared")
    func life() {
        var screen = example()
        screen.press("j", "j", "j", "f")
        Pictures.expect(screen.picture, "filter-empty-80x24")
        screen.press("@")
        #expect(wanted(screen) == nil)
        #expect(screen.model.filters.shown == nil)
        screen.press("err")
        #expect(wanted(screen) == "@err")
        found(&screen, "@err", [], matched: 0, complete: false)
        // Nothing found so far is no reason to take the rows away.
        #expect(screen.cursorName == "IMG_0412.CR3" || screen.model.tree.items.count > 5)
        found(&screen, "@err", errors, matched: 1204)
        Pictures.expect(screen.picture, "filter-typed-80x24")
        screen.press("Enter")
        Pictures.expect(screen.picture, "filter-kept-80x24")
        screen.press("g", "n")
        #expect(screen.cursorName == "NDA signed (final).pdf")
        screen.press("n")
        #expect(screen.cursorName == "Invoice 2024-0007.pdf")
        screen.press("N", "M")
        #expect(screen.model.tree.marks.count == 2)
        #expect(screen.lines.contains { $0.contains("1,204 marked: all that match") })
        screen.press("x")
        Pictures.expect(screen.picture, "filter-cancel-80x24")
        screen.wait(.seconds(1))
        screen.press("x")
        let isWhole = screen.requests.contains {
            if case .act(.cancel, .matching(NodeSelector(filter: "@err")), _) = $0 { true } else { false }
        }
        #expect(isWhole)
        screen.answerDone()
        #expect(screen.model.tree.marks.isEmpty)
        screen.press("U", "Esc", "Esc", "Esc")
        screen.news(Rows.example, totals: Rows.exampleTotals)
        screen.press("g")
        var undisturbed = example()
        undisturbed.wait(.seconds(1))
        #expect(screen.picture == undisturbed.picture)
    }

    @Test("what cannot be read is said where it is typed, and the filter before it goes on")
    func fault() {
        var screen = example()
        screen.press("f", "size>1G", "Enter")
        found(&screen, "size>1G", [], matched: 0)
        Pictures.expect(screen.picture, "filter-nothing-80x24")
        screen.press("f", "Space", "done>")
        #expect(screen.model.filters.shown?.text == "size>1G done")
        Pictures.expect(screen.picture, "filter-fault-80x24")
        screen.press("Enter")
        #expect(screen.model.filters.shown?.text == "size>1G")
        #expect(screen.model.notice?.isError == true)
        screen.send(.resized(ScreenSize(columns: 30, rows: 6)))
        screen.press("f", "Space", "done>")
        Pictures.expect(screen.picture, "filter-fault-30x6")
    }

    @Test("an update of another filter changes no row")
    func late() {
        var screen = example()
        let rows = screen.model.tree.items
        screen.press("f", "@err")
        screen.news([Rows.section(nil, [])], totals: Rows.exampleTotals)
        #expect(screen.model.tree.items == rows)
        found(&screen, "@er", [Rows.section(nil, [])], matched: 0)
        #expect(screen.model.tree.items == rows)
        screen.press("Esc")
        found(&screen, "@err", errors, matched: 1204)
        #expect(screen.model.tree.items == rows)
        screen.press("f", "Up")
        #expect(screen.model.filters.shown?.text == "@err")
    }

    @Test("what was marked before stays marked, in the filter and after it")
    func marks() {
        var screen = example()
        screen.press("Space", "f", "@err", "Enter")
        found(&screen, "@err", errors, matched: 1204)
        screen.press("G", "Space", "Esc", "Esc")
        #expect(screen.model.tree.marks.count >= 1)
        #expect(screen.model.tree.marks[.batch(BatchID(rawValue: 1))] != nil)
    }
}
