import DisplayText
import MartletKit
import Terminal

/// A question: a box with its answers, or a line where there is no room for one.
extension Drawing {
    mutating func dialog(_ dialog: Dialog) {
        if rows > 3 { hintLine(HintLine.text(Self.dialogHints, width: width), rows - 1) }
        guard rows > dialog.choices.count + 3, width >= 16 else { return question(dialog) }
        let widest = min(width - 4, 66)
        // In a low window the explanation goes before the answers do.
        let space = rows - 3 - dialog.choices.count
        let body = Array(dialog.lines.flatMap { $0.wrapped(to: widest) }.prefix(max(0, space - 1)))
        let gap: [SafeText] = space > body.count + 1 && !body.isEmpty ? [""] : []
        let choices = dialog.choices.indices.map { choice(dialog, $0, width: widest) }
        let lines = body + gap + choices
        let inside = min(width - 4, max(dialog.title.width + 4, lines.map(\.width).max() ?? 0))
        let (boxWidth, left) = (inside + 4, dialog.isAtSide ? 0 : (width - inside - 4) / 2)
        let highest = rows - 1 - lines.count - 2
        let top = max(0, dialog.isAtSide ? min(layout.tree.lowerBound, highest) : highest / 3)
        edge(top, left, boxWidth, dialog.title)
        for (index, line) in lines.enumerated() {
            let row = top + 1 + index
            grid.fill(row: row, style: .plain)
            grid.put("|", row: row, column: left, end: left + boxWidth)
            grid.put("|", row: row, column: left + boxWidth - 1)
            let answer = index - body.count - gap.count
            if answer >= 0 { note(.answer(answer), row: row, columns: left..<(left + boxWidth)) }
            let isSelected = answer == dialog.selected
            let style = Style(.plain, selected: isSelected)
            if isSelected { grid.fill(row: row, columns: (left + 2)..<(left + 2 + inside), style: style) }
            grid.put(line, row: row, column: left + 2, style: style)
            if isSelected { cursor = Cursor(row: row, column: min(width - 1, left + 4)) }
        }
        edge(top + lines.count + 1, left, boxWidth, "")
    }

    private static let dialogHints = [("Enter", "takes the line"), ("Esc", "closes"), ("Up Down", "choose")]

    /// The key that takes an answer is never cut off.
    private func choice(_ dialog: Dialog, _ index: Int, width: Int) -> SafeText {
        let choice = dialog.choices[index]
        let key = SafeText(choice.letter.map { "  (\(Character($0)))" } ?? "  (Esc)")
        let sign = index == dialog.selected ? ">" : " "
        let tick = choice.isTick ? dialog.isTicked ? "[x] " : "[ ] " : ""
        let text = SafeText("\(sign) \(tick)\(choice.text)")
        // Side by side when there is room for what comes of each.
        let widest = dialog.choices.map { SafeText($0.text).width + ($0.isTick ? 6 : 2) }.max() ?? 0
        let notes = dialog.choices.map(\.note.width).max() ?? 0
        let aligned = widest + 7 + 2 + notes
        guard notes > 0, aligned <= width else {
            return text.cut(to: max(3, width - key.width), appearance.glyphs) + key
        }
        return text.fitted(to: widest) + key.fitted(to: 7) + "  " + choice.note
    }

    /// The question in a window that is too small for a box: one line, and the keys that answer it.
    private mutating func question(_ dialog: Dialog) {
        let last = rows - 1
        for row in max(0, last - 1)...last { grid.fill(row: row, style: .plain) }
        let keys = dialog.choices.map { choice in
            choice.letter.map { "\(Character($0)) \(dialog.isMenu ? choice.text : "yes")" } ?? "Esc no"
        }.joined(separator: "  ")
        if last > 0 {
            grid.put(
                dialog.title.cut(to: width, appearance.glyphs), row: last - 1, column: 0, style: .marked)
        }
        grid.put(SafeText(keys).beginning(of: width), row: last, column: 0, style: .hint)
        cursor = Cursor(row: last, column: 0)
    }

    mutating func edge(_ row: Int, _ left: Int, _ boxWidth: Int, _ title: SafeText) {
        // Text that is cut in two beside a box would only be in the way.
        grid.fill(row: row, style: .plain)
        grid.fill(row: row, columns: left..<(left + boxWidth), with: Glyph("-"), style: .plain)
        grid.put("+", row: row, column: left)
        grid.put("+", row: row, column: left + boxWidth - 1)
        guard title.width > 0 else { return }
        let room = max(0, boxWidth - 6)
        let text = " " + title.shortened(to: room, mark: appearance.glyphs.cutMark) + " "
        grid.put(text, row: row, column: left + 2, style: .marked, end: left + boxWidth - 1)
    }
}
