import DisplayText
import MartletKit
import Terminal

/// The page of problems: the causes, and below them the one under the cursor in words.
extension Drawing {
    mutating func problems(_ page: ProblemsPage) {
        let causes = Figures.amount(Int64(page.causes.count), "cause")
        let sum = page.isKnown ? "\(Figures.amount(page.files, "file")) in \(causes)" : ""
        title("Problems", "grouped by cause", right: SafeText(page.causes.isEmpty ? "" : sum))
        footer([.back, .enter, .retry], in: .problems)
        cursor = Cursor(row: min(1, rows - 1), column: min(2, width - 1))
        let end = max(1, rows - 1)
        guard !page.causes.isEmpty else {
            let text: SafeText = page.problem ?? (page.isKnown ? "Nothing has failed." : "")
            grid.put(text.shortened(to: width - 2, mark: look.glyphs.cutMark), row: 1, column: 2)
            return
        }
        // In a low window the words go, not the causes.
        let text = page.cause.map(words) ?? []
        let room = end - 1
        let height = min(page.causes.count, max(min(3, room), room - text.count - 3))
        let top = max(0, min(page.selected - height + 1, page.causes.count - height))
        for (row, index) in zip(1..<(1 + height), top..<page.causes.count) {
            line(page.causes[index], row, isSelected: index == page.selected)
        }
        let start = 1 + height
        guard end - start >= 4 else { return }
        heading(SafeText(page.cause?.code.rawValue ?? ""), row: start + 1, columns: 0..<width)
        for (row, line) in zip((start + 2)..<(end - 1), text) { grid.put(line, row: row, column: 1) }
    }

    private mutating func line(_ cause: ProblemsPage.Cause, _ row: Int, isSelected: Bool) {
        grid.put(SafeText([Glyph(RowState.failed.sign(look.glyphs))]), row: row, column: 1, style: .error)
        let files = SafeText(Figures.amount(cause.files, "file"))
        let isWide = width >= 56
        let names = look.safe(cause.batches.map(\.name).joined(separator: ", "))
        let batch = isWide ? "  " + names.fitted(to: width / 4, mark: look.glyphs.cutMark) : SafeText("")
        let room = max(4, width - 5 - max(13, files.width) - batch.width)
        let text = look.safe(cause.happening).shortened(to: room, mark: look.glyphs.cutMark)
        grid.put(text, row: row, column: 3)
        let end = width - 1 - batch.width
        grid.put(files, row: row, column: max(4, end - files.width))
        grid.put(batch, row: row, column: end)
        guard isSelected else { return }
        grid.restyle(row: row) { $0.isSelected = true }
        cursor = Cursor(row: row, column: min(3, width - 1))
    }

    private func words(_ cause: ProblemsPage.Cause) -> [StyledLine] {
        let places = cause.batches.prefix(4).map { place in
            "\"\(look.safe(place.name).shortened(to: 40, mark: look.glyphs.cutMark).string)\" "
                + Figures.amount(place.files, "file")
        }
        let more = cause.batches.count > 4 ? " and \(cause.batches.count - 4) more batches" : ""
        let key = model.keys.keys(for: .retry, in: .problems).first?.name ?? "retry"
        let then: SafeText = cause.advice.contains("retry") ? ": \(key) does" : ", then \(key)"
        let fields: [(SafeText, SafeText)] = [
            ("What happened", look.safe(cause.happening)),
            ("What to do", look.safe(cause.advice.isEmpty ? "mend that" : cause.advice) + then),
            ("Where", SafeText(places.joined(separator: ", ") + more)),
            ("Not lost", "Nothing was deleted. Each file goes on where it stood, if the server can."),
        ]
        return fields.flatMap { label, value in
            value.wrapped(to: max(8, width - DetailsText.indent - 2)).enumerated().map { index, part in
                StyledLine((index == 0 ? label : "").fitted(to: DetailsText.indent), .dim) + StyledLine(part)
            }
        }
    }
}
