import DisplayText
import MartletKit
import Terminal

/// The palette: what fits stands above the line, the best nearest to it... and the chosen one is marked.
extension Drawing {
    mutating func palette(_ prompt: CommandPrompt) {
        hints([("Enter", "run"), ("Tab", "complete"), ("Up Down", "choose"), ("Esc", "close")])
        let entries = model.paletteEntries
        let room = max(0, min(10, layout.prompt - 1))
        let first = max(0, min(prompt.selected - room + 1, entries.count - room))
        let shown = entries.dropFirst(first).prefix(room)
        let form = form(of: prompt.command?.command).prefix(room)
        let top = layout.prompt - max(shown.count, form.count) - (room > 2 ? 1 : 0)
        if room > 2 {
            let count = entries.isEmpty ? "" : " \(min(prompt.selected + 1, entries.count)) of \(entries.count)"
            let isUnknown = entries.isEmpty && prompt.command == nil
            heading(isUnknown ? "Nothing is called so" : "Commands\(count)", row: max(0, top), columns: 0..<width)
        }
        for row in (max(0, top) + (room > 2 ? 1 : 0))..<layout.prompt { grid.fill(row: row, style: .plain) }
        let start = layout.prompt - shown.count
        for (row, index) in zip(start..<layout.prompt, first..<entries.count) {
            line(entries[index], row, isSelected: index == prompt.selected)
            note(.entry(index), row: row)
        }
        for (row, text) in zip((layout.prompt - form.count)..., form) {
            grid.put(text, row: row, column: 2, style: .dim)
        }
        for row in layout.message { grid.fill(row: row, style: .plain) }
        grid.fill(row: layout.prompt, style: .plain)
        let begin = grid.put(": ", row: layout.prompt, column: 0, style: .marked)
        let (text, place) = prompt.field.shown(in: max(1, width - begin), appearance.characterSet)
        grid.put(text, row: layout.prompt, column: begin)
        cursor = Cursor(row: layout.prompt, column: min(width - 1, begin + place), isVisible: true)
    }

    /// The syntax of a command, in as many lines as it takes.
    private func form(of command: ScreenCommand?) -> [SafeText] {
        guard let command else { return [] }
        return appearance.safe("\(command.rawValue) \(command.form)   \(command.summary)").wrapped(
            to: max(1, width - 3))
    }

    private mutating func line(_ entry: PaletteEntry, _ row: Int, isSelected: Bool) {
        let style: Style = entry.obstacle == nil ? .plain : .dim
        grid.put(isSelected ? "  > " : "    ", row: row, column: 0, style: style)
        let keyColumn = min(max(24, width / 2 - 2), max(8, width - 8))
        let title = appearance.safe(entry.title)
        let titleRoom = max(2, keyColumn - 6)
        grid.put(title.cut(to: titleRoom, appearance.glyphs), row: row, column: 4, style: style)
        grid.put(SafeText(entry.key), row: row, column: keyColumn, style: style)
        let detail = entry.obstacle ?? entry.detail
        let room = width - keyColumn - 8
        if room >= 8 {
            grid.put(
                detail.cut(to: room, appearance.glyphs), row: row, column: keyColumn + 7, style: .dim)
        }
        if isSelected { grid.restyle(row: row) { $0.isSelected = true } }
    }
}
