import DisplayText

/// Cells of one row that differ between two pictures.
struct ChangedRun: Hashable {
    let row: Int
    let columns: Range<Int>
}

extension Grid {
    /// The runs to send that turn `old` into this picture; everything when the sizes differ. Runs never begin or end in
    /// the middle of a wide character of either picture.
    func changes(from old: Grid?) -> [ChangedRun] {
        guard let old, old.size == size else {
            return (0..<size.rows).map { ChangedRun(row: $0, columns: 0..<size.columns) }
        }
        var runs: [ChangedRun] = []
        for row in 0..<size.rows {
            let (before, after) = (old.row(row), self.row(row))
            guard before != after else { continue }
            var column = 0
            while column < size.columns {
                guard self[row, column] != old[row, column] else {
                    column += 1
                    continue
                }
                var start = column
                while start > 0 && splits(row, start, old) { start -= 1 }
                var end = column + 1
                while end < size.columns && (splits(row, end, old) || self[row, end] != old[row, end]) { end += 1 }
                runs.append(ChangedRun(row: row, columns: start..<end))
                column = end
            }
        }
        return runs
    }

    /// Returns true when a cut before this column would split a wide character of this picture or of `old`.
    private func splits(_ row: Int, _ column: Int, _ old: Grid) -> Bool {
        self[row, column].glyph.width == 0 || old[row, column].glyph.width == 0
    }
}
