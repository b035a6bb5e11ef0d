import DisplayText
import MartletKit
import Terminal

/// The steps in which something is typed: URLs, where to, and the last look.
extension Drawing {
    // MARK: URLs

    mutating func links(_ flow: AddFlow) {
        steps(flow)
        let links = flow.links
        let (first, last) = (rows > 8 ? 2 : 1, max(1, rows - 3))
        let fieldRow = min(last, first + links.urls.count + (rows > 8 ? 1 : 0))
        let room = max(0, fieldRow - first - (rows > 8 ? 1 : 0))
        let start = links.selected.map { max(0, min($0, links.urls.count - room)) } ?? max(0, links.urls.count - room)
        for (y, index) in zip(first..<(first + room), start..<max(start, links.urls.count)) {
            let url = look.safe(AddOrder.withoutPassword(links.urls[index]))
            grid.put(url.shortened(to: width - 4, mark: look.glyphs.cutMark), row: y, column: 3)
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
        ]
        if rows > 1 { hintLine(HintLine.text(hints, width: width), rows - 1) }
    }

    /// The last but one line: what was said, or what to do.
    private mutating func stepNote(_ note: (text: SafeText, isError: Bool)?, help: SafeText) {
        guard rows > 3 else { return }
        if let note {
            let lines = note.text.wrapped(to: width - 2).prefix(rows > 8 ? 3 : 1)
            for (y, line) in zip((rows - 1 - lines.count)..., lines) {
                grid.fill(row: y, style: .plain)
                grid.put(line, row: y, column: 1, style: note.isError ? .error : .plain)
            }
        } else {
            grid.put(help.shortened(to: width - 2, mark: look.glyphs.cutMark), row: rows - 2, column: 1, style: .dim)
        }
    }

    // MARK: Where to

    mutating func destination(_ flow: AddFlow) {
        let step = flow.destination
        if rows > 3 { steps(flow) }
        var row = rows > 3 ? 1 : 0
        if rows > 10 {
            grid.put("What", row: row, column: 1, style: .dim)
            grid.put(SafeText(flow.picker.basket.totals.line(look.figures)), row: row, column: 11, end: width)
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
            grid.put("Nothing is known yet: type where to.", row: row, column: 3, style: .dim)
        }
        if rows > 14 {
            grid.put(
                "sftp://host/folder/   https://host/folder/   s3://bucket/folder/", row: rows - 4, column: 1,
                style: .dim)
            grid.put(
                "ftp://host/folder/   ftps:// ftpes:// dav:// davs:// tus+https://", row: rows - 3, column: 1,
                style: .dim)
        }
        stepNote(step.note.map { ($0, true) }, help: "With a / at its end it is a folder, and names are kept below it.")
        typed("Where to: ", step.field, fieldRow)
        guard rows > 1 else { return }
        hintLine(
            HintLine.text([("Enter", "next"), ("Up Down", "choose"), ("Esc", "back"), ("^C", "close")], width: width),
            rows - 1)
    }

    private mutating func draw(_ choice: DestinationStep.Choice, _ row: Int) {
        let detail = look.safe(choice.detail)
        let text = look.safe(choice.text)
        let column = max(3, min(30, width / 2))
        if choice.isConfigured, width >= 48 {
            grid.put(text.shortened(to: column - 4, mark: look.glyphs.cutMark), row: row, column: 3, style: .marked)
            grid.put(detail.shortened(to: width - column - 1, mark: look.glyphs.cutMark), row: row, column: column)
        } else {
            let room = width - 4 - (width >= 48 ? detail.width + 2 : 0)
            grid.put(text.shortened(to: room, mark: look.glyphs.cutMark), row: row, column: 3)
            if width >= 48 { grid.put(detail, row: row, column: width - 1 - detail.width, style: .dim) }
        }
    }

    // MARK: The last look

    mutating func review(_ flow: AddFlow) {
        guard let review = flow.review else { return }
        if rows > 3 { steps(flow) }
        let facts = facts(flow, review)
        // What is sent where stays in sight while the fields scroll.
        let pinned = rows >= 12 ? facts : []
        var top = rows > 16 ? 2 : rows > 3 ? 1 : 0
        for line in pinned {
            grid.put(line, row: top, column: 1, end: width)
            top += 1
        }
        if rows > 16 { top += 1 }
        let lines = (rows >= 12 ? [] : facts.map { ($0, nil) }) + fieldLines(review)
        let height = max(1, rows - top - (rows > 3 ? 2 : rows > 1 ? 1 : 0))
        let selected = lines.lastIndex { $0.field == review.form.selected } ?? 0
        // From the top as long as everything fits up to the selected line.
        let first = max(0, min(selected - height + 1 + (lines.count > selected + 1 ? 1 : 0), lines.count - height))
        for (y, line) in zip(top..<(top + height), lines.dropFirst(first)) {
            grid.put(line.text, row: y, column: 1, end: width)
            guard let field = line.field else { continue }
            if field == review.form.fields.count { buttonRow(review.form, y) } else { draw(review.form, field, y) }
        }
        stepNote(
            review.isQueueing ? ("Queueing ...", false) : review.note, help: look.safe(review.form.help))
        guard rows > 1 else { return }
        let hints = [("F2", "start"), ("Tab", "next field"), ("Space", "choose"), ("Esc", "back"), ("^C", "close")]
        hintLine(HintLine.text(hints, width: width), rows - 1)
    }

