import DisplayText
import MartletKit
import Terminal

/// The titles of the columns; the one that the rows are sorted by says so.
extension Drawing {
    mutating func titles() {
        guard let row = layout.titles, !model.tree.items.isEmpty else { return }
        for (column, cells) in model.columns.places {
            guard let (text, alignment) = Self.title(column) else { continue }
            let isSorted = model.tree.order.by == column.order && column != .bar
            var title = text
            // A mark beside it where there is room; it is strong in any case.
            if isSorted, text.width < cells.count {
                title = text + SafeText([Glyph(appearance.glyphs.sorted(model.tree.order))])
            }
            if column == .name { title += hidden(title, cells.count) }
            grid.put(
                title.fitted(to: cells.count, alignment), row: row, column: cells.lowerBound,
                style: Style(.title, strong: isSorted))
        }
    }

    /// `  3 above, 12 below`: rows that are out of sight; nothing where it has no room.
    private func hidden(_ title: SafeText, _ cells: Int) -> SafeText {
        let (window, items) = (model.tree.window, model.tree.items)
        // One line may stand for many rows that are not loaded.
        func count(_ range: Range<Int>) -> String {
            Figures.count(ByteSum.of(items[range].map { $0.row == nil ? max(1, $0.hidden) : 1 }))
        }
        let parts = [(0..<window.lowerBound, "above"), (window.upperBound..<items.count, "below")]
            .filter { !$0.0.isEmpty }.map { "\(count($0.0)) \($0.1)" }
        guard !parts.isEmpty else { return "" }
        let text = SafeText("  " + parts.joined(separator: ", "))
        return title.width + text.width <= cells ? text : ""
    }

    private static func title(_ column: Columns.Column) -> (SafeText, Alignment)? {
        switch column {
        case .sign: nil
        case .name: ("Name", .left)
        case .files: ("Files", .right)
        case .size: ("Size", .right)
        case .bar: ("Progress", .left)
        case .percent: ("Pct", .right)
        case .speed: ("Speed", .right)
        case .timeLeft: ("ETA", .right)
        case .state: ("State", .left)
        case .destination: ("Destination", .left)
        case .started: ("Since", .left)
        case .tries: ("Tries", .right)
        case .checksum: ("Checksum", .left)
        case .priority: ("Priority", .left)
        case .limit: ("Limit", .right)
        case .session: ("Session", .left)
        case .sparkline: ("Trend", .left)
        case .speedOrState: ("State", .right)
        }
    }
}
