import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Rows are sorted by a menu, a letter or a click, and never under the fingers")
struct SortingTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    private func asked(_ screen: ScreenHarness) -> Set<TreeOrder?>? {
        screen.requests.compactMap { request -> Set<TreeOrder?>? in
            if case .show(let sections, _, _) = request { Set(sections.map(\.order)) } else { nil }
        }.first
    }

    /// Batches in this order, as the engine would send them.
    private func root(_ ids: [Int64], _ order: TreeOrder? = nil) -> TreeSection {
        var section = Rows.section(nil, ids.map { Rows.batch($0, "b\($0)", .running, { $0.running = 1 }) })
        section.order = order
        return section
    }

    private func names(_ screen: ScreenHarness) -> [String] { screen.model.tree.items.compactMap(\.row?.name) }

    @Test("s opens a menu beside the rows, a letter chooses, S turns it round, and the titles say so")
    func menu() {
        var screen = example()
        screen.press("s")
        Pictures.expect(screen.picture, "sort-menu-80x24")
        screen.press("s")
        #expect(asked(screen) == [TreeOrder(.size)])
        #expect(screen.lines[2].contains(" Sizev "))
        #expect(screen.model.notice?.text.string == "Sorted by size, the largest first.")
        Pictures.expect(screen.picture, "sorted-80x24")
        screen.press("S")
        #expect(asked(screen) == [TreeOrder(.size, reversed: true)])
        #expect(screen.lines[2].contains(" Size^ "))
        screen.press("s", "Enter")
        #expect(screen.model.tree.order == TreeOrder(.size, reversed: true), "what is chosen stays")
        screen.press("s", "o")
        #expect(asked(screen) == [nil])
        screen.press("s", "Esc")
        #expect(screen.model.tree.order == TreeOrder())
        screen = example(40, 8)
        screen.press("s")
        Pictures.expect(screen.picture, "sort-menu-40x8")
    }

    @Test("a click on a title sorts by it, the next one turns it round, the third gives the queue's order back")
    func click() throws {
        var screen = example(120, 36)
        let column = try #require(screen.model.columns[.speed]).lowerBound
        func click() { screen.send(.input(.mouse(MousePress(.left, at: Position(row: 2, column: column))))) }
        click()
        #expect(asked(screen) == [TreeOrder(.speed)])
        click()
        #expect(screen.model.tree.order == TreeOrder(.speed, reversed: true))
        click()
        #expect(screen.model.tree.order == TreeOrder())
        screen.send(.input(.mouse(MousePress(.left, at: Position(row: 2, column: 0)))))
        #expect(screen.model.tree.order == TreeOrder())
        let plain: [Columns.Column] = [.sign, .destination, .started, .tries, .checksum, .priority, .limit, .session]
        for column in Columns.Column.allCases { #expect((column.order == nil) == plain.contains(column), "\(column)") }
    }

    @Test("rows keep their places while keys are pressed, new ones take theirs, and all do when the keys rest")
    func steady() {
        var screen = ScreenHarness(80, 24, [root([1, 2, 3])])
        screen.wait(.seconds(5))
        screen.press("j")
        screen.news([root([3, 9, 2, 1])])
        #expect(names(screen) == ["b1", "b9", "b2", "b3"])
        #expect(screen.cursorName == "b2")
        screen.wait(.milliseconds(700))
        #expect(names(screen) == ["b1", "b9", "b2", "b3"])
        #expect(screen.model.nextWake == .milliseconds(800))
        screen.wait(.milliseconds(800))
        #expect(names(screen) == ["b3", "b9", "b2", "b1"])
        #expect(screen.cursorName == "b2")
        #expect(!screen.model.tree.isBehind)
        screen.news([root([1, 2, 3, 9])])
        #expect(names(screen) == ["b1", "b2", "b3", "b9"], "nobody presses keys")
    }

    @Test("what a person moves or sorts moves at once")
    func atOnce() {
        var screen = ScreenHarness(80, 24, [root([1, 2, 3])])
        screen.wait(.seconds(5))
        screen.press("j", "[")
        screen.news([root([2, 1, 3])])
        #expect(names(screen) == ["b2", "b1", "b3"])
        screen.press("j")
        screen.news([root([3, 2, 1])])
        #expect(names(screen) == ["b2", "b1", "b3"])
        screen.press("s", "n")
        #expect(names(screen) == ["b3", "b2", "b1"], "as the engine had it, until it has sorted")
        screen.press("j")
        screen.news([root([1, 2, 3], TreeOrder(.name))])
        #expect(names(screen) == ["b1", "b2", "b3"], "another order is no move under the fingers")
    }

    @Test("the order holds through a filter and back")
    func filtered() {
        var screen = example()
        screen.press("s", "n", "f", "err")
        #expect(asked(screen) == [TreeOrder(.name)])
        var update = ViewUpdate()
        var section = Rows.section(nil, [Rows.batch(3, "docs", .running, { $0.failed = 1 })])
        section.order = TreeOrder(.name)
        update.sections = [section]
        update.filter = FilterCount(text: "err", matched: 1, total: 9, complete: true)
        screen.send(.update(update))
        #expect(screen.model.tree.order == TreeOrder(.name))
        screen.press("Enter", "S", "Esc", "Esc")
        #expect(screen.model.tree.order == TreeOrder(.name, reversed: true))
    }

    @Test("every order has a letter of its own and its words")
    func words() {
        let keys = TreeOrder.Key.allCases
        #expect(Set(keys.map(\.letter)).count == keys.count)
        #expect(
            Set(keys.flatMap { [TreeOrder($0).words, TreeOrder($0, reversed: true).words] }).count == 2 * keys.count)
    }
}
