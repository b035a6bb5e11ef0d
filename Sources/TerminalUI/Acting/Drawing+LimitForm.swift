import DisplayText
import MartletKit
import Terminal

/// The form of limits: a box with a line for each, the typed one with the cursor.
extension Drawing {
    mutating func form(_ form: LimitForm) {
        if rows > 3 { hintLine(HintLine.text(Self.formHints, width: width), rows - 1) }
        guard rows > form.lines.count + 5, width >= 40 else { return narrow(form) }
        let inside = min(width - 4, 70)
        let label = min(inside / 2 - 2, max(20, form.lines.map(\.label.width).max() ?? 0))
        let help: SafeText =
            form.note ?? "A rate such as 512K or 2M, or off. The first two lines also take times: 08:00,512K 18:00,off."
        let below = help.wrapped(to: inside)
        let (boxWidth, left) = (inside + 4, (width - inside - 4) / 2)
        let height = form.lines.count + 1 + below.count
        let top = max(0, (rows - 1 - height - 2) / 3)
        edge(top, left, boxWidth, "Limits, bytes a second")
        for row in (top + 1)...(top + height) {
            grid.fill(row: row, style: .plain)
            grid.put("|", row: row, column: left, end: left + boxWidth)
            grid.put("|", row: row, column: left + boxWidth - 1)
        }
        for (index, line) in form.lines.enumerated() {
            self.line(
                line, isSelected: index == form.selected, top + 1 + index, left + 2, label: label, width: inside)
            note(.form(.field(index)), row: top + 1 + index, columns: left..<(left + boxWidth))
        }
        for (index, text) in below.enumerated() {
            let style: Style = form.note == nil ? .dim : .error
            grid.put(text, row: top + 2 + form.lines.count + index, column: left + 2, style: style)
        }
        edge(top + height + 1, left, boxWidth, "")
    }

    private static let formHints = [("Enter", "sets"), ("Tab", "next line"), ("Esc", "closes")]

    private mutating func line(
        _ line: LimitForm.Line, isSelected: Bool, _ row: Int, _ column: Int, label: Int, width: Int
    ) {
        let sign: SafeText = isSelected ? "> " : "  "
        let name = line.label.shortened(to: label, mark: appearance.glyphs.cutMark)
        grid.put(sign + name, row: row, column: column, style: isSelected ? .marked : .plain)
        let start = column + label + 4
        let room = max(1, width - label - 6)
        let (text, place) = line.field.shown(in: room, appearance.characterSet)
        grid.put("[", row: row, column: start - 1, style: .dim)
        grid.put(text, row: row, column: start)
        grid.put("]", row: row, column: start + room, style: .dim)
        if isSelected { cursor = Cursor(row: row, column: min(self.width - 1, start + place), isVisible: true) }
    }

    /// In a window that is too small for a box: the line that is typed, and what is wrong with it.
    private mutating func narrow(_ form: LimitForm) {
        let line = form.lines[form.selected]
        let last = rows - 1
        for row in max(0, last - 1)...last { grid.fill(row: row, style: .plain) }
        let label = (form.note ?? line.label + ":").cut(to: width, appearance.glyphs)
        if last > 0 { grid.put(label, row: last - 1, column: 0, style: form.note == nil ? .marked : .error) }
        let (text, place) = line.field.shown(in: max(1, width - 1), appearance.characterSet)
        grid.put(text, row: last, column: 0)
        cursor = Cursor(row: last, column: min(width - 1, place), isVisible: true)
    }
}
