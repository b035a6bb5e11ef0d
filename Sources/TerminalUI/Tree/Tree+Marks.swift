import MartletKit

/// Rows that are marked, one by one or from here to there.
extension Tree {
    mutating func toggleMark() {
        guard let row = cursorRow else { return }
        if marks.removeValue(forKey: row.id) == nil { marks[row.id] = row }
    }

    mutating func unmarkAll() {
        marks = [:]
        rangeStart = nil
    }

    mutating func unmark(_ ids: some Sequence<RowID>) { for id in ids { marks[id] = nil } }

    /// Marks every file in sight, and gives back how many there are.
    mutating func markTasks() -> Int {
        let rows = items.compactMap(\.row).filter { if case .task = $0.id { true } else { false } }
        for row in rows { marks[row.id] = row }
        return rows.count
    }

    // MARK: A range

    /// The lines of the range: from where it began to the cursor. A beginning that is gone ends it.
    var range: ClosedRange<Int>? {
        guard let start = rangeStart.flatMap({ index(of: $0) }), let end = cursorIndex else { return nil }
        return min(start, end)...max(start, end)
    }

    /// The row at which a range began is in the list no more: what is meant by it is not known.
    var hasLostRange: Bool { rangeStart != nil && range == nil }

    /// Returns true when the line is marked, or will be.
    func isMarked(_ item: TreeItem) -> Bool {
        guard let row = item.row else { return false }
        if marks[row.id] != nil { return true }
        guard let range, let index = index(of: item.id) else { return false }
        return range.contains(index)
    }

    /// - Parameter marking: what is in the range is marked from now on.
    mutating func endRange(marking: Bool) {
        let rows = marking ? range.map { items[$0].compactMap(\.row) } ?? [] : []
        for row in rows { marks[row.id] = row }
        rangeStart = nil
    }
}

extension Model {
    /// The first press begins a range, the second one marks it.
    mutating func markRange() {
        guard let cursor = tree.cursor else { return }
        filters.shown?.marksAll = false
        if tree.hasLostRange { tree.endRange(marking: false) }
        guard tree.rangeStart == nil else { return tree.endRange(marking: true) }
        tree.rangeStart = cursor
        say("A range begins here: go to its other end. \(key(.markRange)) marks it, what acts acts on it.")
    }
}
