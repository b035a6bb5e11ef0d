import DisplayText
import MartletKit
import Terminal

/// The picture of the last minutes' speed: zero-based, with numbers on its axis.
extension Drawing {
    /// The data of a chart: one speed a column, in bytes a second.
    struct Chart {
        var speeds: [Int64]
        var average: Int64?
        /// Beside the average's line, at its right end; so much room is kept for it.
        var averageWord: SafeText = ""
        /// The column that is read.
        var point: Int?
        /// Below the axis: where, from the right end back (1 is the left end), and what.
        var marks: [(share: Double, word: String)]
    }

    /// The columns that a chart has for its bars: not those of its numbers, nor those of the average's word.
    static func bars(in columns: Range<Int>, besides word: SafeText = "") -> Range<Int> {
        let start = min(columns.upperBound, columns.lowerBound + labelWidth + 2)
        return start..<max(start, columns.upperBound - (word.width > 0 ? word.width + 1 : 0))
    }

    /// The last five minutes as this screen has seen them.
    mutating func chart(_ throughput: Throughput, rows: Range<Int>, columns: Range<Int>) {
        let word: SafeText = "avg"
        let speeds = throughput.averages(Self.bars(in: columns, besides: word).count, at: model.now.uptime)
        let average = throughput.average(of: .seconds(300), at: model.now.uptime)
        chart(
            Chart(speeds: speeds, average: average, averageWord: word, marks: Self.marks(.minutes)), rows: rows,
            columns: columns)
    }

    static func marks(_ span: ThroughputView.Span) -> [(share: Double, word: String)] {
        span.marks.map { (Double($0.seconds) / Double(span.seconds), $0.word) }
    }

    /// - Parameter rows: at least 4: the lowest two are the axis of time and its numbers.
    mutating func chart(_ chart: Chart, rows: Range<Int>, columns: Range<Int>) {
        guard rows.count >= 4, columns.count >= 20 else { return }
        let bars = Self.bars(in: columns, besides: chart.averageWord)
        let height = rows.dropLast(2)
        let scale = Axis(for: chart.speeds.max() ?? 0, rows: height.count, appearance.figures.units)
        let numbers = Dictionary(uniqueKeysWithValues: scale.marks(appearance.figures).map { ($0.row, $0.word) })
        for y in height { axis(numbers[height.upperBound - y], y, columns) }
        if let average = chart.average, average > 0 {
            let above = min(height.count - 1, Int(Double(average) / scale.top * Double(height.count)))
            let y = height.upperBound - 1 - above
            grid.fill(row: y, columns: bars, with: Glyph("-"), style: .dim)
            grid.put(chart.averageWord, row: y, column: bars.upperBound + 1, style: .dim, end: columns.upperBound)
        }
        for (x, speed) in zip(bars, chart.speeds) where speed > 0 {
            bar(x, Double(speed) / scale.top, height, isRead: x - bars.lowerBound == chart.point)
        }
        timeAxis(rows, columns, bars, chart.marks)
        if let point = chart.point, bars.indices.contains(bars.lowerBound + point) {
            let x = bars.lowerBound + point
            grid.put("^", row: rows.upperBound - 2, column: x, style: .marked)
            cursor = Cursor(row: rows.upperBound - 2, column: x)
        }
    }

    private static let labelWidth = 5

    private mutating func axis(_ number: String?, _ y: Int, _ columns: Range<Int>) {
        let text = SafeText(number ?? "").fitted(to: Self.labelWidth, .right)
        grid.put(text, row: y, column: columns.lowerBound, style: .dim)
        grid.put("|", row: y, column: columns.lowerBound + Self.labelWidth + 1, style: .dim)
    }

    /// One column of the picture. What moved at all shows.
    private mutating func bar(_ x: Int, _ share: Double, _ rows: Range<Int>, isRead: Bool) {
        let steps = appearance.glyphs == .unicode ? 8 : 1
        let filled = max(1, Int((share * Double(rows.count * steps)).rounded()))
        for (above, y) in rows.reversed().enumerated() {
            let rest = min(steps, filled - above * steps)
            guard rest > 0 else { break }
            grid.put(block(rest), row: y, column: x, style: isRead ? .marked : .info)
        }
    }

    private func block(_ eighths: Int) -> SafeText {
        switch appearance.glyphs {
        case .ascii: "#"
        case .narrow: "▮"
        case .unicode: SafeText([GlyphSet.eighths[min(eighths, 8) - 1]])
        }
    }

    private mutating func timeAxis(
        _ rows: Range<Int>, _ columns: Range<Int>, _ bars: Range<Int>, _ marks: [(share: Double, word: String)]
    ) {
        let line = rows.upperBound - 2
        grid.put(SafeText("0").fitted(to: Self.labelWidth, .right), row: line, column: columns.lowerBound, style: .dim)
        grid.fill(row: line, columns: (bars.lowerBound - 1)..<bars.upperBound, with: Glyph("-"), style: .dim)
        grid.put("+", row: line, column: bars.lowerBound - 1, style: .dim)
        // Where there is no room for all, the left end alone.
        let shown = bars.count >= 8 * marks.count ? marks[...] : marks.suffix(1)
        for mark in shown {
            let x = bars.upperBound - 1 - Int(Double(bars.count - 1) * mark.share)
            grid.put(SafeText(mark.word), row: line + 1, column: x, style: .dim)
        }
        grid.put("now", row: line + 1, column: bars.upperBound - 3, style: .dim)
    }
}
