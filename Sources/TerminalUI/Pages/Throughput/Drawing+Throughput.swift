import DisplayText
import MartletKit
import Terminal

/// The page of the throughput: the last minutes as a picture, the numbers that people look at, who has what of it, and what the engine costs.
extension Drawing {
    mutating func throughput() {
        let numbers = self.numbers
        let what = model.throughput.view.batch.map { model.throughputName(of: $0) } ?? "all batches"
        title("Throughput", rows < 4 ? SafeText(appearance.figures.size(speedNow)) : what, right: rows < 4 ? "" : spans)
        // Last, because what it says stands over the page.
        defer { footer(throughputHints, in: .throughput) }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        let end = rows - 1
        // In a low window the batches go first, then the picture.
        let batches = shownBatches(max(0, min(6, (end - 14) / 2)))
        let below = 5 + (batches.isEmpty ? 0 : batches.count + 1)
        let chartEnd = end - below
        var row = 1
        if chartEnd >= 6, width > 2 {
            let columns = 1..<(width - 1)
            chart(picture(columns), rows: 1..<chartEnd, columns: columns)
            if let reading { grid.put(reading, row: chartEnd, column: 1, end: width) }
            row = chartEnd + 1
        }
        let cell = max(9, min(14, (width - 2) / numbers.count))
        for (index, number) in numbers.enumerated() {
            let column = 1 + index * cell
            guard column + cell <= width, row + 1 < end else { break }
            grid.put(number.label.fitted(to: cell - 1, .right), row: row, column: column, style: .dim)
            grid.put(number.value.fitted(to: cell - 1, .right), row: row + 1, column: column)
        }
        row += 3
        for batch in batches {
            line(batch, row)
            row += 1
        }
        if !batches.isEmpty { row += 1 }
        if row < end { grid.put(limit + engineUse, row: row, column: 1) }
    }

    private var throughputHints: [Action] {
        [.back] + (model.throughputBatches.isEmpty ? [] : [.down])
            + [.shorterSpan, .longerSpan, .earlierPoint, .limit, .copy, .help]
    }

    /// `[5m]  1h  24h`
    private var spans: SafeText {
        let words = ThroughputView.Span.allCases.map { span -> String in
            span == model.throughput.view.span ? "[\(span.title.string)]" : " \(span.title.string) "
        }
        return SafeText(words.joined(separator: " "))
    }

    /// The span's steps in so many columns; until the engine has told, what this screen has seen itself.
    private func picture(_ place: Range<Int>) -> Chart {
        let view = model.throughput.view
        let average = view.average(of: view.span, at: model.now.uptime)
        let word = averageWord(average)
        let columns = Self.bars(in: place, besides: word).count
        let known = view.steps(at: model.now.uptime)
        let marks = Self.marks(view.span)
        guard !known.isEmpty, columns > 0 else {
            let isSeen = view.span == .minutes && view.batch == nil
            let seen = isSeen ? model.throughput.seen.averages(columns, at: model.now.uptime) : []
            return Chart(speeds: seen, averageWord: word, marks: marks)
        }
        let count = view.span.steps
        let steps = Array(repeating: Double?.none, count: count - known.count) + known.map { Double($0.up + $0.down) }
        let speeds = Throughput.columns(columns, of: steps).map { Int64($0 ?? 0) }
        // The column in whose middle the step lies.
        let point = view.point.map { ((count - 1 - $0) * 2 + 1) * columns / (2 * count) }
        return Chart(speeds: speeds, average: average, averageWord: word, point: point, marks: marks)
    }

    /// Always as wide, so that the picture stays where it is.
    private func averageWord(_ average: Int64?) -> SafeText {
        guard width >= 60 else { return "" }
        let word: SafeText = "average"
        return width < 76
            ? word : (word + " " + SafeText(appearance.figures.size(average ?? 0))).fitted(to: word.width + 6)
    }

