import DisplayText
import MartletKit
import Terminal

/// The steps in which something is typed: URLs, and where to.
extension Drawing {
    // MARK: URLs

    mutating func links(_ flow: AddFlow) {
        steps(flow)
        let links = flow.links
        let (first, last) = (rows > 8 ? 2 : min(1, rows - 1), max(min(1, rows - 1), rows - 3))
        let fieldRow = min(last, first + links.urls.count + (rows > 8 ? 1 : 0))
        let room = max(0, fieldRow - first - (rows > 8 ? 1 : 0))
        let start = links.selected.map { max(0, min($0, links.urls.count - room)) } ?? max(0, links.urls.count - room)
        for (y, index) in zip(first..<(first + room), start..<max(start, links.urls.count)) {
            let url = appearance.safe(TransferURL.withoutPassword(links.urls[index]))
            grid.put(url.shortened(to: width - 4, mark: appearance.glyphs.cutMark), row: y, column: 3)
            guard index == links.selected else { continue }
            grid.restyle(row: y) { $0.isSelected = true }
            cursor = Cursor(row: y, column: 3)
        }
        if links.selected == nil {
            typed("URL: ", links.field, fieldRow)
        } else {
            grid.put("URL:", row: fieldRow, column: 1, style: .marked)
        }
        let help: SafeText =
            links.selected == nil
            ? "One URL a line; many can be pasted. https, http, sftp, ftp, s3, dav."
            : "x takes this one out of the list."
        stepNote(links.note, help: help)
        let hints = [
            ("Enter", links.field.isEmpty ? "go on" : "take it"), ("F2", "next"), ("Up", "list"), ("Esc", "close"),
            ("F1", "help"),
        ]
        if rows > 1 { hintLine(HintLine.text(hints, width: width), rows - 1) }
    }

    /// The last but one line: what was said, or what to do.
    mutating func stepNote(_ note: (text: SafeText, isError: Bool)?, help: SafeText) {
        guard rows > 3 else { return }
        if let note {
            let lines = note.text.wrapped(to: width - 2, lines: rows > 8 ? 3 : 1, appearance.glyphs)
            for (y, line) in zip((rows - 1 - lines.count)..., lines) {
                grid.fill(row: y, style: .plain)
                grid.put(line, row: y, column: 1, style: note.isError ? .error : .plain)
            }
        } else {
            grid.put(help.cut(to: width - 2, appearance.glyphs), row: rows - 2, column: 1, style: .dim)
        }
    }

    // MARK: Where to

    mutating func destination(_ flow: AddFlow) {
        let step = flow.destination
        if rows > 3 { steps(flow) }
        var row = rows > 3 ? 1 : 0
        if rows > 10 {
            grid.put("What", row: row, column: 1, style: .dim)
            grid.put(SafeText(flow.picker.basket.totals.line(appearance.figures)), row: row, column: 11, end: width)
            row = 3
        }
        let fieldRow = row
        row = fieldRow + (rows > 10 ? 2 : 1)
        let end = max(row, rows - (rows > 14 ? 5 : rows > 3 ? 2 : 1))
        let shown = step.shown
        let first = step.selected.map { max(0, $0 - (end - row) + 1) } ?? 0
        for (y, index) in zip(row..<end, first..<max(first, shown.count)) {
            draw(shown[index], y)
            if index == step.selected { grid.restyle(row: y) { $0.isSelected = true } }
        }
        if shown.isEmpty, end > row {
            let text: SafeText =
                step.field.isEmpty
                ? "No server is known here yet: type where to; next time it is offered."
                : "Nothing known begins so: Enter goes there."
            grid.put(text.shortened(to: width - 4, mark: appearance.glyphs.cutMark), row: row, column: 3, style: .dim)
        }
        if rows > 14 {
            grid.put(
                "sftp://host/folder/   https://host/folder/   s3://bucket/folder/", row: rows - 4, column: 1,
                style: .dim)
            let plain = TransferScheme.plain.map { "\($0.rawValue)://" }
            grid.put(
                SafeText("\(plain[0])host/folder/   \(plain.dropFirst().joined(separator: " ")) tus+https://"),
                row: rows - 3, column: 1, style: .dim)
        }
        stepNote(step.note.map { ($0, true) }, help: "With a / at its end it is a folder, and names are kept below it.")
        typed("Where to: ", step.field, fieldRow)
        guard rows > 1 else { return }
        hintLine(
            HintLine.text(
                [("Enter", "next"), ("Up Down", "choose"), ("Esc", "back"), ("^C", "close"), ("F1", "help")],
                width: width),
            rows - 1)
    }

    private mutating func draw(_ choice: DestinationStep.Choice, _ row: Int) {
        let detail = appearance.safe(choice.detail)
        let text = appearance.safe(choice.text)
        let column = max(3, min(30, width / 2))
        if choice.isConfigured, width >= 48 {
            grid.put(
                text.shortened(to: column - 4, mark: appearance.glyphs.cutMark), row: row, column: 3, style: .marked)
            grid.put(
                detail.shortened(to: width - column - 1, mark: appearance.glyphs.cutMark), row: row, column: column)
        } else {
            let room = width - 4 - (width >= 48 ? detail.width + 2 : 0)
            grid.put(text.shortened(to: room, mark: appearance.glyphs.cutMark), row: row, column: 3)
            if width >= 48 { grid.put(detail, row: row, column: width - 1 - detail.width, style: .dim) }
        }
    }
}
