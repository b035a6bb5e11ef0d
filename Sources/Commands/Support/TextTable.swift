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

    /// One row. `remark` stands behind the free text where there is room, else in lines of its own: it says what to do. What
    /// comes from outside is made harmless here.
    func row(_ cells: [String], _ last: String, remark: String = "") -> String {
        var line: SafeText = ""
        for (index, (column, cell)) in zip(columns, cells).enumerated() {
            let text = SafeText(cell)
            // A number that is wider than its column pushes the rest aside rather than be wrong.
            line += text.width > column.width ? text : text.fitted(to: column.width, column.alignment)
            // Numbers stand at the right of their columns, so one blank keeps them apart.
            let isNumber = index + 1 < columns.count && columns[index + 1].alignment == .right
            line += isNumber ? " " : "  "
        }
        let tail = SafeText(remark.isEmpty ? "" : " [\(remark)]")
        guard let width else { return Self.trimmed(line.string + SafeText(last).string + tail.string) }
        let end = SafeText(last).shortened(to: max(width - line.width, 8))
        if line.width + end.width + tail.width <= width { return Self.trimmed((line + end + tail).string) }
        return ([Self.trimmed((line + end).string)] + Self.lines(remark, width: width)).joined(separator: "\n")
    }

    private static func trimmed(_ line: String) -> String { String(line.reversed().drop { $0 == " " }.reversed()) }

    /// The text below a row, cut at blanks.
    private static func lines(_ text: String, width: Int) -> [String] {
        let margin = String(repeating: " ", count: 6)
        var lines: [String] = []
        for word in text.split(separator: " ").map({ SafeText(String($0)) }) {
            if let line = lines.last, SafeText(line).width + 1 + word.width <= width {
                lines[lines.count - 1] += " " + word.string
            } else {
                lines.append(margin + word.string)
            }
        }
        return lines
    }
}
