import DisplayText

/// Rows of fixed columns and one free text at the end, for a terminal of known width or for a pipe.
struct TextTable {
    struct Column {
        let title: String
        let width: Int
        var alignment = Alignment.left
    }

    let columns: [Column]
    /// The title of the free text.
    let lastTitle: String
    /// Columns of the terminal; `nil`: a pipe, where nothing is cut.
    let width: Int?

    /// The titles.
    var header: String { row(columns.map(\.title), lastTitle) }

    /// One row. What comes from outside is made harmless here.
    func row(_ cells: [String], _ last: String) -> String {
        var line = ""
        for (column, cell) in zip(columns, cells) {
            let text = SafeText(cell)
            // A number that is wider than its column pushes the rest aside rather than be wrong.
            line += (text.width > column.width ? text : text.fitted(to: column.width, column.alignment)).string + "  "
        }
        var end = SafeText(last)
        if let width { end = end.shortened(to: max(width - line.count, 8)) }
        line += end.string
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
