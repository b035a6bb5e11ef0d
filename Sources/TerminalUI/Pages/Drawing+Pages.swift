import DisplayText
import Terminal

/// Parts that every page has: its title, headings within it, the keys and the message at its foot.
extension Drawing {
    /// The words in the place of an answer that has not come.
    var unanswered: SafeText {
        model.hearsNews ? "Asking the engine ..." : "The engine does not answer: nobody knows now."
    }

    mutating func heading(_ title: SafeText, row: Int, columns: Range<Int>, style: Style = .plain) {
        grid.fill(row: row, columns: columns, with: Glyph("-"), style: .dim)
        grid.put(" " + title + " ", row: row, column: columns.lowerBound + 1, style: style, end: columns.upperBound)
    }

    /// - Parameter rest: what it is about; a name keeps its ending when it is cut.
    mutating func title(_ title: SafeText, _ rest: SafeText, right: SafeText = "", isName: Bool = false) {
        grid.fill(row: 0, style: .header)
        let start = grid.put(" " + title + "  ", row: 0, column: 0, style: .header)
        let isRight = right.width > 0 && width - start - right.width >= 12
        if isRight { grid.put(right, row: 0, column: width - 1 - right.width, style: .header) }
        let room = max(0, width - start - 1 - (isRight ? right.width + 2 : 0))
        let text =
            isName ? rest.shortened(to: room, mark: appearance.glyphs.cutMark) : rest.cut(to: room, appearance.glyphs)
        grid.put(text, row: 0, column: start, style: .header)
    }

    mutating func footer(
        _ actions: [Action], in view: KeyMap.View, keepsMessage: Bool = true, words: [Action: String] = [:]
    ) {
        guard rows > 1 else { return }
        hintLine(HintLine.text(actions, in: view, model.keys, width: width, words: words), rows - 1)
        guard keepsMessage, rows > 3, let notice = model.notice else { return }
        // Over the end of the text: it stays until the next key only.
        let lines = said(notice).wrapped(to: width - 2).prefix(max(1, min(4, rows - 4)))
        for (row, line) in zip((rows - 1 - lines.count)..., lines) {
            grid.fill(row: row, style: .plain)
            grid.put(line, row: row, column: 1, style: notice.isError ? .error : .plain)
        }
    }
}
