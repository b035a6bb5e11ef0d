import CNcurses
import Glibc
import TestSupport
import Testing

@testable import DisplayText
@testable import Terminal

/// ncurses is global, so these run one after the other.
@Suite("What ncurses is given is what it shows", .serialized)
struct CanvasTests {
    @Test("the width of every code point is the number of cells that ncurses moves")
    func everyWidth() throws {
        try withCanvas { _ in
            let window = CNcurses_stdscr()
            var wrong: [String] = []
            for value in UInt32(0x20)...0x10FFFF {
                // What is escaped is ASCII; the sanitiser's own tests look at that.
                guard CodePointClass(of: value) != .escaped, let scalar = Unicode.Scalar(value) else { continue }
                let text = SafeText(String(Character(scalar)))
                wmove(window, 0, 0)
                for glyph in text.glyphs {
                    var characters = [glyph.base, glyph.mark, glyph.secondMark, 0].map { wchar_t(bitPattern: $0) }
                    var cell = cchar_t()
                    setcchar(&cell, &characters, 0, 0, nil)
                    wadd_wch(window, &cell)
                }
                var (row, column): (Int32, Int32) = (0, 0)
                CNcurses_getyx(window, &row, &column)
                if row != 0 || Int(column) != text.width { wrong.append("U+\(String(value, radix: 16)): \(column)") }
            }
            #expect(wrong == [])
        }
    }

    @Test("drawing only what changed ends with the same cells as drawing everything")
    func incremental() throws {
        try withCanvas { canvas in
            var random = SeededGenerator(seed: 21)
            let size = ScreenSize(columns: 30, rows: 6)
            canvas.resize(to: size)
            var shown: Grid?
            for frame in 0..<600 {
                let grid = random.grid(size, from: shown)
                for run in grid.changes(from: shown) { canvas.draw(run, of: grid) }
                shown = grid
                if frame % 50 == 0 { canvas.flush(Cursor(row: 0, column: 0)) }
                try #require(cells(size) == expected(grid), "frame \(frame)")
            }
        }
    }

    @Test("a terminal that claims more cells than there are gets the most that are drawn, from the start")
    func claimed() throws {
        // Few enough for ncurses to make them all, if it believed that.
        try withCanvas(columns: 2000, rows: 700) { _ in
            let (rows, columns) = (Int32(ScreenSize.largest.rows), Int32(ScreenSize.largest.columns))
            #expect(wmove(CNcurses_stdscr(), rows - 1, columns - 1) == OK)
            #expect(wmove(CNcurses_stdscr(), rows, 0) == ERR && wmove(CNcurses_stdscr(), 0, columns) == ERR)
        }
        #expect(getenv("LINES") == nil && getenv("COLUMNS") == nil)
    }

    @Test("a style becomes attributes and a pair on the terminal's own background")
    func styles() throws {
        try withCanvas { canvas in
            var grid = Grid(ScreenSize(columns: 10, rows: 1))
            grid.put("E", row: 0, column: 0, style: .error)
            grid.put("s", row: 0, column: 1, style: Style(.error, selected: true))
            canvas.draw(ChangedRun(row: 0, columns: 0..<10), of: grid)
            let (plain, selected) = (Self.look(at: 0), Self.look(at: 1))
            #expect(plain.foreground == 131 && plain.background == -1)
            #expect(plain.attributes & CNcurses_A_BOLD() != 0)
            #expect(selected.pair == 0 && selected.attributes & CNcurses_A_REVERSE() != 0)
        }
    }

    @Test("another theme's colours are used from then on")
    func theme() throws {
        try withCanvas { canvas in
            var grid = Grid(ScreenSize(columns: 10, rows: 1))
            grid.put("E", row: 0, column: 0, style: .error)
            canvas.draw(ChangedRun(row: 0, columns: 0..<10), of: grid)
            #expect(Self.look(at: 0).foreground == 131)
            canvas.use(.light)
            canvas.draw(ChangedRun(row: 0, columns: 0..<10), of: grid)
            #expect(Self.look(at: 0).foreground == 124 && Self.look(at: 0).background == -1)
        }
    }

