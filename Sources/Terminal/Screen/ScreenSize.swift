/// The size of the part of the terminal that is drawn on, in cells: from 1 x 1 to 1000 x 500, whatever the terminal says. A grid of
/// more cells than any screen has would only cost memory.
package struct ScreenSize: Hashable, Sendable {
    package let columns: Int
    package let rows: Int

    /// The most columns and rows that are drawn on.
    package static let largest = (columns: 1000, rows: 500)

    /// Sizes of 0, which a terminal reports before it has one, count as 1.
    package init(columns: Int, rows: Int) {
        self.columns = min(max(1, columns), Self.largest.columns)
        self.rows = min(max(1, rows), Self.largest.rows)
    }
}

/// A cell's place, counted from 0 at the top left.
package struct Position: Hashable, Sendable {
    package var row: Int
    package var column: Int

    package init(row: Int, column: Int) {
        self.row = row
        self.column = column
    }
}

/// The place of the hardware cursor. It is on the selected row even while it is hidden, because screen readers and
/// braille displays follow it.
package struct Cursor: Hashable, Sendable {
    package var position: Position
    /// Shown in a text field, hidden elsewhere.
    package var isVisible: Bool

    package init(row: Int, column: Int, isVisible: Bool = false) {
        position = Position(row: row, column: column)
        self.isVisible = isVisible
    }
}
