import DisplayText
import MartletKit
import Terminal

extension Model {
    mutating func performInThroughput(_ action: Action) {
        switch action {
        case .back: page = .transfers
        case .help: openHelp()
        case .limit: openLimits([])
        default: break
        }
    }
}

/// The page of the throughput: the last minutes as a picture, the numbers that people look at, and who has what of it.
extension Drawing {
    mutating func throughput() {
        let numbers = self.numbers
        title(
            "Throughput", rows < 4 ? SafeText(look.figures.size(speedNow)) : "all batches",
            right: rows < 4 ? "" : "5 min")
        // Last, because what it says stands over the page.
        defer { footer([.back, .limit, .copy, .help], in: .throughput) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        let end = rows - 1
        // In a low window the batches go first, then the picture.
        let batches = moving.prefix(max(0, min(6, (end - 14) / 2)))
        let below = 5 + (batches.isEmpty ? 0 : batches.count + 1)
        let chartEnd = end - below
        var row = 1
        if chartEnd >= 6, width > 2 {
            chart(model.throughput, rows: 1..<chartEnd, columns: 1..<(width - 1))
            row = chartEnd + 1
        }
        let cell = max(9, min(12, (width - 2) / numbers.count))
        for (index, number) in numbers.enumerated() {
            let column = 1 + index * cell
            guard column + cell <= width, row + 1 < end else { break }
            grid.put(number.label.fitted(to: cell - 2, .right), row: row, column: column, style: .dim)
            grid.put(number.value.fitted(to: cell - 2, .right), row: row + 1, column: column)
        }
        row += 3
        for batch in batches {
            line(batch, row)
            row += 1
        }
        if !batches.isEmpty { row += 1 }
        if row < end { grid.put(limit, row: row, column: 1) }
    }

    private var speedNow: Int64 {
        guard model.hearsNews, let totals = model.totals else { return 0 }
        return totals.bytesPerSecondUp + totals.bytesPerSecondDown
    }

    /// `now 41.0M/s, avg 1m 39.8M/s, ...`
    var numbersInWords: String { numbers.map { "\($0.label.string) \($0.value.string)" }.joined(separator: ", ") }

    private var numbers: [(label: SafeText, value: SafeText)] {
        let totals = model.totals ?? QueueTotals()
        func average(_ minutes: Int) -> Int64 {
            model.throughput.average(of: .seconds(60 * minutes), at: model.now.uptime)
        }
        let speeds: [(SafeText, Int64)] = [
            ("now", speedNow), ("avg 1m", average(1)), ("avg 5m", average(5)), ("peak", model.throughput.peak),
        ]
        return speeds.map { ($0.0, SafeText(look.figures.speed($0.1))) }
            + moved(totals).map { ($0.0, SafeText(look.figures.size($0.1))) }
    }

    /// What the sums are of, each way for itself; together where not all batches are known here.
    private func moved(_ totals: QueueTotals) -> [(SafeText, Int64)] {
        guard let root = model.tree.root, model.filter == nil, Int64(root.rows.count) == root.total else {
            return [("moved", totals.bytes.sent)]
        }
        // The sums are of what is unfinished, as long as anything is.
        let unfinished = root.rows.filter { !$0.isOver }
        let downloads = (unfinished.isEmpty ? root.rows : unfinished).filter(\.isDownload)
        let received = downloads.reduce(0) { $0 + $1.bytes.sent }
        let sent = max(0, totals.bytes.sent - received)
        var moved: [(SafeText, Int64)] = []
        if downloads.isEmpty || sent > 0 { moved.append(("sent", sent)) }
        if !downloads.isEmpty { moved.append(("received", received)) }
        return moved
    }

    /// Batches by their speed; those that could move and do not stand below.
    private var moving: [NodeRow] {
        (model.tree.root?.rows ?? []).filter { !$0.isOver }.enumerated().sorted {
            ($1.element.bytesPerSecond, $0.offset) < ($0.element.bytesPerSecond, $1.offset)
        }.map(\.element)
    }

    /// Name, speed, its share of all that moves, and why it stands when it does.
    private mutating func line(_ batch: NodeRow, _ row: Int) {
        let name = width / 3
        let state = model.state(of: batch)
        grid.put(look.safe(batch.name).shortened(to: name - 1, mark: look.glyphs.cutMark), row: row, column: 1)
        let speed = SafeText(look.figures.speed(state == .running ? batch.bytesPerSecond : 0))
        grid.put(speed.fitted(to: 9, .right), row: row, column: name + 1)
        let word = SafeText(state.longWord)
        let room = width - name - 22
        guard room >= 8 else { return }
        let all = moving.reduce(0) { $0 + $1.bytesPerSecond }
        let share = state == .running ? batch.bytesPerSecond : 0
        let bar = Bar.text(share, of: max(1, all), isComplete: share > 0 && share == all, width: room, look.glyphs)
        grid.put(bar, row: row, column: name + 12, style: share > 0 ? .info : .dim)
        grid.put(word, row: row, column: width - 8, style: state.style)
    }

    private var limit: SafeText {
        let totals = model.totals ?? QueueTotals()
        func rate(_ limit: Int64?) -> String { limit.map { look.figures.speed($0) } ?? "off" }
        let (up, down) = (rate(totals.limitUp), rate(totals.limitDown))
        return up == down ? "Limit: \(SafeText(up))" : "Limit: up \(SafeText(up)), down \(SafeText(down))"
    }
}
