import DisplayText
import Terminal

/// Parts of everything that is typed: the line itself, the words that a page is searched for, the fields and buttons of a form.
extension Drawing {
    /// A line that is typed, with the cursor in it.
    mutating func typed(
        _ label: SafeText, _ field: TextField, _ row: Int, column: Int = 1, right: SafeText = "",
        note: (text: SafeText, isError: Bool)? = nil, isSecret: Bool = false, end: Int? = nil
    ) {
        let end = end ?? width
        grid.fill(row: row, columns: column..<end, style: .plain)
        let right = note?.text.beginning(of: max(0, (end - column) / 2)) ?? right
        let start = grid.put(label.beginning(of: max(0, end - column - 8)), row: row, column: column, style: .marked)
        let room = end - start - (right.width > 0 ? right.width + 3 : 1)
        let shown = isSecret ? TextField([UInt8](repeating: UInt8(ascii: "*"), count: field.count)) : field
        let (text, place) = shown.shown(in: max(1, room), appearance.characterSet)
        grid.put(text, row: row, column: start, end: end)
        if right.width > 0 {
            grid.put(right, row: row, column: end - 1 - right.width, style: note?.isError == true ? .error : .dim)
        }
        cursor = Cursor(row: row, column: min(width - 1, start + place), isVisible: true)
    }

    /// The line of words that are looked for, over the last line of the page.
    mutating func finding(_ words: SoughtWords, _ count: SafeText) {
        let row = rows - 2
        grid.fill(row: row, style: .plain)
        let start = grid.put(" find: ", row: row, column: 0, style: .marked)
        let (text, place) = words.field.shown(in: max(1, width - start - count.width - 2), appearance.characterSet)
        grid.put(text, row: row, column: start)
        grid.put(count, row: row, column: max(start + text.width + 1, width - 1 - count.width), style: .dim)
        if words.isTyping { cursor = Cursor(row: row, column: min(width - 1, start + place), isVisible: true) }
    }

    /// Buttons of any form, in the middle of a line.
    mutating func buttonRow<ID>(_ form: Form<ID>, _ row: Int) {
        let texts = form.buttons.map { SafeText("[ \($0) ]") }
        let gap = width >= 60 ? 3 : 1
        let all = texts.reduce(0) { $0 + $1.width } + gap * (texts.count - 1)
        var column = max(1, (width - all) / 2)
        for (index, text) in texts.enumerated() {
            let isSelected = form.isOnButtons && index == form.button
            if isSelected { cursor = Cursor(row: row, column: min(width - 1, column + 2)) }
            note(.form(.button(index)), row: row, columns: column..<(column + text.width))
            column = grid.put(text, row: row, column: column, style: Style(.plain, selected: isSelected)) + gap
        }
    }

    /// A field of any form, behind its label, which the form's owner draws: a line of text, or its choices.
    /// - Parameter end: a line of text goes no further.
    mutating func formField<ID>(_ form: Form<ID>, _ index: Int, _ row: Int, column: Int, end: Int) {
        note(.form(.field(index)), row: row)
        let isSelected = index == form.selected
        switch form.fields[index].value {
        case .text(let field, let isSecret):
            let end = min(width - 1, end)
            guard end > column + 4 else { return }
            grid.put("[", row: row, column: column)
            grid.put("]", row: row, column: end - 1)
            let before = cursor
            typed("", field, row, column: column + 1, isSecret: isSecret, end: end - 1)
            if !isSelected { cursor = before }
        case .choice(let choices, let chosen):
            let place = choiceRow(choices, chosen, of: index, row, column)
            if isSelected { cursor = Cursor(row: row, column: min(width - 1, place)) }
        }
    }

    /// All of them when there is room, else the chosen one. Where its word begins.
    private mutating func choiceRow<ID>(
        _ choices: [Form<ID>.Choice], _ chosen: Int, of field: Int, _ row: Int, _ column: Int
    ) -> Int {
        let parts = choices.enumerated().map { "(\($0 == chosen ? "o" : " ")) \($1.word)" }
        if parts.joined(separator: "  ").count <= width - column - 1 {
            var (place, start) = (column, column)
            for (index, part) in parts.enumerated() {
                if index == chosen { start = place + 1 }
                note(.form(.field(field, choice: index)), row: row, columns: place..<(place + SafeText(part).width))
                place = grid.put(SafeText(part), row: row, column: place, style: index == chosen ? .marked : .plain) + 2
            }
            return start
        }
        // The next one, as by its key.
        let end = grid.put(SafeText("< \(choices[chosen].word) >"), row: row, column: column, style: .marked)
        if end > column {
            note(
                .form(.field(field, choice: (chosen + 1) % choices.count)), row: row, columns: column..<end)
        }
        return column
    }
}
