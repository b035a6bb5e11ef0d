import DisplayText
import MartletKit
import Terminal

/// The page of the throughput: the last minutes as a picture, the numbers that people look at, and who has what of it.
extension Drawing {
    mutating func throughput() {
        let numbers = self.numbers
        title(
            "Throughput", rows < 4 ? SafeText(look.figures.size(speedNow)) : "all batches",
            right: rows < 4 ? "" : spans)
        // Last, because what it says stands over the page.
        defer { footer([.back, .shorterSpan, .longerSpan, .earlierPoint, .limit, .copy, .help], in: .throughput) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        let end = rows - 1
        // In a low window the batches go first, then the picture.
        let batches = moving.prefix(max(0, min(6, (end - 14) / 2)))
        let below = 5 + (batches.isEmpty ? 0 : batches.count + 1)
        let chartEnd = end - below
        var row = 1
        if chartEnd >= 6, width > 2 {
            let columns = 1..<(width - 1)
            chart(picture(Self.bars(in: columns)), rows: 1..<chartEnd, columns: columns)
            if let reading { grid.put(reading, row: chartEnd, column: 1, end: width) }
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

    /// `[5m]  1h  24h`
    private var spans: SafeText {
        let words = ThroughputView.Span.allCases.map { span -> String in
            span == model.throughputView.span ? "[\(span.title.string)]" : " \(span.title.string) "
        }
        return SafeText(words.joined(separator: " "))
    }

    /// The span's steps in so many columns; until the engine has told, what this screen has seen itself.
    private func picture(_ columns: Int) -> Chart {
        let view = model.throughputView
        let known = view.steps(at: model.now.uptime)
        let marks = Self.marks(view.span)
        guard !known.isEmpty, columns > 0 else {
            let seen = view.span == .minutes ? model.throughput.averages(columns, at: model.now.uptime) : []
            return Chart(speeds: seen, marks: marks)
        }
        let count = view.span.steps
        let steps = Array(repeating: Int64(0), count: count - known.count) + known.map { $0.up + $0.down }
        let speeds = (0..<columns).map { column -> Int64 in
            let first = column * count / columns
            let last = max(first + 1, (column + 1) * count / columns)
            return steps[first..<last].reduce(0, +) / Int64(last - first)
        }
        // The column in whose middle the step lies.
        let point = view.point.map { ((count - 1 - $0) * 2 + 1) * columns / (2 * count) }
        return Chart(speeds: speeds, average: view.average(at: model.now.uptime), point: point, marks: marks)
    }

    /// What was at the point under the cursor: `12:36:05 for 5 s: up 41.2M/s, down 0`.
    private var reading: SafeText? {
        let view = model.throughputView
        let steps = view.steps(at: model.now.uptime)
        guard let point = view.point, point < steps.count else { return nil }
        let step = steps[steps.count - 1 - point]
        // Steps begin at whole multiples of their length by the engine's clock; to the second that is enough here.
        let at = model.now.wall.advanced(by: .seconds(-Int64(point) * view.span.stepSeconds))
        let length = view.span.stepSeconds < 60 ? "\(view.span.stepSeconds) s" : "\(view.span.stepSeconds / 60) min"
        let up = look.figures.speed(step.up)
        let down = look.figures.speed(step.down)
        return "\(look.timeOfDay(at)), \(length): up \(up), down \(down)"
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
            ("now", speedNow), ("avg 1m", average(1)), ("avg " + span.title, averageOfSpan(average(5))),
            ("peak", max(peakOfSpan, span == .minutes ? model.throughput.peak : 0)),
        ]
        return speeds.map { ($0.0, SafeText(look.figures.speed($0.1))) }
            + moved(totals).map { ($0.0, SafeText(look.figures.size($0.1))) }
    }

    private var span: ThroughputView.Span { model.throughputView.span }

    /// - Parameter seen: what this screen has seen of the shortest span, until the engine tells.
    private func averageOfSpan(_ seen: Int64) -> Int64 {
        let isTold = !model.throughputView.steps(at: model.now.uptime).isEmpty
        return isTold ? model.throughputView.average(at: model.now.uptime) : span == .minutes ? seen : 0
    }

    private var peakOfSpan: Int64 {
        model.throughputView.steps(at: model.now.uptime).map { $0.up + $0.down }.max() ?? 0
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