    /// The speeds at the point under the cursor: `12:36:05 for 5 s: up 41.2M/s, down 0`.
    private var reading: SafeText? {
        let view = model.throughput.view
        let steps = view.steps(at: model.now.uptime)
        guard let point = view.point, point < steps.count else { return nil }
        let step = steps[steps.count - 1 - point]
        // Steps begin at whole multiples of their length by the engine's clock; to the second that is enough here.
        let at = model.now.wall.advanced(by: .seconds(-Int64(point) * view.span.stepSeconds))
        let length = view.span.stepSeconds < 60 ? "\(view.span.stepSeconds) s" : "\(view.span.stepSeconds / 60) min"
        let up = appearance.figures.speed(step.up)
        let down = appearance.figures.speed(step.down)
        return "\(appearance.timeOfDay(at)), \(length): up \(up), down \(down)"
    }

    // MARK: Who has what of it

    /// As many as have room, in their order: with the chosen one, or else those that run before those that stand.
    private func shownBatches(_ room: Int) -> [NodeRow] {
        let batches = model.throughputBatches
        if let chosen = batches.firstIndex(where: { $0.id.batch == model.throughput.view.batch }) {
            return Array(batches.dropFirst(max(0, chosen - room + 1)).prefix(room))
        }
        let running = batches.filter(\.state.isActive).prefix(room).map(\.id)
        let standing = batches.filter { !$0.state.isActive }.prefix(room - running.count).map(\.id)
        let shown = Set(running + standing)
        return batches.filter { shown.contains($0.id) }
    }

    /// Name, speed, its share of all that moves, where it goes, and why it stands when it does.
    private mutating func line(_ batch: NodeRow, _ row: Int) {
        let isChosen = batch.id.batch == model.throughput.view.batch
        let state = model.state(of: batch)
        let name = max(8, min(24, width / 4))
        let share = speed(of: batch)
        func style(_ role: Role) -> Style { Style(role, selected: isChosen) }
        if isChosen {
            grid.fill(row: row, style: style(.plain))
            cursor = model.throughput.view.point == nil ? Cursor(row: row, column: min(1, width - 1)) : cursor
        }
        let text = appearance.safe(batch.name).shortened(to: name - 1, mark: appearance.glyphs.cutMark)
        grid.put(text, row: row, column: 1, style: style(.plain))
        let speed = SafeText(appearance.figures.speed(share))
        grid.put(speed.fitted(to: 9, .right), row: row, column: name + 1, style: style(.plain))
        var column = name + 12
        let place = max(12, min(30, width / 3))
        let room = width - column - place - 3
        if room >= 8 {
            let all = ByteSum.of(model.throughputBatches.lazy.map(\.bytesPerSecond))
            let bar = Bar.text(
                share, of: max(1, all), isComplete: share > 0 && share == all, width: room, appearance.glyphs)
            grid.put(bar, row: row, column: column, style: style(share > 0 ? .info : .dim))
            column += room + 2
        }
        let why: SafeText = state == .running ? "" : " (\(SafeText(state.longWord)))"
        let left = max(0, width - 1 - column - why.width)
        let end = grid.put(destination(of: batch, room: left), row: row, column: column, style: style(.plain))
        grid.put(why, row: row, column: end, style: style(state.style.role))
    }

    /// Without what it is reached by: where it is matters more.
    private func destination(of batch: NodeRow, room: Int) -> SafeText {
        let path = batch.path.firstRange(of: "://").map { String(batch.path[$0.upperBound...]) } ?? batch.path
        return appearance.safe(path).shortened(to: room, mark: appearance.glyphs.cutMark)
    }

    private var limit: SafeText {
        let totals = model.totals ?? QueueTotals()
        func rate(_ limit: Int64?) -> String { limit.map { appearance.figures.speed($0) } ?? "off" }
        let (up, down) = (rate(totals.limitUp), rate(totals.limitDown))
        return up == down ? "Limit: \(SafeText(up))" : "Limit: up \(SafeText(up)), down \(SafeText(down))"
    }

    /// `    engine 1.9% CPU, 41.0M memory, 4 files open`
    private var engineUse: SafeText {
        guard let process = model.throughput.view.report?.process else { return "" }
        let processor = model.throughput.view.processor.map { "\($0 / 10).\($0 % 10)% CPU, " } ?? ""
        let memory = appearance.figures.size(process.residentBytes)
        return SafeText("    engine \(processor)\(memory) memory, \(Figures.amount(process.openFiles, "file")) open")
    }
}
