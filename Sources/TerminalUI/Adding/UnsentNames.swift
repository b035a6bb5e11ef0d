import DisplayText
import MartletKit
import Terminal

/// The names that are in what was chosen and will not be sent, by reason.
struct UnsentNames: Sendable {
    struct Reason: Sendable {
        var title: SafeText
        /// The first of them; folders end with a slash.
        var names: [[UInt8]]
        var count: Int64
    }

    private(set) var reasons: [Reason] = []

    /// - Parameter remainder: what patterns leave.
    init(_ picker: Picker, remainder: FolderCount?) {
        let basket = picker.basket
        add("Not found", picker.unusable.prefix(200).map(\.path), Int64(picker.unusable.count))
        if let remainder, remainder.keptFiles + remainder.keptFolders > 0 {
            add("Left out by the patterns", remainder.firstKept, remainder.keptFiles + remainder.keptFolders)
        }
        let items = basket.first(1000)
        func names(_ part: (FolderCount) -> [[UInt8]]) -> [[UInt8]] {
            var names: [[UInt8]] = []
            for item in items where names.count < 200 {
                names += part(item.count).map { ShellWords.last(item.path) + [UInt8(ascii: "/")] + $0 }
            }
            return names
        }
        add("Cannot be read (permission denied)", names(\.firstUnreadable), basket.totals.unreadable)
        add("Links, devices and the like", names(\.firstLeftOut), basket.totals.leftOut)
        add("Empty folders", names(\.firstEmpty), basket.totals.emptyFolders)
    }

    private mutating func add(_ title: SafeText, _ names: [[UInt8]], _ count: Int64) {
        if count > 0 { reasons.append(Reason(title: title, names: names, count: count)) }
    }

    var isEmpty: Bool { reasons.isEmpty }

    /// Returns true when there are any, without looking for their names.
    static func are(in picker: Picker, remainder: FolderCount?) -> Bool {
        let totals = picker.basket.totals
        return totals.unreadable + totals.leftOut + totals.emptyFolders > 0 || !picker.unusable.isEmpty
            || (remainder.map { $0.keptFiles + $0.keptFolders > 0 } ?? false)
    }
}

extension Model {
    /// Over the last step, until a key closes it.
    mutating func showUnsent() {
        guard let flow = adding, let review = flow.review else { return }
        let unsent = UnsentNames(flow.picker, remainder: review.remainder)
        guard !unsent.isEmpty else {
            adding?.review?.note = ("Nothing is left out: all that was chosen is sent.", false)
            return
        }
        var lines: [SafeText] = []
        for reason in unsent.reasons {
            lines.append("\(reason.title): \(Figures.count(reason.count))")
            lines += reason.names.map { "   " + SafeText($0, characterSet: appearance.characterSet) }
            let more = reason.count - Int64(reason.names.count)
            if more > 0 { lines.append("   and \(SafeText(Figures.count(more))) more") }
            lines.append("")
        }
        go(to: ReportPage(title: "Not sent", lines: Array(lines.dropLast())))
    }
}

extension Drawing {
    /// Beside the list: why something of what was chosen is not sent, with as many names as there is room for.
    mutating func unsent(_ picker: Picker, rows: inout Range<Int>, columns: Range<Int>) {
        for reason in UnsentNames(picker, remainder: nil).reasons where rows.count > 4 {
            guard let row = rows.popFirst() else { return }
            let count = SafeText(Figures.count(reason.count))
            grid.put(
                reason.title.shortened(to: columns.count - count.width - 2, mark: appearance.glyphs.cutMark), row: row,
                column: columns.lowerBound, style: .marked, end: columns.upperBound)
            grid.put(count, row: row, column: columns.upperBound - count.width)
            for name in reason.names.prefix(3) where rows.count > 3 {
                guard let row = rows.popFirst() else { return }
                grid.put(
                    bytes(name).shortened(to: columns.count - 2, mark: appearance.glyphs.cutMark), row: row,
                    column: columns.lowerBound + 2, style: .warn, end: columns.upperBound)
            }
        }
    }
}
