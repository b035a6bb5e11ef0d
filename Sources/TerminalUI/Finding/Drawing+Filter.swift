import DisplayText
import MartletKit
import Terminal

/// The filter: in the header how much it shows, at the bottom what it is.
extension Drawing {
    /// `filter: 1,206 of 12,406`, with `+` while the search goes on.
    var filterCount: SafeText? {
        guard let filter = model.filters.shown else { return nil }
        guard let count = filter.count else { return "filter: ... of all" }
        return "filter: \(Figures.count(count.matched))\(count.complete ? "" : "+") of \(Figures.count(count.total))"
    }

    /// The line that is typed, with what is wrong behind it.
    mutating func filterLine(_ line: FilterLine) {
        hints([("Enter", "keeps it"), ("Esc", "as before"), ("Up", "saved ones")])
        for row in layout.message { grid.fill(row: row, style: .plain) }
        grid.fill(row: layout.prompt, style: .plain)
        let label: SafeText = width >= 20 ? "filter: " : "/"
        let start = grid.put(label, row: layout.prompt, column: layout.message.isEmpty ? 0 : 1, style: .marked)
        let (text, place) = line.field.shown(in: max(1, width - start), appearance.characterSet)
        let end = grid.put(text, row: layout.prompt, column: start)
        cursor = Cursor(row: layout.prompt, column: min(width - 1, start + place), isVisible: true)
        if let fault = line.fault {
            let note = "  ^ " + appearance.safe(fault.message)
            guard let below = layout.promptNote, below != layout.prompt, note.width > width - end else {
                grid.put(
                    note.shortened(to: max(0, width - end), mark: appearance.glyphs.cutMark), row: layout.prompt,
                    column: end,
                    style: .error)
                return
            }
            grid.fill(row: below, style: .plain)
            grid.put(
                note.shortened(to: width - 1, mark: appearance.glyphs.cutMark), row: below, column: 1, style: .error)
        } else if !layout.message.isEmpty, let below = layout.promptNote, layout.message.contains(below) {
            let help: SafeText =
                line.field.isEmpty ? "Words of the path, or  @err  @run  size>1G  *.jpg  batch:NAME  !@done  a | b" : ""
            grid.put(help.beginning(of: width - 1), row: below, column: 1, style: .dim)
        }
    }

    /// The filter that is on, while no message needs the place.
    mutating func filterStanding() {
        guard let filter = model.filters.shown, let row = layout.message.first else { return }
        let isFree = model.notice.map { layout.message.count > 1 && said($0).wrapped(to: width - 2).count == 1 } ?? true
        guard isFree else { return }
        let clear = model.keys.keys(for: .back, in: .transfers).first.map { "   \($0.name) shows all" } ?? ""
        let text: SafeText = "filter: " + appearance.safe(filter.text)
        let room = width - 2 - SafeText(clear).width
        grid.put(
            text.shortened(to: max(8, room), mark: appearance.glyphs.cutMark) + SafeText(clear), row: row, column: 1,
            style: .dim)
    }

    /// In the tree's place when nothing matches.
    mutating func nothingMatches() {
        guard let row = layout.tree.first else { return }
        let complete = model.filters.shown?.count?.complete == true
        grid.put(complete ? "Nothing matches." : "Looking...", row: min(layout.tree.upperBound - 1, row + 1), column: 3)
        cursor = Cursor(row: min(layout.tree.upperBound - 1, row + 1), column: min(3, width - 1))
    }
}
