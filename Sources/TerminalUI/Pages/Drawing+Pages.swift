import DisplayText
import MartletKit
import Terminal

/// The parts under the tree, those in its place when it is empty, and the pages of their own.
extension Drawing {
    // MARK: Nothing to show

    mutating func welcome() {
        let lines = model.isConnected ? welcomeLines : engineLines
        let widest = lines.map(\.width).max() ?? 0
        let column = max(0, min(14, (width - widest) / 2))
        let free = layout.tree.count - lines.count
        let start = layout.tree.lowerBound + max(0, free / 3)
        for (row, line) in zip(start..<max(start, layout.tree.upperBound), lines) {
            grid.put(line, row: row, column: column)
        }
        cursor = Cursor(row: min(start, rows - 1), column: min(column, width - 1))
    }

    private func key(_ action: Action, in view: KeyMap.View = .transfers) -> SafeText {
        SafeText(model.keys.keys(for: action, in: view).first?.name ?? "-").fitted(to: 5)
    }

    private var welcomeLines: [SafeText] {
        guard model.tree.isKnown else { return [] }
        if let machine = model.machine {
            return [
                "Nothing is being transferred on \(machine).", "", key(.help) + "all keys", key(.leave) + "leave", "",
                "From a shell there:  martlet upload FILE... URL", "",
                "You can leave at any time: transfers go on.",
            ]
        }
        return ["Nothing is being transferred."] + finished + [
            "", key(.add) + "add files or folders",
            key(.help) + "all keys", key(.leave) + "leave", key(.download) + "download URLs",
            key(.destinations) + "set up a server: it has a name from then on", key(.history) + "what is finished",
            key(.command) + "type a command", "",
            "From a shell:  martlet upload FILE... URL", "Or paste paths here.", "",
            "You can leave at any time: transfers go on,", "and martlet shows them when you come back.",
        ]
    }

    private var finished: [SafeText] {
        guard case .known(let today, _)? = model.finishedToday, let line = today.line(look.figures) else { return [] }
        return [line]
    }

    private var engineLines: [SafeText] {
        switch model.link {
        case .failed(let error):
            return ["There is no engine to show anything of.", ""]
                + look.safe(error.message).wrapped(to: max(10, width - 4)) + [
                    "", key(.retryNow, in: .lost) + "try again", key(.startEngine, in: .lost) + "start an engine",
                    key(.leave) + "leave",
                ]
        default: return ["Waiting for the engine..."]
        }
    }

    // MARK: Under the tree

    mutating func lower() {
        guard !layout.lower.isEmpty, let row = model.tree.cursorRow else { return }
        let chartWidth = width >= 110 ? 52 : 0
        let room = width - chartWidth
        let keys: SafeText = model.isInLower ? "   \(model.key(.maximise)) whole page   \(model.key(.back)) back" : ""
        heading(
            "Details" + keys, row: layout.lower.lowerBound, columns: 0..<(chartWidth > 0 ? room - 2 : room),
            style: model.isInLower ? .marked : .plain)
        // Labels are as plain as values here: a colour more in each line would make a cursor key cost the line too much.
        let lines = DetailsText(DetailsPage(row: row), in: model).facts(width: room - 2).map { line in
            line.pieces.reduce(into: StyledLine()) { $0.append($1.text, $1.style == .dim ? .plain : $1.style) }
        }
        let name = StyledLine((row.name.isEmpty ? RowLabel.group(row, look) : look.safe(row.name)), .marked)
        for (y, line) in zip(layout.lower.dropFirst(), [name] + lines.dropFirst(model.lowerScroll ?? 0)) {
            grid.put(line, row: y, column: 1, end: room - 2)
        }
        if model.isInLower { cursor = Cursor(row: layout.lower.lowerBound + 1, column: 1) }
        if chartWidth > 0 {
            heading("Throughput of everything, 5 min", row: layout.lower.lowerBound, columns: room..<width)
            chart(model.throughput, rows: layout.lower.dropFirst(), columns: room..<(width - 1))
        }
    }

    mutating func heading(_ title: SafeText, row: Int, columns: Range<Int>, style: Style = .plain) {
        grid.fill(row: row, columns: columns, with: Glyph("-"), style: .dim)
        grid.put(" " + title + " ", row: row, column: columns.lowerBound + 1, style: style, end: columns.upperBound)
    }

