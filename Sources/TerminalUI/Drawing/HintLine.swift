package import DisplayText
import Terminal

/// The last line: the keys that matter here, as many as fit. What leaves goes last but one, help last.
package enum HintLine {
    /// - Parameter actions: in the order in which they stand; those that fit least go first, from the right, but never
    ///   the first one, nor the key that leaves.
    /// - Parameter words: where the usual word would say something else than the key does.
    package static func text(
        _ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, width: Int, words: [Action: String] = [:]
    ) -> SafeText {
        text(
            hints(actions, in: view, keys, words).map { ($0.key, $0.word) }, width: width,
            keepsLast: keepsLast(actions))
    }

    /// The action of the line whose hint stands at a column.
    package static func action(
        at column: Int, _ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, width: Int,
        words: [Action: String] = [:]
    ) -> Action? {
        let hints = hints(actions, in: view, keys, words)
        let pieces = pieces(hints.map { ($0.key, $0.word) }, width: width, keepsLast: keepsLast(actions))
        return pieces.first { $0.cells.contains(column) }.map { hints[$0.hint].action }
    }

    private static func keepsLast(_ actions: [Action]) -> Bool { actions.count > 1 && actions.last == .leave }

    private static func hints(
        _ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, _ words: [Action: String]
    ) -> [(action: Action, key: String, word: String)] {
        actions.compactMap { action in
            // What is added while the engine is lost stands beside the keys that go on working.
            let names = [view] + (view == .lost ? [.transfers] : [])
            guard let key = names.lazy.compactMap({ keys.keys(for: action, in: $0).first }).first,
                let word = words[action] ?? action.hint(in: view)
            else { return nil }
            return (action, key.name, word)
        }
    }

    /// Keys and words that are always the same, as in a question.
    /// - Parameter keepsLast: the last one goes last.
    package static func text(
        _ hints: [(key: String, word: String)], width: Int, keepsLast: Bool = false
    ) -> SafeText {
        var line = SafeText([])
        for piece in pieces(hints, width: width, keepsLast: keepsLast) {
            line += SafeText("").fitted(to: piece.cells.lowerBound - line.width) + piece.text
        }
        return line.beginning(of: max(0, width))
    }

    // MARK: What fits

    private struct Piece {
        /// The index of the hint.
        var hint: Int
        var text: SafeText
        var cells: Range<Int>
    }

    /// Narrower windows have the keys alone rather than fewer of them.
    private static let widthOfWords = 60

    /// Whole words with air between them; then fewer of them; in a narrow window the bare keys.
    private static func pieces(
        _ hints: [(key: String, word: String)], width: Int, keepsLast: Bool
    ) -> [Piece] {
        guard let first = hints.first, let last = hints.last else { return [] }
        let room = width - 2
        // Help is found at every width; then what leaves.
        let help = hints.firstIndex { $0.word == "help" }
        let keepsLast = keepsLast || last.word == "help" && hints.count > 1
        var words = hints.indices.map { (hint: $0, text: "\(hints[$0].key) \(hints[$0].word)") }
        let gaps = width < widthOfWords ? [3, 2, 1] : [3, 2]
        for gap in gaps { if let placed = placed(words, gap: gap, room) { return placed } }
        if width >= widthOfWords {
            // What matters least goes, from the right.
            func mayGo(_ hint: Int) -> Bool { hint > 0 && hint != help && !(keepsLast && hint == hints.count - 1) }
            while let index = words.lastIndex(where: { mayGo($0.hint) }) {
                words.remove(at: index)
                for gap in gaps { if let placed = placed(words, gap: gap, room) { return placed } }
            }
        }
        let title = first.key + (first.key.count > 1 ? " " : "") + first.word
        let end = keepsLast ? [(hint: hints.count - 1, text: last.key)] : []
        for text in [title, first.key] {
            var keys = [(hint: 0, text: text)]
            guard var fitting = placed(keys + end, gap: 1, room) else { continue }
            for hint in hints.indices.dropFirst().dropLast(end.count) {
                keys.append((hint, hints[hint].key))
                guard let longer = placed(keys + end, gap: 1, room) else { break }
                fitting = longer
            }
            return fitting
        }
        let only = keepsLast ? help ?? hints.count - 1 : 0
        let text = SafeText(keepsLast ? hints[only].key : title)
        return [Piece(hint: only, text: text, cells: 0..<text.width)]
    }

    /// `nil`: there is no room.
    private static func placed(_ words: [(hint: Int, text: String)], gap: Int, _ room: Int) -> [Piece]? {
        var start = 1
        let pieces = words.map { word in
            let text = SafeText(word.text)
            defer { start += text.width + gap }
            return Piece(hint: word.hint, text: text, cells: start..<(start + text.width))
        }
        return (pieces.last?.cells.upperBound ?? 1) - 1 <= room ? pieces : nil
    }
}
