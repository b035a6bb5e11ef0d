import DisplayText
import MartletKit
import Terminal
import Wording

/// Finished work, the last first.
struct HistoryPage: Sendable {
    private(set) var batches: [BatchSnapshot] = []
    /// True once the engine has answered.
    private(set) var isKnown = false
    var problem: SafeText?
    private var cursor = ListCursor<BatchID>()

    /// The line under the cursor.
    var selected: Int { cursor.index }
    var batch: BatchSnapshot? { batches.indices.contains(selected) ? batches[selected] : nil }

    mutating func show(_ all: [BatchSnapshot]) {
        batches = all.filter { $0.state.isTerminal }.sorted {
            ($1.finishedAt?.milliseconds ?? 0, $1.id) < ($0.finishedAt?.milliseconds ?? 0, $0.id)
        }
        (isKnown, problem) = (true, nil)
        cursor.follow(batches.map(\.id))
    }

    mutating func move(to line: Int) { cursor.move(to: line, in: batches.map(\.id)) }
}

extension HistoryPage: Page {
    static var view: KeyMap.View { .history }
    static var opener: Action? { .history }
    static var openingKeys: [String] { ["H", "6"] }

    static func open(in model: inout Model) {
        model.go(to: HistoryPage())
        model.askForBatches(for: view)
    }

    func connected(in model: inout Model) { model.askForBatches(for: Self.view) }

    /// The sums say that something has ended.
    func totalsCame(after before: QueueTotals?, in model: inout Model) {
        guard let totals = model.totals else { return }
        if totals.batches != before?.batches || totals.counts != before?.counts { model.askForBatches(for: Self.view) }
    }

    func changeWasMade(in model: inout Model) { model.askForBatches(for: Self.view) }

    mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, in model: inout Model) {
        switch result {
        case .success(let batches): show(batches)
        case .failure(let error): problem = model.advised(error)
        }
    }

    mutating func perform(_ action: Action, in model: inout Model) {
        if let line = action.line(from: selected, leap: max(1, model.size.rows / 2)) { return move(to: line) }
        if action == .retry {
            let now = batch.map { "\"\(model.appearance.safe($0.name))\"" as SafeText }
            if let refusal = cursor.refusal("batch", now: now, in: batches.map(\.id)) { return model.complain(refusal) }
        }
        switch action {
        case .enter:
            guard let batch else { return }
            guard model.tree.index(of: .row(.batch(batch.id))) != nil else {
                return model.complain("\(batch.id) is further down than the list reaches.")
            }
            model.goToTransfers()
            model.setFilter(nil)
            return model.tree.move(to: .row(.batch(batch.id)))
        case .retry:
            guard let batch else { return }
            guard batch.filesFailed + batch.filesCancelled > 0 else {
                return model.say(
                    "Nothing of \"\(model.appearance.safe(batch.name))\" failed: there is nothing to try again.")
            }
            let name: SafeText = "\"\(model.appearance.safe(batch.name))\""
            if batch.causes.contains(where: { $0.code == .destinationExists }) {
                let then = Dialog.Intent.named(.retry, name, .ids([.batch(batch.id)]))
                return model.askAboutExisting(name, files: batch.filesFailed, [batch.id], then: then)
            }
            model.ask(.failed(of: name)) { .act(.retry, .ids([.batch(batch.id)]), number: $0) }
        case .again: if let batch { model.again(batch.id) }
        case .verify:
            if let batch {
                model.verify([.batch(batch.id)], "\"\(model.appearance.safe(batch.name))\"", readsBack: false)
            }
        case .back: model.goToTransfers()
        default: break
        }
    }

    func draw(in drawing: inout Drawing) { drawing.history(self) }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        .shown(all ? drawing.shownRows : (batch.map { drawing.words($0) } ?? []).map(\.string).joined(separator: "\n"))
    }
}

