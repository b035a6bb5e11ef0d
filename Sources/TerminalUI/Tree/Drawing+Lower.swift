import DisplayText
import MartletKit
import Terminal

/// The details of the cursor's row and the throughput, below the list of a large window.
extension Drawing {
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
        let name = StyledLine((row.name.isEmpty ? RowLabel.group(row, appearance) : appearance.safe(row.name)), .marked)
        for (y, line) in zip(layout.lower.dropFirst(), [name] + lines.dropFirst(model.list.lowerScroll ?? 0)) {
            grid.put(line, row: y, column: 1, end: room - 2)
        }
        if model.isInLower { cursor = Cursor(row: layout.lower.lowerBound + 1, column: 1) }
        if chartWidth > 0 {
            heading("Throughput of everything, 5 min", row: layout.lower.lowerBound, columns: room..<width)
            chart(model.throughput.seen, rows: layout.lower.dropFirst(), columns: room..<(width - 1))
        }
    }
}
