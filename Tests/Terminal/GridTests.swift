import DisplayText
import TestSupport
import Testing

@testable import Terminal

@Suite("Views draw into a grid without care at the edges")
struct GridTests {
    @Test("text is cut at the edges, and half of a wide character becomes a space")
    func edges() {
        var grid = Grid(ScreenSize(columns: 6, rows: 5))
        grid.put("abcdefgh", row: 0, column: 4)
        grid.put("日本語", row: 1, column: 1)
        grid.put("日本", row: 2, column: -1)
        grid.put("日本", row: 3, column: 1, end: 4)
        grid.put("nowhere", row: 5, column: 0)
        grid.put("nowhere", row: -1, column: 0)
        grid.put("nowhere", row: 4, column: 6)
        grid.put("日", row: 4, column: -1, end: 0)
        #expect(
            grid.picture == """
                +------+
                |    ab|
                | 日本 |
                | 本   |
                | 日   |
                |      |
                +------+
                """)
    }

    @Test("overwriting half of a wide character leaves a space, never half a character")
    func halves() {
        var grid = Grid(ScreenSize(columns: 6, rows: 3))
        for row in 0..<3 { grid.put("日本語", row: row, column: 0) }
        grid.put("x", row: 0, column: 1)
        grid.put("x", row: 1, column: 2)
        grid.put("語", row: 2, column: 1)
        #expect(
            grid.picture == """
                +------+
                | x本語|
                |日x 語|
                | 語 語|
                +------+
                """)
    }

    @Test("styles show in the picture of roles")
    func roles() {
        var grid = Grid(ScreenSize(columns: 8, rows: 3))
        grid.fill(row: 0, style: .header)
        grid.put(StyledLine("x ", .error) + StyledLine("name", .marked), row: 1, column: 0)
        grid.put("ERR", row: 2, column: 1, style: Style(.error, strong: true))
        grid.restyle(row: 2) { $0.isSelected = true }
        #expect(
            grid.rolePicture == """
                |hhhhhhhh|
                |ee****  |
                | EEE    <
                """)
        #expect(grid.put(StyledLine("ab") + StyledLine("c", .dim), row: 0, column: 2) == 5)
    }

    @Test("nothing changed is nothing to send; another size is everything")
    func changes() {
        var grid = Grid(ScreenSize(columns: 10, rows: 2))
        grid.put("12:41", row: 1, column: 3)
        #expect(grid.changes(from: grid) == [])
        #expect(grid.changes(from: nil).count == 2)
        #expect(grid.changes(from: Grid(ScreenSize(columns: 9, rows: 2))).count == 2)
        var later = grid
        later.put("12:42", row: 1, column: 3)
        #expect(later.changes(from: grid) == [ChangedRun(row: 1, columns: 7..<8)])
        var wide = grid
        wide.put("日", row: 1, column: 6)
        #expect(wide.changes(from: grid) == [ChangedRun(row: 1, columns: 6..<8)])
        #expect(grid.changes(from: wide) == [ChangedRun(row: 1, columns: 6..<8)])
    }

    @Test("applying the changes to the old picture gives the new one, and no run splits a wide character")
    func property() {
        var random = SeededGenerator(seed: 5)
        var old = Grid(ScreenSize(columns: 25, rows: 4))
        for _ in 0..<10_000 {
            let new = random.grid(old.size, from: old)
            var cells = old.cells
            for run in new.changes(from: old) {
                let start = run.row * old.size.columns
                for column in run.columns { cells[start + column] = new.cells[start + column] }
                for edge in [run.columns.lowerBound, run.columns.upperBound] where edge < old.size.columns {
                    if new[run.row, edge].glyph.width == 0 || old[run.row, edge].glyph.width == 0 {
                        Issue.record("a run begins or ends in a wide character")
                    }
                }
            }
            if cells != new.cells { Issue.record("the changes are not all") }
            old = new
        }
    }

    @Test("a terminal's word about its size is taken between 1 x 1 and 1000 x 500")
    func bounds() {
        let huge = ScreenSize(columns: 65_535, rows: .max)
        #expect(huge.columns == 1000 && huge.rows == 500)
        #expect(huge == ScreenSize(columns: 1000, rows: 500) && huge != ScreenSize(columns: 999, rows: 500))
        #expect(ScreenSize(columns: .min, rows: 0) == ScreenSize(columns: 1, rows: 1))
        var grid = Grid(huge)
        grid.put("end", row: 499, column: 997)
        #expect(grid.changes(from: grid).isEmpty)
    }
}
