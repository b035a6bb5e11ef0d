import DisplayText
import MartletKit
import Terminal

/// The page of transfers: the header, the rows of the list and the lines below them.
extension Drawing {
    mutating func transfers() {
        header()
        total()
        titles()
        if !model.tree.items.isEmpty {
            tree()
        } else if model.filters.shown == nil {
            welcome()
        } else {
            nothingMatches()
        }
        lower()
        lowerLog()
        path()
        marks()
        hints()
        filterStanding()
        message()
    }

    private mutating func tree() {
        let columns = model.columns
        let rowDrawing = RowDrawing(
            model: model, columns: columns, namesSessions: model.tree.hasSessions, twinNames: model.tree.twinNames)
        for (row, index) in zip(layout.tree, model.tree.window) {
            let item = model.tree.items[index]
            rowDrawing.draw(item, row, &grid)
            // Numbers of a while ago are no news.
            if !model.canChange { grid.restyle(row: row) { $0.role = .dim } }
            guard item.id == model.tree.cursor else { continue }
            grid.restyle(row: row) { $0.isSelected = true }
            // Reversed, a full bar would be a hole and an empty one full.
            if let bar = columns[.bar] { grid.restyle(row: row, columns: bar) { $0.isSelected = false } }
            cursor = Cursor(row: row, column: min(width - 1, rowDrawing.nameColumn(item)))
        }
    }

    private mutating func path() {
        guard let row = layout.path, let node = model.tree.cursorRow, !node.path.isEmpty else { return }
        let mark = appearance.glyphs.cutMark
        // A label tells it from the rows of the list right above it.
        let start = grid.put("Path  ", row: row, column: 1, style: .dim)
        grid.put(appearance.safe(node.path).shortened(to: width - 1 - start, mark: mark), row: row, column: start)
    }

    private mutating func marks() {
        guard let row = layout.marks else { return }
        let marked = model.tree.marks.values
        if !marked.isEmpty {
            let bytes = ByteSum.of(marked.lazy.map(\.bytes.total))
            let all = model.filters.shown?.marksAll == true ? model.filters.shown?.count?.matched : nil
            let text =
                all.map { "\(Figures.count($0)) marked: all that match" }
                ?? "\(Figures.count(Int64(marked.count))) marked, \(appearance.figures.size(bytes))"
            grid.put(SafeText(text), row: row, column: 1, style: .marked)
        } else if let counts = model.tree.counts {
            let text = SafeText(counts.byState)
            grid.put(text.cut(to: max(0, width - 2), appearance.glyphs), row: row, column: 1, style: .dim)
            // What failed is counted there, too.
            if text.width + (problems(withKey: true)?.width ?? 0) + 4 > width { return }
        }
        guard let problems = problems(withKey: true) else { return }
        grid.put(problems, row: row, column: max(1, width - 1 - problems.width), style: .error)
    }

    /// `1,206 problems in 2 causes: press e`; `nil` when there are none.
    func problems(withKey: Bool) -> SafeText? {
        guard let totals = model.totals, totals.problems > 0 else { return nil }
        guard withKey else { return totals.shortProblems }
        let causes = totals.problemCauses > 1 ? " in \(Figures.count(totals.problemCauses)) causes" : ""
        let key = model.keys.keys(for: .problems, in: .transfers).first.map { ": press \($0.name)" } ?? ""
        return "\(Figures.amount(totals.problems, "problem"))\(causes)\(key)"
    }

    private mutating func message() {
        guard let notice = model.notice else { return }
        let text = said(notice)
        let style: Style = notice.isError ? .error : .plain
        guard !layout.message.isEmpty else {
            guard let row = layout.hints else { return }
            grid.fill(row: row, style: .plain)
            let end = offer(notice)
            let room = max(0, width - end.width)
            let line = notice.text.cut(to: room, appearance.glyphs) + end
            let next = grid.put(line, row: row, column: 0, style: style)
            // The way to help stays where there is room for it.
            if let key = model.keys.keys(for: .help, in: .transfers).first {
                let help = SafeText("\(key.name) help")
                if next + 2 + help.width <= width { grid.put(help, row: row, column: width - help.width, style: .hint) }
            }
            return
        }
        // At the bottom of its place, so that a short one always stands in the same line.
        let shown = message(text, notice)
        for (row, line) in zip(layout.message.reversed(), shown.reversed()) {
            grid.put(line, row: row, column: 1, style: style)
        }
    }

