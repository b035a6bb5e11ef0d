import DisplayText
import MartletKit
import Terminal

/// The page of problems: the causes, and below them the one under the cursor in words.
extension Drawing {
    mutating func problems(_ page: ProblemsPage) {
        let causes = Figures.amount(Int64(page.causes.count), "cause")
        // Of those that wait only the sums know how many they are.
        let files = max(page.files, model.totals?.problems ?? 0)
        let sum = page.isKnown ? "\(Figures.amount(files, "file")) in \(causes)" : ""
        title("Problems", "", right: SafeText(page.causes.isEmpty ? "" : sum))
        let first = rows >= 12 ? 2 : 1
        defer { footer(page.causes.isEmpty ? [.back, .help] : [.back, .enter, .retry, .help], in: .problems) }
        cursor = Cursor(row: min(1, rows - 1), column: min(2, width - 1))
        let end = max(1, rows - 1)
        guard !page.causes.isEmpty else {
            let text: SafeText = page.problem ?? (page.isKnown ? "Nothing has failed, and nothing needs you." : "")
            for (row, line) in zip(1..<end, text.wrapped(to: width - 3)) { grid.put(line, row: row, column: 2) }
            return
        }
        // In a low window the words go, not the causes.
        let text = page.cause.map { problemWords($0, width: width) } ?? []
        let room = end - first
        let height = min(page.causes.count, max(min(3, room), room - text.count - 3))
        let top = max(0, min(page.selected - height + 1, page.causes.count - height))
        if first > 1 { columnTitles() }
        for (row, index) in zip(first..<(first + height), top..<page.causes.count) {
            line(page.causes[index], row, isSelected: index == page.selected)
        }
        let start = first + height
        guard end - start >= 4 else { return }
        heading(SafeText(page.cause?.title ?? ""), row: start + 1, columns: 0..<width)
        for (row, line) in zip((start + 2)..<(end - 1), text) { grid.put(line, row: row, column: 1) }
    }

    /// Where the batches' names begin; `nil`: there is no room for them.
    private var batchColumn: Int? { width >= 56 ? width - width / 4 - 1 : nil }

    private mutating func columnTitles() {
        let end = (batchColumn ?? width) - 2
        grid.put("Cause", row: 1, column: 3, style: .title)
        grid.put("Files", row: 1, column: end - 4, style: .title)
        if let batchColumn { grid.put("Batch", row: 1, column: batchColumn, style: .title) }
    }

    private mutating func line(_ cause: ProblemsPage.Cause, _ row: Int, isSelected: Bool) {
        let state = cause.state
        grid.put(SafeText([Glyph(state.sign(look.glyphs))]), row: row, column: 1, style: state.style)
        let files = SafeText(cause.files > 0 ? Figures.count(cause.files) : state.word)
        let end = (batchColumn ?? width) - 1
        let room = max(4, end - 5 - max(7, files.width))
        let happening = look.safe(cause.happening)
        let isCut = happening.width > room
        let mark = SafeText(isCut ? [Glyph(look.glyphs.cutMark)] : [])
        grid.put(happening.beginning(of: room - mark.width) + mark, row: row, column: 3)
        grid.put(files, row: row, column: max(4, end - files.width))
        if let batchColumn {
            let names = look.safe(cause.batches.map(\.name).joined(separator: ", "))
            grid.put(
                names.shortened(to: width - 1 - batchColumn, mark: look.glyphs.cutMark), row: row, column: batchColumn)
        }
        guard isSelected else { return }
        grid.restyle(row: row) { $0.isSelected = true }
        cursor = Cursor(row: row, column: min(3, width - 1))
    }

    func problemWords(_ cause: ProblemsPage.Cause, width: Int) -> [StyledLine] {
        let places = cause.batches.prefix(4).map { place in
            let name = "\"\(look.safe(place.name).shortened(to: 40, mark: look.glyphs.cutMark).string)\""
            return place.files > 0 ? name + " " + Figures.amount(place.files, "file") : name
        }
        let more = cause.batches.count > 4 ? " and \(cause.batches.count - 4) more batches" : ""
        let key = model.keys.keys(for: .retry, in: .problems).first?.name ?? "retry"
        let batch = cause.batches.count == 1 ? cause.batches[0].batch.description : "BATCH"
        let moves = Moves(
            retry: key, runNow: "o", startEngine: "martlet engine start",
            letIn: "martlet set \(batch) --header, --user or --s3-keys gives what lets it in anew")
        let fields: [(SafeText, SafeText)] = [
            ("What happened", look.safe(cause.happening)),
            ("What it means", look.safe(cause.meaning ?? "Nothing of it is sent until that is done.")),
            ("What to do", look.safe(cause.remedy(moves))),
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