    // MARK: Pages

    mutating func details(_ page: DetailsPage) {
        let row = page.row
        let name = row.name.isEmpty ? RowLabel.group(row, look) : look.safe(row.name)
        let state = model.state(of: row)
        let figures = RowFigures(row, look)
        title("Details", name, right: SafeText("\(state.longWord) \(figures.percent)%"), isName: true)
        let lines = DetailsText(page, in: model).lines(width: width)
        let first = DetailsPage.firstLine(rows: rows)
        if first > 1 {
            let left = row.secondsLeft.map { "   \(Figures.timeLeftInWords($0)) left" } ?? ""
            let done = "  \(look.figures.size(row.bytes.done)) of \(figures.size)" + (state == .running ? left : "")
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

    mutating func log(_ page: LogPage) {
        let below = page.back > 0 ? ", \(page.back) newer below" : ""
        title(
            "Log", page.isFollowing ? "follows, newest last" : "does not follow\(SafeText(below))",
            right: "level \(page.level.rawValue)")
        let height = max(0, rows - 2)
        var lines = page.window(height).flatMap { line -> [StyledLine] in
            let head = look.safe("\(look.timeOfDay(line.at)) \(line.level.word)").fitted(to: 15)
            let parts = look.safe(line.subject + line.message).wrapped(to: max(10, width - 17))
            return parts.enumerated().map { index, part in
                (index == 0 ? StyledLine(head, line.level.style) : StyledLine(SafeText("").fitted(to: 15)))
                    + StyledLine(part)
            }
        }
        if let problem = page.problem { lines.append(StyledLine(problem, .error)) }
        if lines.isEmpty {
            lines = [StyledLine(page.find.isEmpty ? "Nothing was logged yet." : "No line has that in it.")]
        }
        text(lines.suffix(height), 1..<max(1, rows - 1))
        footer([.back, .filter, .level, .follow, .write, .copy, .help], in: .log)
        guard page.find.isShown, rows > 2 else { return }
        finding(page.find, SafeText("\(page.found.count) of \(page.lines.count)"))
    }

    /// - Parameter rest: what it is about; a name keeps its ending when it is cut.
    mutating func title(_ title: SafeText, _ rest: SafeText, right: SafeText = "", isName: Bool = false) {
        grid.fill(row: 0, style: .header)
        let start = grid.put(" " + title + "  ", row: 0, column: 0, style: .header)
        let isRight = right.width > 0 && width - start - right.width >= 12
        if isRight { grid.put(right, row: 0, column: width - 1 - right.width, style: .header) }
        let room = max(0, width - start - 1 - (isRight ? right.width + 2 : 0))
        let text = isName ? rest.shortened(to: room, mark: look.glyphs.cutMark) : rest.cut(to: room, look.glyphs)
        grid.put(text, row: 0, column: start, style: .header)
    }

    private mutating func text(_ lines: some Sequence<StyledLine>, _ place: Range<Int>) {
        for (row, line) in zip(place, lines) { grid.put(line, row: row, column: 1) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
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

    // MARK: A question

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
        guard notes > 0, aligned <= width else { return text.cut(to: max(3, width - key.width), look.glyphs) + key }
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
                dialog.title.cut(to: width, look.glyphs), row: last - 1, column: 0, style: .marked)
        }
        grid.put(SafeText(keys).beginning(of: width), row: last, column: 0, style: .hint)
        cursor = Cursor(row: last, column: 0)
    }

    mutating func edge(_ row: Int, _ left: Int, _ boxWidth: Int, _ title: SafeText) {
        // What is cut in two beside a box would only be in the way.
        grid.fill(row: row, style: .plain)
        grid.fill(row: row, columns: left..<(left + boxWidth), with: Glyph("-"), style: .plain)
        grid.put("+", row: row, column: left)
        grid.put("+", row: row, column: left + boxWidth - 1)
        guard title.width > 0 else { return }
        let room = max(0, boxWidth - 6)
        let text = " " + title.shortened(to: room, mark: look.glyphs.cutMark) + " "
        grid.put(text, row: row, column: left + 2, style: .marked, end: left + boxWidth - 1)
    }
}