    /// As many lines as there is room for; what is offered is never cut off.
    private func message(_ text: SafeText, _ notice: Notice) -> [SafeText] {
        let most = layout.message.count
        let lines = text.wrapped(to: width - 2)
        guard lines.count > most else { return lines }
        let end = offer(notice)
        var shown = notice.text.wrapped(to: width - 2, lines: most, appearance.glyphs)
        guard end.width > 0, let last = shown.last else { return shown }
        shown[shown.count - 1] = last.cut(to: max(0, width - 2 - end.width), appearance.glyphs) + end
        return shown
    }

    /// A message and what it offers.
    func said(_ notice: Notice) -> SafeText { notice.text + offer(notice) }

    private func offer(_ notice: Notice) -> SafeText {
        guard let until = notice.undo?.until else { return "" }
        let key = model.keys.keys(for: .undo, in: .transfers).first?.name ?? ""
        return "  \(key) undo (\(model.now.seconds(until: until)) s)"
    }

    // MARK: The last line

    private mutating func hints() {
        guard let row = layout.hints else { return }
        var line = HintLine.text(
            model.hints, in: model.canChange ? .transfers : .lost, model.keys, width: width,
            words: model.hintWords(for: model.targets))
        if model.canChange, problemsAreInHints, let problems = problems(withKey: false) {
            line =
                problems + "  "
                + HintLine.text([.help, .leave], in: .transfers, model.keys, width: width - problems.width - 2)
        }
        hintLine(line, row)
    }
}

extension Model {
    var columns: Columns { Columns(width: size.columns, chosen: appearance.columns) }

    /// The actions in the last line, the most important first.
    var hints: [Action] {
        guard canChange else {
            return [.help, .retryNow] + (isConnected ? [] : [.startEngine]) + [.log, .leave]
        }
        return machine == nil ? hintsHere : hintsHere.filter { $0 != .add }
    }

    private var hintsHere: [Action] {
        if tree.items.isEmpty, filters.shown == nil { return [.help, .add, .log, .leave] }
        let undo: [Action] = notice?.undo == nil ? [] : [.undo]
        let retry: [Action] =
            targets.contains { $0.counts.failed + $0.counts.cancelled + $0.counts.waiting > 0 } ? [.retry] : []
        // When nothing is left to steer, what can be done is to tidy up and to go.
        if totals?.isOver == true, tree.marks.isEmpty {
            return [.help, .add, .clear] + undo + retry + [.details, .log, .leave]
        }
        // What would only say that the row is over is no hint.
        let steers: [Action] = targets.contains { !$0.isOver } ? [.pause, .cancel] : []
        if size.columns < 100 {
            return [.help, .add] + steers + (retry.isEmpty && !targets.isEmpty ? [.mark] : retry) + [
                .filter, .command, .leave,
            ]
        }
        let others: [Action] = size.columns < 112 ? [.why, .mark, .filter] : [.details, .why, .mark, .find, .filter]
        return [.help, .add] + steers + undo + retry + others + [.command, .leave]
    }

    /// The words for keys that do something else to these rows than usual: `p` lets go on what stands still.
    func hintWords(for rows: [NodeRow]) -> [Action: String] {
        let unfinished = rows.filter { !$0.isOver }
        return !unfinished.isEmpty && unfinished.allSatisfy { standsStill($0) } ? [.pause: "resume"] : [:]
    }

    /// The same of one row's own page.
    func hints(of row: NodeRow) -> [Action] {
        let fails = row.counts.failed + row.counts.cancelled + row.counts.waiting > 0
        let isFile = !row.canHold
        return [.back] + (row.isOver ? [] : [.pause, .cancel]) + (fails ? [.retry] : [])
            + (row.isOver ? [] : [.order, .limit, .why]) + (isFile ? [.down] : []) + [.copy, .help]
    }
}
