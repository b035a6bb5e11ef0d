package import DisplayText

/// A picture of the whole screen as a value. Views draw into it; `Screen.show` brings it to the terminal.
///
/// Whatever is put outside is cut off, and half of a wide character is never left standing: where one is cut or
/// overwritten, a space takes its place. So a view needs no care at the edges, at any size.
package struct Grid: Hashable, Sendable {
    package let size: ScreenSize
    private(set) var cells: [Cell]

    /// An empty screen.
    package init(_ size: ScreenSize) {
        self.size = size
        cells = Array(repeating: .empty, count: size.columns * size.rows)
    }

    /// The cell, which must be inside.
    package subscript(row: Int, column: Int) -> Cell { cells[row * size.columns + column] }

    /// The cells of a row.
    func row(_ row: Int) -> ArraySlice<Cell> { cells[row * size.columns..<(row + 1) * size.columns] }

    /// Puts text at a place and returns the column after it.
    ///
    /// - Parameter end: the first column that must stay as it is; the right edge when nil.
    @discardableResult
    package mutating func put(
        _ text: SafeText, row: Int, column: Int, style: Style = .plain, end: Int? = nil
    ) -> Int {
        let end = min(end ?? size.columns, size.columns)
        guard 0..<size.rows ~= row else { return column + text.width }
        var place = column
        for glyph in text.glyphs {
            let next = place + Int(glyph.width)
            if place >= end { break }
            if place >= 0 {
                set(next > end ? .space : glyph, style, row, place)
            } else if next > 0 && end > 0 {
                set(.space, style, row, 0)
            }
            place = next
        }
        return column + text.width
    }

    /// Puts a line of several styles and returns the column after it.
    @discardableResult
    package mutating func put(_ line: StyledLine, row: Int, column: Int, end: Int? = nil) -> Int {
        line.pieces.reduce(column) { put($1.text, row: row, column: $0, style: $1.style, end: end) }
    }

    /// Fills part of a row with one narrow glyph. Columns outside are ignored.
    package mutating func fill(row: Int, columns: Range<Int>? = nil, with glyph: Glyph = .space, style: Style) {
        guard 0..<size.rows ~= row else { return }
        for column in (columns ?? 0..<size.columns).clamped(to: 0..<size.columns) { set(glyph, style, row, column) }
    }

    /// Changes the styles of a row's cells, for instance to mark the selected row after it was drawn.
    package mutating func restyle(row: Int, columns: Range<Int>? = nil, _ change: (inout Style) -> Void) {
        guard 0..<size.rows ~= row else { return }
        for column in (columns ?? 0..<size.columns).clamped(to: 0..<size.columns) {
            change(&cells[row * size.columns + column].style)
        }
    }

    /// The place is inside; a wide glyph's second cell too.
    private mutating func set(_ glyph: Glyph, _ style: Style, _ row: Int, _ column: Int) {
        let index = row * size.columns + column
        clearHalves(at: index)
        if glyph.width == 2 {
            clearHalves(at: index + 1)
            cells[index + 1] = Cell(.continuation, style)
        }
        cells[index] = Cell(glyph, style)
    }

    /// Blanks the other half of a wide glyph of which this cell is one half.
    private mutating func clearHalves(at index: Int) {
        if cells[index].glyph.width == 2 { cells[index + 1].glyph = .space }
        if cells[index].glyph.width == 0 { cells[index - 1].glyph = .space }
    }
}
