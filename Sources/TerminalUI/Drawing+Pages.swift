import DisplayText
import MartletKit
import Terminal

/// What stands under the tree, in its place when it is empty, and on pages of their own.
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
        return [
            "Nothing is being transferred.", "", key(.add) + "add files or folders",
            key(.help) + "all keys", key(.leave) + "leave", "",
            "From a shell:  martlet upload FILE... URL", "Or paste paths here.", "",
            "You can leave at any time: transfers go on,", "and martlet shows them when you come back.",
        ]
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
        let chart = width >= 110 ? 50 : 0
        let room = width - chart
        heading("Details", row: layout.lower.lowerBound, columns: 0..<(chart > 0 ? room - 2 : room))
        let lines = DetailsText(DetailsPage(row: row), look, model.now).lines(width: room - 2)
        let name = StyledLine((row.name.isEmpty ? RowLabel.group(row, more: false) : look.safe(row.name)), .marked)
        for (y, line) in zip(layout.lower.dropFirst(), [name] + lines) {
            grid.put(line, row: y, column: 1, end: room - 2)
        }
        if chart > 0 { throughput(room..<width) }
    }

    private mutating func heading(_ title: SafeText, row: Int, columns: Range<Int>) {
        grid.fill(row: row, columns: columns, with: Glyph("-"), style: .dim)
        grid.put(" " + title + " ", row: row, column: columns.lowerBound + 1, end: columns.upperBound)
    }

    private mutating func throughput(_ columns: Range<Int>) {
        let bars = columns.dropFirst(8).dropLast(1)
        let speeds = model.throughput.speeds(bars.count, at: model.now.uptime)
        let minutes = bars.count * Int(Throughput.step.components.seconds) / 60
        let title = SafeText("Throughput, \(minutes) min")
        heading(title, row: layout.lower.lowerBound, columns: columns)
        let lines = layout.lower.dropFirst()
        let top = max(1, speeds.max() ?? 1)
        if top > 1 {
            let label = SafeText(look.figures.speed(top)).fitted(to: 7, .right)
            grid.put(label, row: lines.lowerBound, column: columns.lowerBound, style: .dim)
        }
        grid.put(
            SafeText("0").fitted(to: 7, .right), row: lines.upperBound - 1, column: columns.lowerBound, style: .dim)
        for (x, speed) in zip(bars, speeds) where speed > 0 {
            let steps = look.glyphs == .unicode ? 8 : 1
            // What moved at all shows.
            let filled = max(1, Int(Double(speed) / Double(top) * Double(lines.count * steps)))
            for (above, y) in lines.reversed().enumerated() {
                let rest = min(steps, filled - above * steps)
                guard rest > 0 else { break }
                grid.put(column(rest, of: steps), row: y, column: x, style: .info)
            }
        }
    }

    private func column(_ filled: Int, of steps: Int) -> SafeText {
        guard look.glyphs == .unicode else { return look.glyphs == .narrow ? "▮" : "#" }
        let blocks: [SafeText] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        return blocks[min(filled, steps) - 1]
    }

    // MARK: Pages

    mutating func details(_ page: DetailsPage) {
        let row = page.row
        let name = row.name.isEmpty ? RowLabel.group(row, more: false) : look.safe(row.name)
        title("Details", name)
        let lines = DetailsText(page, look, model.now).lines(width: width)
        text(lines.dropFirst(page.scroll), 1..<max(1, rows - 2))
        footer([.back, .pause, .cancel, .retry, .why], in: .details)
    }

    mutating func log(_ page: LogPage) {
        title("Log", page.back > 0 ? "not following" : "newest last")
        let height = max(0, rows - 2)
        var lines = page.window(height).flatMap { line -> [StyledLine] in
            let head = look.safe("\(look.timeOfDay(line.at)) \(line.level.rawValue.uppercased())").fitted(to: 17)
            let place = (line.task?.description ?? line.batch?.description).map { $0 + " " } ?? ""
            let style: Style = line.level == .error ? .error : line.level == .warning ? .warn : .plain
            let parts = look.safe(place + line.message).wrapped(to: max(10, width - 18))
            return parts.enumerated().map { index, part in
                (index == 0 ? StyledLine(head, style) : StyledLine(SafeText("").fitted(to: 17))) + StyledLine(part)
            }
        }
        if let problem = page.problem { lines.append(StyledLine(problem, .error)) }
        if lines.isEmpty { lines = [StyledLine("Nothing was logged yet.")] }
        text(lines.suffix(height), 1..<max(1, rows - 1))
        footer([.back], in: .log, keepsMessage: false)
    }

    mutating func help(_ scroll: Int) {
        title("Help", "every key, as it is set")
        let lines = HelpPage.lines(model.keys, look, width: width)
        let height = max(0, rows - 2)
        text(lines.dropFirst(scroll).prefix(height), 1..<max(1, rows - 1))
        footer([.back], in: .help, keepsMessage: false)
        if scroll + height < lines.count, rows > 1 {
            let more: SafeText = "more below: PgDn "
            grid.put(more, row: rows - 1, column: max(0, width - more.width), style: .hint)
        }
    }

    private mutating func title(_ title: SafeText, _ rest: SafeText) {
        grid.fill(row: 0, style: .header)
        let start = grid.put(" " + title + "  ", row: 0, column: 0, style: .header)
        let room = max(0, width - start - 1)
        grid.put(rest.shortened(to: room, mark: look.glyphs.cutMark), row: 0, column: start, style: .header)
    }

    private mutating func text(_ lines: some Sequence<StyledLine>, _ place: Range<Int>) {
        for (row, line) in zip(place, lines) { grid.put(line, row: row, column: 1) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
    }

    private mutating func footer(_ actions: [Action], in view: KeyMap.View, keepsMessage: Bool = true) {
        guard rows > 1 else { return }
        hintLine(HintLine.text(actions, in: view, model.keys, width: width), rows - 1)
        guard keepsMessage, rows > 3, let notice = model.notice else { return }
        var text = notice.text
        if let until = notice.undo?.until { text += "  u undo (\(model.now.seconds(until: until)) s)" }
        let style: Style = notice.isError ? .error : .plain
        grid.put(text.shortened(to: width - 2, mark: look.glyphs.cutMark), row: rows - 2, column: 1, style: style)
    }

    // MARK: A question

    mutating func dialog(_ dialog: Dialog) {
        let choices = dialog.choices.enumerated().map { index, choice -> SafeText in
            let letter = choice.letter.map { "(\(Character($0)))" } ?? "(Esc)"
            return SafeText("\(index == dialog.selected ? ">" : " ") \(choice.text)  \(letter)")
        }
        // In a low window the explanation goes before the answers do.
        let space = max(0, rows - 2 - choices.count)
        let body = Array(dialog.lines.prefix(max(0, space - 2)))
        let gap: [SafeText] = space > body.count + 1 && !body.isEmpty ? [""] : []
        let lines = body + gap + choices
        let wanted = max(dialog.title.width + 6, (lines.map(\.width).max() ?? 0) + 4)
        let boxWidth = min(width, wanted + 2)
        let left = (width - boxWidth) / 2
        let height = min(rows, lines.count + 2)
        let top = max(0, (rows - height) / 3)
        let inside = max(0, boxWidth - 4)
        edge(top, left, boxWidth, dialog.title)
        for (index, line) in lines.enumerated() {
            let row = top + 1 + index
            guard row < rows else { break }
            grid.fill(row: row, columns: left..<(left + boxWidth), style: .plain)
            grid.put("|", row: row, column: left, end: left + boxWidth)
            grid.put("|", row: row, column: left + boxWidth - 1)
            let isSelected = index - body.count - gap.count == dialog.selected
            let style = Style(.plain, selected: isSelected)
            if isSelected { grid.fill(row: row, columns: (left + 2)..<(left + 2 + inside), style: style) }
            grid.put(line.shortened(to: inside, mark: look.glyphs.cutMark), row: row, column: left + 2, style: style)
            if isSelected { cursor = Cursor(row: row, column: min(width - 1, left + 4)) }
        }
        if top + lines.count + 1 < rows { edge(top + lines.count + 1, left, boxWidth, "") }
    }

    private mutating func edge(_ row: Int, _ left: Int, _ boxWidth: Int, _ title: SafeText) {
        grid.fill(row: row, columns: left..<(left + boxWidth), with: Glyph("-"), style: .plain)
        grid.put("+", row: row, column: left)
        grid.put("+", row: row, column: left + boxWidth - 1)
        guard title.width > 0 else { return }
        let room = max(0, boxWidth - 6)
        let text = " " + title.shortened(to: room, mark: look.glyphs.cutMark) + " "
        grid.put(text, row: row, column: left + 2, style: .marked, end: left + boxWidth - 1)
    }
}