extension KeyMap.View {
    package static let history = Self(
        "history", nameInHelp: "history", page: HistoryPage.self,
        words: [.enter: Words(help: "show it in the list", hint: "show the files")],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + KeyMap.copying + [
            (.enter, ["Enter", "l", "Right"]), (.retry, ["r"]), (.again, ["A"]), (.verify, ["V"]),
            KeyMap.back(from: HistoryPage.self, "h", "Left"),
        ])
}

extension Drawing {
    fileprivate mutating func history(_ page: HistoryPage) {
        let count = Int64(page.batches.count)
        title(
            "History", "",
            right: count > 0 ? SafeText(Figures.amount(count, "batch", "batches")) : "")
        defer {
            footer(
                page.batches.isEmpty ? [.back, .help] : [.back, .enter, .retry, .again, .verify, .help], in: .history)
        }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        guard !page.batches.isEmpty else {
            let text = page.problem ?? (page.isKnown ? "No batch has finished yet." : unanswered)
            for (row, line) in zip(1..<max(1, rows - 1), text.wrapped(to: max(1, width - 2))) {
                grid.put(line, row: row, column: 1)
            }
            return
        }
        let hasDetails = rows >= 14
        let end = max(1, rows - 1 - (hasDetails ? 5 : 0))
        let height = end - 1
        let top = max(0, min(page.selected - height + 1, page.batches.count - height))
        for (row, index) in zip(1..<max(1, end), top..<page.batches.count) {
            line(page.batches[index], row, isSelected: index == page.selected)
        }
        guard hasDetails, let batch = page.batch else { return }
        heading(appearance.safe(batch.name), row: end, columns: 0..<width)
        for (row, text) in zip((end + 1)..<(rows - 1), words(batch)) {
            grid.put(text.cut(to: width - 2, appearance.glyphs), row: row, column: 1)
        }
    }

    private mutating func line(_ batch: BatchSnapshot, _ row: Int, isSelected: Bool) {
        let state = RowState(
            over: batch.state, isEmpty: batch.filesTotal == 0, isPartly: batch.filesCancelled > 0)
        grid.put(SafeText([Glyph(state.sign(appearance.glyphs))]), row: row, column: 1, style: state.style)
        let when = batch.finishedAt.map { appearance.date($0).dropLast(3) } ?? ""
        let files = Figures.files(batch.filesCompleted, of: batch.filesTotal)
        let size = appearance.figures.size(batch.bytesTotal)
        var x = width - 1
        func right(_ text: String, _ cells: Int, _ style: Style = .plain) {
            guard x - cells > 14 else { return }
            x -= cells
            grid.put(SafeText(text).fitted(to: cells, .right), row: row, column: x, style: style)
            x -= 1
        }
        right(state.word, 5, state.style)
        if width >= 56 { right(String(when), 16) }
        right(size, 7)
        if width >= 40 { right(files, 13) }
        grid.put(
            appearance.safe(batch.name).shortened(to: max(1, x - 3), mark: appearance.glyphs.cutMark), row: row,
            column: 3)
        guard isSelected else { return }
        grid.restyle(row: row) { $0.isSelected = true }
        cursor = Cursor(row: row, column: min(3, width - 1))
    }

    fileprivate func words(_ batch: BatchSnapshot) -> [SafeText] {
        let parts: [(Int64, String)] = [
            (batch.filesCompleted, "done"), (batch.filesFailed, "failed"), (batch.filesCancelled, "cancelled"),
        ]
        let files = parts.filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }.joined(separator: ", ")
        let moved = batch.direction == .download ? "received" : "sent"
        var lines: [SafeText] = ["\(batch.id)  \(files)   \(appearance.figures.size(batch.bytesAccepted)) \(moved)"]
        if !batch.destination.isEmpty { lines.append("to " + appearance.safe(batch.destination)) }
        var time: SafeText = "queued \(appearance.date(batch.createdAt))"
        if let finished = batch.finishedAt {
            let seconds = finished.since(batch.createdAt).components.seconds
            time += ", over \(appearance.date(finished)) (\(Figures.timeLeftInWords(seconds)))"
        }
        lines.append(time)
        if let cause = batch.causes.first { lines.append(appearance.safe(cause.sentence)) }
        return lines
    }
}
