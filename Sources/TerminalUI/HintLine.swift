package import DisplayText
import Terminal

/// The last line: the keys that matter here, as many as fit. What leaves goes last but one, help last.
package enum HintLine {
    /// - Parameter actions: in the order in which they stand; those that fit least go first, from the right, but never
    ///   the first one, nor the key that leaves.
    package static func text(_ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, width: Int) -> SafeText {
        text(
            hints(actions, in: view, keys).map { ($0.key, $0.word) }, width: width,
            keepsLast: actions.count > 1 && actions.last == .leave)
    }

    /// Which of the actions in the line stands at a column.
    package static func action(
        at column: Int, _ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, width: Int
    ) -> Action? {
        let line = text(actions, in: view, keys, width: width).string
        var rest = line.startIndex
        for hint in hints(actions, in: view, keys) {
            // As `text` may have written it: whole, close together, or the key alone.
            let forms = [" \(hint.key) \(hint.word)", " \(hint.key)\(hint.word)", " \(hint.key)"]
            // One that had no room is passed over.
            guard let place = forms.lazy.compactMap({ line[rest...].firstRange(of: $0) }).first else { continue }
            let end = line.distance(from: line.startIndex, to: place.upperBound)
            if column < end {
                return column > line.distance(from: line.startIndex, to: place.lowerBound) ? hint.action : nil
            }
            rest = place.upperBound
        }
        return nil
    }

    private static func hints(
        _ actions: [Action], in view: KeyMap.View, _ keys: KeyMap
    ) -> [(action: Action, key: String, word: String)] {
        actions.compactMap { action in
            // What is added while the engine is lost stands beside the keys that go on working.
            let names = [view] + (view == .lost ? [.transfers] : [])
            guard let key = names.lazy.compactMap({ keys.keys(for: action, in: $0).first }).first,
                let word = action.hint(in: view)
            else { return nil }
            return (action, key.name, word)
        }
    }

    /// Keys and words that are always the same, as in a question.
    /// - Parameter keepsLast: the last one goes last.
    package static func text(
        _ hints: [(key: String, word: String)], width: Int, keepsLast: Bool = false
    ) -> SafeText {
        let room = width - 2
        // Whole words with air, then close together, then the bare keys, then fewer of them.
        for (separator, joint) in [("   ", " "), ("  ", " "), (" ", " ")] {
            let line = hints.map { $0.key + joint + $0.word }.joined(separator: separator)
            if SafeText(line).width <= room { return " " + SafeText(line) }
        }
        guard let first = hints.first, let last = hints.last else { return SafeText([]) }
        // Help is found at every width; then what leaves.
        let help = hints.first { $0.word == "help" }
        let keepsLast = keepsLast || last.word == "help" && hints.count > 1
        let end = keepsLast ? SafeText(" " + last.key) : ""
        var line = SafeText(first.key + (first.key.count > 1 ? " " : "") + first.word)
        if keepsLast, line.width + end.width > room {
            line = SafeText(first.key)
            if line.width + end.width > room { return SafeText((help ?? last).key).beginning(of: width) }
        }
        for hint in keepsLast ? hints.dropFirst().dropLast() : hints.dropFirst() {
            let longer = line + SafeText(" " + hint.key)
            if longer.width + end.width > room { break }
            line = longer
        }
        line += end
        if line.width <= room { return " " + line }
        return line.beginning(of: width)
    }
}
