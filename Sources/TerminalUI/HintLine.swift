package import DisplayText
import Terminal

/// The last line: the keys that matter here, as many as fit. `?help` is the last to go.
package enum HintLine {
    /// - Parameter actions: in the order in which they stand; those that fit least go first, from the right, but never
    ///   the first one.
    package static func text(_ actions: [Action], in view: KeyMap.View, _ keys: KeyMap, width: Int) -> SafeText {
        let hints = actions.compactMap { action -> (key: String, word: String)? in
            // What is added while the engine is lost stands beside the keys that go on working.
            let names = [view] + (view == .lost ? [.transfers] : [])
            guard let key = names.lazy.compactMap({ keys.keys(for: action, in: $0).first }).first,
                let word = action.hint
            else { return nil }
            return (key.name, word)
        }
        return text(hints, width: width)
    }

    /// Keys and words that are always the same, as in a question.
    package static func text(_ hints: [(key: String, word: String)], width: Int) -> SafeText {
        let room = width - 2
        // Whole words with air, then close together, then the bare keys, then fewer of them.
        for (separator, joint) in [("   ", " "), ("  ", " "), (" ", " ")] {
            let line = hints.map { $0.key + joint + $0.word }.joined(separator: separator)
            if SafeText(line).width <= room { return " " + SafeText(line) }
        }
        guard let first = hints.first else { return SafeText([]) }
        var line = SafeText(first.key + (first.key.count > 1 ? " " : "") + first.word)
        for hint in hints.dropFirst() {
            let longer = line + SafeText(" " + hint.key)
            if longer.width > room { break }
            line = longer
        }
        if line.width <= room { return " " + line }
        return line.beginning(of: width)
    }
}
