/// Finds what a person meant by a word that is not known.
package enum Suggestion {
    /// The candidate with the fewest edits, when these are few for the word's length; the first of equals.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(1, word.count / 3)
        let close = candidates.map { ($0, distance(word, $0)) }.filter { $0.1 <= limit }
        if let best = close.min(by: { $0.1 < $1.1 }) { return best.0 }
        let longer = candidates.filter { word.count >= 3 && $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
    static func distance(_ one: String, _ other: String) -> Int {
        let one = Array(one.utf8)
        let other = Array(other.utf8)
        // Three rows suffice; a long word typed by mistake must not cost a square of memory.
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in 0..<one.count {
            var current = [row + 1]
            for column in 0..<other.count {
                let replaced = last[column] + (one[row] == other[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[other.count]
    }
}
