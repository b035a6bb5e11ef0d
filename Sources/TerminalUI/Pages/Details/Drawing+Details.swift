import DisplayText
import MartletKit
import Terminal

/// The page of details: the bar of the row, and its text.
extension Drawing {
    mutating func details(_ page: DetailsPage) {
        let row = page.row
        let name = row.name.isEmpty ? RowLabel.group(row, appearance) : appearance.safe(row.name)
        let state = model.state(of: row)
        let figures = RowFigures(row, appearance)
        title("Details", name, right: SafeText("\(state.longWord) \(figures.percent)%"), isName: true)
        let lines = DetailsText(page, in: model).lines(width: width)
        let first = DetailsPage.firstLine(rows: rows)
        if first > 1 {
            let left = row.secondsLeft.map { "   \(Figures.timeLeftInWords($0)) left" } ?? ""
            let done =
                "  \(appearance.figures.size(row.bytes.done)) of \(figures.size)" + (state == .running ? left : "")
            let room = width - 4 - SafeText(done).width
            if room >= 4 { grid.put("[" + figures.bar(width: room) + "]" + SafeText(done), row: 1, column: 1) }
        }
        let top = page.top(of: lines.count, model.size)
        put(lines.dropFirst(top), first..<max(first, rows - 2))
        let below = lines.count - top - max(0, rows - 2 - first)
        if rows >= 12, below > 0 {
            let more: SafeText =
                "\(Figures.amount(Int64(below), "more line")) below: \(model.key(.pageDown, in: .details))"
            grid.put(more, row: rows - 2, column: 1, style: .dim)
        }
        if rows >= 12, lines.count <= rows - 3 - first { selectingIsPossible() }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        footer(model.hints(of: row), in: .details, words: model.hintWords(for: [row]))
    }

    /// Says, where there is room, that the mouse selects text and which keys copy it.
    private mutating func selectingIsPossible() {
        let (path, all) = (model.key(.copy, in: .details), model.key(.copyAll, in: .details))
        let text: SafeText = "The mouse selects text here. \(path) copies path, \(all) copies everything."
        if text.width <= width - 2 { grid.put(text, row: rows - 2, column: 1, style: .dim) }
    }
}
