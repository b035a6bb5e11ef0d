extension Action {
    /// The first line in sight after it, of a text of which `top` is the first now; `nil`: it does not scroll.
    /// - Parameters:
    ///   - height: lines in sight.
    ///   - most: the last line that can be the first in sight.
    func scrolled(from top: Int, height: Int, most: Int) -> Int? {
        let line: Int
        switch self {
        case .down: line = top + 1
        case .up: line = top - 1
        case .halfPageDown: line = top + max(1, height / 2)
        case .halfPageUp: line = top - max(1, height / 2)
        // A line stays, so that the eye finds its place.
        case .pageDown: line = top + max(1, height - 1)
        case .pageUp: line = top - max(1, height - 1)
        case .first: line = 0
        case .last: line = most
        default: return nil
        }
        return min(max(0, line), most)
    }

    /// The line that the cursor goes to from `line` of a list, which says itself where it ends; `nil`: it stays.
    /// - Parameter leap: lines of a page.
    func line(from line: Int, leap: Int) -> Int? {
        switch self {
        case .down: line + 1
        case .up: line - 1
        case .pageDown, .halfPageDown: line + leap
        case .pageUp, .halfPageUp: line - leap
        case .first: 0
        case .last: .max
        default: nil
        }
    }
}
