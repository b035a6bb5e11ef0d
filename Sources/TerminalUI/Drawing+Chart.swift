import DisplayText
import MartletKit
import Terminal

/// The picture of the last minutes' speed: zero-based, with numbers on its axis.
extension Drawing {
    static let chartSpan = Throughput.step * Throughput.steps

    /// - Parameter rows: at least 4: the lowest two are the axis of time and its numbers.
    mutating func chart(_ throughput: Throughput, rows: Range<Int>, columns: Range<Int>) {
        guard rows.count >= 4, columns.count >= 20 else { return }
        let bars = columns.dropFirst(Self.labelWidth + 2)
        let speeds = throughput.averages(bars.count, at: model.now.uptime)
        let top = Axis.top(above: speeds.max() ?? 0, look.figures.units)
        let height = rows.dropLast(2)
        let middle = height.count >= 4 && height.count.isMultiple(of: 2) ? height.lowerBound + height.count / 2 : nil
        for y in height { axis(y == height.lowerBound ? top : y == middle ? top / 2 : nil, y, columns) }
        for (x, speed) in zip(bars, speeds) where speed > 0 { bar(x, Double(speed) / Double(top), height) }
        timeAxis(rows, columns, bars)
    }

    private static let labelWidth = 5

    private mutating func axis(_ value: Int64?, _ y: Int, _ columns: Range<Int>) {
        let label = value.map { look.figures.size($0) } ?? ""
        let text = SafeText(label).fitted(to: Self.labelWidth, .right)
        grid.put(text, row: y, column: columns.lowerBound, style: .dim)
        grid.put("|", row: y, column: columns.lowerBound + Self.labelWidth + 1, style: .dim)
    }

    /// One column of the picture. What moved at all shows.
    private mutating func bar(_ x: Int, _ share: Double, _ rows: Range<Int>) {
        let steps = look.glyphs == .unicode ? 8 : 1
        let filled = max(1, Int((share * Double(rows.count * steps)).rounded()))
        for (above, y) in rows.reversed().enumerated() {
            let rest = min(steps, filled - above * steps)
            guard rest > 0 else { break }
            grid.put(block(rest), row: y, column: x, style: .info)
        }
    }

    private func block(_ eighths: Int) -> SafeText {
        switch look.glyphs {
        case .ascii: "#"
        case .narrow: "▮"
        case .unicode: (["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as [SafeText])[min(eighths, 8) - 1]
        }
    }

    private mutating func timeAxis(_ rows: Range<Int>, _ columns: Range<Int>, _ bars: Range<Int>) {
        let line = rows.upperBound - 2
        grid.put(SafeText("0").fitted(to: Self.labelWidth, .right), row: line, column: columns.lowerBound, style: .dim)
        grid.fill(row: line, columns: (bars.lowerBound - 1)..<bars.upperBound, with: Glyph("-"), style: .dim)
        grid.put("+", row: line, column: bars.lowerBound - 1, style: .dim)
        let minutes = Int(Self.chartSpan.components.seconds) / 60
        let step = bars.count >= 8 * minutes ? 1 : minutes
        for minute in stride(from: minutes, to: 0, by: -step) {
            let x = bars.upperBound - 1 - (bars.count - 1) * minute / minutes
            grid.put("-\(minute)m", row: line + 1, column: x, style: .dim)
        }
        grid.put("now", row: line + 1, column: bars.upperBound - 3, style: .dim)
    }
}
