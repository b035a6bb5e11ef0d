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

    /// One row; `remark` stands behind the free text and is not cut. What comes from outside is made harmless here.
    func row(_ cells: [String], _ last: String, remark: String = "") -> String {
        var line = ""
        for (index, (column, cell)) in zip(columns, cells).enumerated() {
            let text = SafeText(cell)
            // A number that is wider than its column pushes the rest aside rather than be wrong.
            line += (text.width > column.width ? text : text.fitted(to: column.width, column.alignment)).string
            // Numbers stand at the right of their columns, so one blank keeps them apart.
            let isNumber = index + 1 < columns.count && columns[index + 1].alignment == .right
            line += isNumber ? " " : "  "
        }
        var end = SafeText(last)
        let tail = width.map { SafeText(remark).shortened(to: max($0 - line.count - 10, 8)) } ?? SafeText(remark)
        if let width { end = end.shortened(to: max(width - line.count - tail.width, 8)) }
        line += end.string + tail.string
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
