import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Help begins with the view it is opened from, is searched, and runs what it shows")
struct HelpTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    private func help(_ screen: ScreenHarness) -> HelpPage? {
        if let help = screen.model.page as? HelpPage { help } else { nil }
    }

    @Test(
        "the keys of the page come first, and the page comes back",
        arguments: [("L", Action.level), ("e", Action.retry)])
    func view(key: String, action: Action) throws {
        var screen = example()
        screen.press(key)
        let before = screen.picture
        screen.press("?")
        #expect(screen.lines[0].contains("Help: "))
        let page = try #require(help(screen))
        let entries = screen.model.helpLayout(page).entries
        #expect(entries.first?.view == page.view)
        #expect(entries.prefix { $0.view == page.view }.contains { $0.action == action })
        screen.press("Esc")
        #expect(screen.picture == before)
    }

    @Test("no action's words are cut in the columns of 80 cells")
    func wholeWords() {
        for view in KeyMap.View.allCases {
            #expect(Action.allCases.map { $0.summary(in: view) }.filter { $0.count > 24 } == [])
        }
    }

    @Test(
        "j and k are told by what they move on the page that help is opened from",
        arguments: [
            ("b", "next batch", "previous batch, or all"), ("i", "next file of the batch", "its previous file"),
            ("L", "next row", "previous row"),
        ])
    func moved(key: String, next: String, previous: String) throws {
        var screen = example()
        screen.press(key, "?")
        let row = try #require(
            screen.lines.firstIndex { $0.hasPrefix("   j Down      \(next)  ") }, "\(screen.picture)")
        #expect(screen.lines[row + 1].hasPrefix("   k Up        \(previous)  "), "\(screen.picture)")
    }

    @Test(
        "what a page alone does is in sight at once", arguments: KeyMap.View.pages.compactMap { $0.openingKeys.first })
    func own(key: String) {
        var screen = example()
        screen.press(key)
        let view = screen.model.keyView
        let own = KeyMap.standard.actions(in: view).filter { $0.part == .own }
        screen.press("?")
        #expect(own.isEmpty || screen.lines[1].hasPrefix(" On this page"))
        for action in own { #expect(screen.picture.contains(action.summary(in: view)), "\(screen.picture)") }
    }

    @Test("in a small window a message leaves the way to help where there is room for it")
    func smallMessage() {
        var screen = example(40, 10)
        screen.press("^R")
        #expect(screen.lines.last == "Nothing was undone here." + String(repeating: " ", count: 10) + "? help")
    }

    @Test("the picker has its own keys, and is there again afterwards")
    func picker() {
        var screen = Adding.screen(80, 24)
        let before = screen.picture
        screen.press("?")
        #expect(help(screen)?.view == .picker)
        screen.press("q")
        #expect(screen.picture == before)
    }

    @Test("a step in which something is typed has keys of its own, which nothing can be run by")
    func typing() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "F1")
        #expect(screen.lines[0].hasPrefix(" Help: where to send it "))
        #expect(screen.lines[2].hasPrefix("   Enter F2    go on with what stands in the line"))
        screen.press("Esc", "https://host/in/", "Enter", "F1")
        Pictures.expect(screen.picture, "help-review-80x24")
        screen.press("Enter")
        #expect(screen.lines[0].hasPrefix(" Help: the last look "), "nothing can be run by it")
        screen.press("q")
        #expect(screen.picture.contains("[3 Review]"))
    }

    @Test("words narrow it, by text and by key, and Enter runs the line")
    func search() throws {
        var screen = example()
        screen.press("?", "/", "speed lim")
        Pictures.expect(screen.picture, "help-search-80x24")
        let found = screen.model.helpLayout(try #require(help(screen))).entries
        #expect(found.first?.action == .limit)
        #expect(Set(found.map(\.action)) == [.limit])
        screen.press("Enter", "Enter")
        #expect(help(screen) == nil)
        let asks = screen.requests.contains { if case .limits = $0 { true } else { false } }
        #expect(asks)
    }

    @Test("a key of another view is not run but said to be there")
    func elsewhere() {
        var screen = example()
        screen.press("?", "/", "hidden", "Enter", "Enter")
        #expect(screen.model.notice?.text.string.contains("picking files") == true)
    }

    @Test("the cursor reaches every line, and the end comes into sight")
    func moving() throws {
        var screen = example(60, 12)
        screen.model.settings.keysFile = "/home/ana/.config/martlet/keys.conf"
        screen.press("?", "G")
        let layout = screen.model.helpLayout(try #require(help(screen)))
        #expect(help(screen)?.selected == layout.entries.count - 1)
        #expect(screen.lines.contains { $0.contains("keys.conf") })
        screen.press("g")
        #expect(help(screen)?.top == 0)
        for _ in layout.entries { screen.press("j") }
        #expect(help(screen)?.selected == layout.entries.count - 1)
    }

    @Test("every page says where help is, at every width; it is the last to go", arguments: [80, 40, 20, 8, 3])
    func hints(columns: Int) {
        let pages = KeyMap.View.pages.compactMap { $0.openingKeys.first.map { [$0] } }
        for keys in pages + [["i"], ["a"], ["D", "n"]] {
            var screen = example(columns, 24)
            for key in keys { screen.press(key) }
            let last = screen.lines.last ?? ""
            #expect(last.contains("?") || last.contains("F1"), "\(keys) at \(columns): \(last)")
        }
        var lost = example(columns, 24)
        lost.send(.link(.lost(since: ScreenHarness.morning, nextTry: nil, .stopped)))
        #expect(lost.lines.last?.contains("?") == true)
    }
}