    private static let labelWidth = 14

    /// What is known of it that is no choice.
    private func facts(_ flow: AddFlow, _ review: ReviewStep) -> [StyledLine] {
        func fact(_ label: SafeText, _ value: SafeText, _ style: Style = .plain) -> StyledLine {
            let room = width - Self.labelWidth - 2
            return StyledLine(label.fitted(to: Self.labelWidth), .dim)
                + StyledLine(value.shortened(to: room, mark: look.glyphs.cutMark), style)
        }
        let totals = flow.picker.basket.totals
        switch review.work {
        case .upload(_, let destination):
            var lines = [
                fact("What", SafeText(totals.line(look.figures))), fact("Where to", shownPlace(destination, flow)),
            ]
            if totals.unreadable > 0 { lines.append(fact("Cannot read", unreadable(flow.picker.basket), .warn)) }
            if let (text, style) = server(review, needs: totals) { lines.append(fact("Server", text, style)) }
            return lines
        case .download(let urls, let folder):
            let first = look.safe(AddOrder.withoutPassword(urls.first ?? ""))
            let more = urls.count > 1 ? SafeText(" and \(urls.count - 1) more") : ""
            return [fact("What", first + more), fact("Into", tilde(folder))]
        }
    }

    /// A configured server with what it stands for.
    private func shownPlace(_ text: String, _ flow: AddFlow) -> SafeText {
        let shown = look.safe(AddOrder.withoutPassword(text))
        guard !text.contains("://"), let place = try? flow.book.place(text, "") else { return shown }
        return shown + "  =  " + look.safe(place.url.text)
    }

    /// What the server said of itself, and whether there is room.
    private func server(_ review: ReviewStep, needs totals: Basket.Totals) -> (SafeText, Style)? {
        guard review.tested != nil else { return nil }
        switch review.finding {
        case nil: return ("asking ...", .dim)
        case .failed(let why)?: return (look.safe(why), .warn)
        case .report(let report)?:
            guard report.ok else { return (look.safe(report.error?.message ?? "it cannot be used"), .error) }
            if let free = report.freeBytes, free < totals.bytes {
                return (
                    "\(look.figures.size(free)) free, needs \(look.figures.size(totals.bytes)): make room there", .error
                )
            }
            return (look.safe(report.facts(look.figures.units)), .plain)
        case .changed?: return nil
        }
    }

    /// The fields, the command and the buttons, with the field that each line is for.
    private func fieldLines(_ review: ReviewStep) -> [(text: StyledLine, field: Int?)] {
        let gap: [(StyledLine, Int?)] = rows >= 20 ? [(StyledLine(), nil)] : []
        var lines: [(StyledLine, Int?)] = []
        for (index, field) in review.form.fields.enumerated() {
            lines.append((StyledLine(SafeText(field.label).fitted(to: Self.labelWidth), .dim), index))
        }
        lines += gap + [(StyledLine("The same as a command:", .dim), nil)]
        let command = bytes(review.sketch.command(home: model.shellWords.home))
        lines += command.wrapped(to: max(8, width - 4)).map { (StyledLine("  " + $0), nil) }
        return lines + gap + [(StyledLine(), review.form.fields.count)]
    }

    private func unreadable(_ basket: Basket) -> SafeText {
        let items = basket.first(200).filter { $0.count.unreadable > 0 }
        let name = items.first.flatMap { item in
            item.count.firstUnreadable.first.map { bytes(ShellWords.last(item.path) + [UInt8(ascii: "/")] + $0) }
        }
        let count = SafeText(Figures.amount(basket.totals.unreadable, "name"))
        return name.map { count + ": " + $0 + (basket.totals.unreadable > 1 ? ", ..." : "") } ?? count
    }

    private mutating func draw(_ form: Form<ReviewStep.FieldID>, _ index: Int, _ row: Int) {
        let column = 1 + Self.labelWidth
        let isSelected = index == form.selected
        switch form.fields[index].value {
        case .text(let field, let isSecret):
            let end = min(width - 1, column + 46)
            guard end > column + 4 else { return }
            grid.put("[", row: row, column: column)
            grid.put("]", row: row, column: end - 1)
            let before = cursor
            typed("", field, row, column: column + 1, isSecret: isSecret, end: end - 1)
            if !isSelected { cursor = before }
        case .choice(let choices, let chosen):
            let place = choiceRow(choices, chosen, row, column)
            if isSelected { cursor = Cursor(row: row, column: min(width - 1, place)) }
        }
        if isSelected { grid.restyle(row: row, columns: 0..<column) { $0 = Style(.plain, selected: true) } }
    }

    /// All of them when there is room, else the chosen one. Where its word begins.
    private mutating func choiceRow(
        _ choices: [Form<ReviewStep.FieldID>.Choice], _ chosen: Int, _ row: Int, _ column: Int
    ) -> Int {
        let parts = choices.enumerated().map { "(\($0 == chosen ? "o" : " ")) \($1.word)" }
        if parts.joined(separator: "  ").count <= width - column - 1 {
            var (place, start) = (column, column)
            for (index, part) in parts.enumerated() {
                if index == chosen { start = place + 1 }
                place = grid.put(SafeText(part), row: row, column: place, style: index == chosen ? .marked : .plain) + 2
            }
            return start
        }
        grid.put(SafeText("< \(choices[chosen].word) >"), row: row, column: column, style: .marked)
        return column
    }
}