    /// How ncurses has a cell of the first row.
    private static func look(
        at column: Int32
    ) -> (attributes: attr_t, pair: Int16, foreground: Int16, background: Int16) {
        var cell = cchar_t()
        mvwin_wch(CNcurses_stdscr(), 0, column, &cell)
        var text = [wchar_t](repeating: 0, count: 6)
        var (attributes, pair): (attr_t, Int16) = (0, 0)
        getcchar(&cell, &text, &attributes, &pair, nil)
        var (foreground, background): (Int16, Int16) = (0, 0)
        pair_content(pair, &foreground, &background)
        return (attributes, pair, foreground, background)
    }

    @Test("the keys of the terminal's description are in the table")
    func terminfo() throws {
        try withCanvas { _ in
            let table = KeyTable.ofTerminal()
            #expect(table.match(Array("\u{1B}OA".utf8)) == .key(KeyPress(.up)))
            #expect(table.match(Array("\u{1B}[1;5D".utf8)) == .key(KeyPress(.left, .control)))
            #expect(table.match(Array("\u{1B}[24~".utf8)) == .key(KeyPress(.function(12))))
        }
    }

    private func withCanvas(columns: Int = 100, rows: Int = 30, _ body: (Canvas) throws -> Void) throws {
        #expect(TextLocale.adopt() == .utf8)
        let terminal = try PseudoTerminal(columns: columns, rows: rows)
        let color = ColorRequest(mode: .always, theme: .any, noColor: nil)
        let canvas = try Canvas(
            descriptor: terminal.sink(), names: ["xterm-256color"], size: ScreenSize(columns: columns, rows: rows),
            color: color)
        defer { canvas.leave() }
        try body(canvas)
    }

    /// What ncurses holds, row by row: text and width of each glyph.
    private func cells(_ size: ScreenSize) -> [[String]] {
        (0..<size.rows).map { row in
            var column = 0
            var line: [String] = []
            while column < size.columns {
                var cell = cchar_t()
                mvwin_wch(CNcurses_stdscr(), Int32(row), Int32(column), &cell)
                var text = [wchar_t](repeating: 0, count: 6)
                var (attributes, pair): (attr_t, Int16) = (0, 0)
                getcchar(&cell, &text, &attributes, &pair, nil)
                let scalars = text.prefix { $0 != 0 }.map { UInt32(bitPattern: $0) }
                let isReverse = attributes & CNcurses_A_REVERSE() != 0
                line.append("\(scalars) \(isReverse)")
                column += scalars.first == 0x65E5 ? 2 : 1
            }
            return line
        }
    }

    private func expected(_ grid: Grid) -> [[String]] {
        (0..<grid.size.rows).map { row in
            grid.row(row).filter { $0.glyph.width > 0 }.map { cell in
                let scalars = [cell.glyph.base, cell.glyph.mark, cell.glyph.secondMark].filter { $0 != 0 }
                return "\(scalars) \(cell.style.isSelected)"
            }
        }
    }
}

extension SeededGenerator {
    /// A few words put somewhere, over the last picture or on an empty one.
    mutating func grid(_ size: ScreenSize, from old: Grid?) -> Grid {
        var grid = Int.random(in: 0..<10, using: &self) == 0 ? Grid(size) : old ?? Grid(size)
        let words: [SafeText] = ["日日日", "name.txt", "日x日", "e\u{301}\u{302}e", " ", "日", "###....", "\u{202E}"]
        for _ in 0..<Int.random(in: 0...4, using: &self) {
            grid.put(
                words[Int.random(in: 0..<words.count, using: &self)],
                row: Int.random(in: -1...size.rows, using: &self),
                column: Int.random(in: -5...size.columns, using: &self),
                style: Style(.plain, selected: Bool.random(using: &self)))
        }
        return grid
    }
}
