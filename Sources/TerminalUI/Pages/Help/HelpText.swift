import DisplayText
import Terminal

/// The text of help: keys by view and part, the signs, where `keys.conf` is.
struct HelpText {
    /// A line that a key does.
    struct Entry: Hashable, Sendable {
        let action: Action
        let view: KeyMap.View
    }

    struct Item {
        var line: StyledLine
        var entry: Entry?
    }

    let keys: KeyMap
    let appearance: Appearance
    let machine: SafeText?
    let keysFile: String

    /// Headings with what stands below them: of one view first, then what is different in the others.
    func blocks(_ page: HelpPage) -> [[Item]] {
        let (view, words) = (page.view, page.find.words)
        guard let form = page.form else { return blocks(view, words) }
        let items = form.lines.compactMap { line -> Item? in
            guard words.allSatisfy({ "\(line.keys) \(line.summary)".lowercased().contains($0) }) else { return nil }
            return Item(line: Self.line(line.keys, line.summary))
        }
        return [block("Keys", items)].filter { !$0.isEmpty }
    }

    private func blocks(_ view: KeyMap.View, _ words: [String]) -> [[Item]] {
        // A page is asked for help because of what it has and others have not.
        let first: [Action.Part] = view == .transfers ? [] : [.own, .pick, .act]
        let own = (first + Action.Part.allCases.filter { !first.contains($0) }).map { part in
            block(part.rawValue, keys.actions(in: view).filter { $0.part == part }, view, words)
        }
        let others = KeyMap.View.allCases.filter { $0 != view && $0 != .help }.map { other in
            let actions = keys.actions(in: other).filter { action in
                if other == .transfers { return true }
                let known = keys.keys(for: action, in: view)
                return action.part != .move && !keys.keys(for: action, in: other).allSatisfy(known.contains)
                    && ![.help, .back, .mouse, .redraw, .suspend, .interrupt].contains(action)
            }
            return block(
                other == .lost ? "While the engine does not answer" : "In \(other.nameInHelp)", actions, other, words)
        }
        return (own + others).filter { !$0.isEmpty }
    }

    private func block(_ title: String, _ actions: [Action], _ view: KeyMap.View, _ words: [String]) -> [Item] {
        let items = actions.compactMap { action -> Item? in
            let names = keys.keys(for: action, in: view).map(\.name).joined(separator: " ")
            let summary = action.summary(in: view)
            let text = "\(names) \(action.rawValue) \(summary)".lowercased()
            guard words.allSatisfy({ text.contains($0) }) else { return nil }
            return Item(line: Self.line(names, summary), entry: Entry(action: action, view: view))
        }
        return block(title, items)
    }

    private static func line(_ keys: String, _ summary: String) -> StyledLine {
        StyledLine("  " + SafeText(keys).fitted(to: 11) + " ") + StyledLine(SafeText(summary))
    }

    private func block(_ title: String, _ items: [Item]) -> [Item] {
        if items.isEmpty { return [] }
        return [Item(line: StyledLine(SafeText(title), .marked))] + items + [Item(line: StyledLine())]
    }

    var signs: [StyledLine] {
        var lines = RowState.allCases.map { state in
            var line = StyledLine("  ")
            line.append(SafeText([Glyph(state.sign(appearance.glyphs))]), state.style)
            line.append(" ")
            line.append(SafeText(state.word).fitted(to: 6), state.style)
            line.append(state.meaning { keys.name(of: $0) })
            return line
        }
        var line = StyledLine("  ")
        line.append("!", .error)
        line.append("       something below needs a look")
        lines.append(line)
        return lines
    }

    /// The lines at the end.
    func ending(width: Int) -> [StyledLine] {
        let leaving: SafeText =
            machine.map {
                "Leaving stops nothing: transfers belong to the engine of \($0), and a line that is cut stops none. Files are queued there, with martlet upload."
            }
            ?? "Leaving stops nothing: transfers belong to the engine. Start martlet again to see them. Paste paths into the window to queue them."
        let file: SafeText =
            keysFile.isEmpty ? "" : "Keys are changed in \(appearance.safe(keysFile)); :keys shows them all."
        return [leaving, file].filter { $0.width > 0 }.flatMap {
            $0.wrapped(to: max(20, min(78, width - 2))).map { StyledLine($0) }
        }
    }
}

/// The places of the lines of help: in two columns where both can be read.
struct HelpLayout {
    struct Piece {
        var line: StyledLine
        var column: Int
        /// As wide as a mark of the cursor is.
        var width: Int
        /// Its place among `entries`.
        var entry: Int?
    }

    struct Row {
        var left: Piece?
        var right: Piece?
    }

    private(set) var rows: [Row] = []
    /// The lines that can be run, in the order in which the cursor goes through them.
    private(set) var entries: [HelpText.Entry] = []
    private var rowOfEntry: [Int] = []

    func row(of entry: Int) -> Int { rowOfEntry.indices.contains(entry) ? rowOfEntry[entry] : 0 }

    init(_ text: HelpText, _ page: HelpPage, width: Int) {
        let words = page.find.words
        let blocks = text.blocks(page)
        let column = (width - 4) / 2
        let isWide = column >= 38 && words.isEmpty && page.form == nil
        guard isWide else {
            add(blocks.flatMap { $0 }, [], width)
            if blocks.isEmpty { addLines([StyledLine("No key does that.")], width) }
            if words.isEmpty, page.form == nil {
                addLines(
                    [StyledLine("Signs", .marked)] + text.signs + [StyledLine()] + text.ending(width: width), width)
            }
            return
        }
        // The left one is the longer: what is read first stands there.
        let all = blocks.reduce(0) { $0 + $1.count }
        var (left, right): ([HelpText.Item], [HelpText.Item]) = ([], [])
        for block in blocks {
            if right.isEmpty, left.count + block.count / 2 <= all / 2 { left += block } else { right += block }
        }
        add(left, right, width)
        let half = (text.signs.count + 1) / 2
        let signs = text.signs.map { HelpText.Item(line: $0) }
        addLines([StyledLine("Signs", .marked)], width)
        add(Array(signs[..<half]), Array(signs[half...]), width)
        addLines([StyledLine()] + text.ending(width: width), width)
    }

    private mutating func addLines(_ lines: [StyledLine], _ width: Int) {
        add(lines.map { HelpText.Item(line: $0) }, [], width)
    }

    private mutating func add(_ left: [HelpText.Item], _ right: [HelpText.Item], _ width: Int) {
        let first = rows.count
        let column = (width - 4) / 2
        rows += Array(repeating: Row(), count: max(left.count, right.count))
        let wide = right.isEmpty ? max(1, width - 2) : column
        for (index, item) in left.enumerated() {
            rows[first + index].left = piece(item, first + index, column: 1, wide)
        }
        for (index, item) in right.enumerated() {
            rows[first + index].right = piece(item, first + index, column: column + 3, column)
        }
    }

    private mutating func piece(_ item: HelpText.Item, _ row: Int, column: Int, _ width: Int) -> Piece {
        var place: Int?
        if let entry = item.entry {
            place = entries.count
            entries.append(entry)
            rowOfEntry.append(row)
        }
        return Piece(line: item.line, column: column, width: width, entry: place)
    }
}
