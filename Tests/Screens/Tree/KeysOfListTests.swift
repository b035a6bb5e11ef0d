import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Keys of the list: find, range, freeze, copy, the lower part, pages by number")
struct KeysOfListTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    private func copied(_ screen: ScreenHarness) -> String? {
        screen.requests.compactMap { if case .copy(let copied) = $0 { copied.text } else { nil } }.first
    }

    @Test("a name is found while it is typed; n goes on, Enter stays, Esc goes back")
    func find() {
        var screen = example()
        screen.press("j", "/", "img")
        #expect(screen.cursorName == "IMG_0412.CR3")
        Pictures.expect(screen.picture, "find-80x24")
        screen.press("Down")
        #expect(screen.cursorName == "IMG_0413.CR3")
        screen.press("Enter", "n", "n")
        #expect(screen.cursorName == "IMG_0412.CR3", "round the end")
        screen.press("N")
        #expect(screen.cursorName == "IMG_0414.CR3")
        screen.press("Esc", "g", "j", "/", "IMGX")
        #expect(screen.cursorName == "raw", "where it was: nothing is found")
        screen.press("Esc", "g", "/", "invoice", "Esc")
        #expect(screen.cursorName == "holiday-2024")
        #expect(screen.model.find == nil)
    }

    @Test("Tab makes a filter of what was typed, a paste is typed, and capitals matter when there are some")
    func findAndFilter() {
        var screen = example()
        screen.press("/")
        screen.paste("NDA signed (")
        #expect(screen.cursorName == "NDA signed (final).pdf")
        screen.press("Tab")
        #expect(screen.model.find == nil)
        #expect(screen.model.filters.shown?.text == "\"NDA signed (\"")
        #expect(screen.model.filterLine != nil)
        screen = example()
        screen.press("/", "Img")
        #expect(screen.cursorName == "holiday-2024")
    }

    @Test("from here to there is marked by the same key, or by what is done to it")
    func range() {
        var screen = example()
        screen.press("j", "j", "v", "j", "j")
        #expect(screen.lines.filter { $0.hasPrefix("*") }.count == 3)
        #expect(screen.model.tree.marks.isEmpty)
        screen.press("v")
        #expect(screen.model.tree.marks.count == 3)
        screen.press("U", "g", "j", "j", "v", "j", "p")
        let isForBoth = screen.requests.contains {
            if case .act(.pause, .rows(let rows), _) = $0 { rows.count == 2 } else { false }
        }
        #expect(isForBoth)
        screen = example()
        screen.press("v", "j", "Esc")
        #expect(screen.model.tree.rangeStart == nil)
        #expect(screen.model.tree.marks.isEmpty)
    }

    @Test("a frozen screen changes nothing but what is opened on it, and catches up afterwards")
    func freeze() {
        var screen = example()
        screen.press("z")
        #expect(screen.lines[0].contains("FROZEN 12:41:00"))
        screen.press("k")
        let before = screen.picture
        var sections = Rows.example
        sections[0].rows[0].bytes.sent = 60 * Rows.giga
        var totals = Rows.exampleTotals
        totals.bytes.sent = 177 * Rows.giga
        screen.news(sections, totals: totals)
        #expect(screen.picture == before)
        screen.press("G", "l")
        screen.news([Rows.section(screen.model.tree.cursorRow?.id, [Rows.task(3, 99, "new", .queued)])], totals: totals)
        #expect(screen.model.tree.items.contains { $0.row?.name == "new" })
        screen.press("z")
        #expect(screen.model.totals?.bytes.sent == 177 * Rows.giga)
        #expect(screen.model.tree.items[0].row?.bytes.sent == 60 * Rows.giga)
        #expect(!screen.lines[0].contains("FROZEN"))
    }

    @Test("y copies where it is, Y what is shown, on each page; what came of it is said")
    func copy() {
        var screen = example()
        screen.press("j", "j", "y")
        #expect(copied(screen) == "/home/ana/IMG_0412.CR3")
        screen.press("Y")
        #expect(copied(screen)?.contains("IMG_0413.CR3") == true)
        screen.press("i", "Y")
        #expect(copied(screen)?.hasPrefix("IMG_0412.CR3\n") == true)
        screen.press("b", "Esc", "2", "y")
        #expect(copied(screen)?.hasPrefix("now ") == true)
        screen.press("4", "y")
        #expect(copied(screen) == nil, "nothing was logged")
        screen.send(.answer(.copied(.word("x"), file: nil)))
        #expect(screen.model.notice?.text.string == "Copied, if the terminal allows it.")
        screen.send(.answer(.copied(.word("x"), file: "/x/copied.txt")))
        #expect(screen.model.notice?.text.string == "Copied into /x/copied.txt.")
        screen.send(.answer(.copied(.shown("x"), file: nil)))
        #expect(screen.model.notice?.text.string == "Copied as it is shown, if the terminal allows it.")
    }

    @Test(
        "the path of a row is copied as its bytes, however it is shown",
        arguments: [
            ("/in/report -> old.pdf", "'/in/report -> old.pdf'"), ("/in/a b's", #"'/in/a b'\''s'"#),
            ("/in/\u{2764}\u{FE0F}", #"$'/in/\342\235\244\357\270\217'"#),
            ("/in/e\u{301}", nil), ("/in/\u{E9}", nil),
            ("/in/\u{1F468}\u{200D}\u{1F469}", #"$'/in/\360\237\221\250\342\200\215\360\237\221\251'"#),
            ("/in/a\u{A0}b\u{2009}c", nil), ("/in/\u{1B}[2J\nrm", #"$'/in/\033\1332J\012rm'"#),
            ("/" + String(repeating: "long/", count: 400), "/" + String(repeating: "long/", count: 400)),
        ] as [(String, String?)])
    func rawPath(path: String, quoted: String?) throws {
        for page in [[], ["i"]] {
            var row = Rows.task(1, 1, "x", .running)
            row.path = "\(RawPath(path).displayed) -> https://host/in/x"
            row.source = RawPath(path)
            var screen = ScreenHarness(80, 24, [Rows.section(nil, [row])])
            for key in page + ["y"] { screen.press(key) }
            let text = try #require(copied(screen))
            #expect(quoted.map { Array(text.utf8) == Array($0.utf8) } ?? true, "\(text)")
            #expect(Self.unquoted(text) == Array(path.utf8), "\(text)")
        }
    }

    /// The bytes that a shell reads from one word.
    private static func unquoted(_ word: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        if word.utf8.starts(with: "$'".utf8) {
            rest = rest.dropFirst(2).dropLast()
            while let first = rest.popFirst() {
                guard first == UInt8(ascii: "\\") else {
                    bytes.append(first)
                    continue
                }
                bytes.append(UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) ?? 0)
                rest = rest.dropFirst(3)
            }
            return bytes
        }
        var isQuoted = false
        while let first = rest.popFirst() {
            if first == UInt8(ascii: "'") {
                isQuoted.toggle()
            } else if first == UInt8(ascii: "\\"), !isQuoted {
                bytes.append(rest.popFirst() ?? 0)
            } else {
                bytes.append(first)
            }
        }
        return bytes
    }

    @Test("a path that the engine tells for the eye only is not copied, and the screen says so")
    func unknownPath() {
        var row = Rows.task(1, 1, "x", .running)
        row.path = "/in/report -> https://host/in/x"
        row.source = nil
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [row])])
        screen.press("y")
        #expect(copied(screen) == nil)
        #expect(screen.model.notice?.text.string.contains("for the eye only") == true)
    }

    @Test("what is copied can be pasted into a shell: nothing in it is a control")
    func harmless() {
        var screen = ScreenHarness(
            80, 24, [Rows.section(nil, [Rows.batch(1, "x", .running, path: "evil\u{1B}[2J\nrm")])])
        screen.press("y")
        #expect(copied(screen)?.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
    }

    @Test("pages have numbers, from every page", arguments: ["i", "2", "3", "4", "5", "6", "?"])
    func pages(from key: String) {
        var screen = example()
        screen.press(key)
        screen.press("2")
        if screen.model.page is ThroughputPage {} else { Issue.record("2 from \(key)") }
        screen.press(key, "3")
        if screen.model.page is ProblemsPage {} else { Issue.record("3 from \(key)") }
        screen.press(key, "1")
        if screen.model.page is TransfersPage {} else { Issue.record("1 from \(key)") }
    }

    @Test("the lower part has the keys after Tab, can be higher, left out, and shown alone")
    func lower() {
        var screen = example(120, 36)
        let before = screen.cursorName
        screen.press("Tab", "j")
        #expect(screen.cursorName == before)
        #expect(screen.model.isInLower)
        screen.press("Esc", "|")
        #expect(screen.model.layout.lower.count + screen.model.layout.lowerLog.count == 12)
        screen.press("|")
        #expect(screen.model.layout.lower.isEmpty)
        screen.press("Tab", "O")
        if screen.model.page is DetailsPage {} else { Issue.record("no details") }
        screen = example()
        screen.press("Tab")
        #expect(screen.model.notice?.text.string.contains("30 lines") == true)
    }

    @Test("^C twice leaves, unless another key was pressed in between")
    func interrupting() {
        var screen = ScreenHarness(80, 24, Rows.example)
        screen.press("^C", "j", "^C")
        #expect(!screen.requests.contains(.leave))
        screen.press("^C")
        #expect(screen.requests.contains(.leave))
        var page = ScreenHarness(80, 24, Rows.example)
        page.press("e", "^C")
        #expect(page.picture.contains("Esc goes back. ^C again leaves"))
    }
}
