import DisplayText

/// The lines of a terminal below the lines that stay: one per upload, redrawn in place. A value that says which bytes to write.
struct LiveTerminal {
    /// The cells that each of the lines took which are there now, from above.
    private var drawn: [Int] = []

    /// Lines that stay are written where the redrawn ones began, and these anew below them.
    ///
    /// - Parameter lines: without their ends; those that there is no room for are counted.
    mutating func draw(staying: [String], live: [ProgressLine], columns: Int, rows: Int) -> String {
        // A terminal that has become narrower has broken its lines.
        let above = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        let texts = Self.texts(live, columns: columns, rows: rows)
        drawn = texts.map(\.width)
        let isEmpty = above == 0 && texts.isEmpty
        var text = isEmpty ? "" : above == 0 ? "" : "\u{1B}[\(above)A\r\u{1B}[J"
        for line in staying { text += line + "\n" }
        for line in texts { text += line.string + "\n" }
        return text
    }

    /// One cell stays free, as terminals differ in what they do when the last is written, and one row for the cursor.
    private static func texts(_ live: [ProgressLine], columns: Int, rows: Int) -> [SafeText] {
        let room = max(1, rows - 2)
        let width = max(1, columns - 1)
        let shown = live.count <= room ? live.count : room - 1
        var texts = live.prefix(shown).map { $0.text(columns: width) }
        if shown < live.count { texts.append(SafeText("and \(live.count - shown) more").shortened(to: width)) }
        return texts
    }
}
