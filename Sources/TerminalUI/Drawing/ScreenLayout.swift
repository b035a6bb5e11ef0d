import Terminal

/// The lines of the window and what they hold. Pure arithmetic; every height has an answer, down to one line.
struct ScreenLayout: Hashable, Sendable {
    /// Name, engine, counts.
    var header: Int?
    /// The only bar over the whole width; without a header also what matters most.
    var total: Int
    var titles: Int?
    var tree: Range<Int>
    /// Details of the cursor's row and the throughput; empty in small windows.
    var lower: Range<Int>
    /// The log's last lines, below those.
    var lowerLog: Range<Int>
    /// Full path of the cursor's row; the details have it where they are shown.
    var path: Int?
    /// Marks at the left, problems at the right.
    var marks: Int?
    /// The last message, or the prompt; empty where both take the place of the hints.
    var message: Range<Int>
    var hints: Int?

    /// The heights that the lower part can be switched to, the first at first.
    static let lowerHeights = [9, 12, 0]

    init(_ size: ScreenSize, lower height: Int = lowerHeights[0]) {
        let rows = size.rows
        switch rows {
        case 1: self.init(total: 0, tree: 1..<1, message: 1..<1, hints: nil)
        case 2: self.init(total: 0, tree: 1..<1, message: 1..<1, hints: 1)
        case 3..<12: self.init(total: 0, tree: 1..<(rows - 1), message: 1..<1, hints: rows - 1)
        case 12..<18:
            self.init(total: 1, tree: 3..<(rows - 2), message: (rows - 2)..<(rows - 1), hints: rows - 1)
            (header, titles) = (0, 2)
        default:
            let lower = rows >= 30 && size.columns >= 60 ? height : 0
            let end = rows - (lower > 0 ? 4 : 5)
            self.init(total: 1, tree: 3..<(end - lower), message: (rows - 3)..<(rows - 1), hints: rows - 1)
            let log = lower >= 12 ? 3 : 0
            self.lower = (end - lower)..<(end - log)
            lowerLog = (end - log)..<end
            (header, titles, path, marks) = (0, 2, lower > 0 ? nil : rows - 5, rows - 4)
        }
    }

    private init(total: Int, tree: Range<Int>, message: Range<Int>, hints: Int?) {
        self.total = total
        self.tree = tree
        self.message = message
        self.hints = hints
        lower = tree.upperBound..<tree.upperBound
        lowerLog = lower
    }

    /// The line where text is typed.
    var prompt: Int { message.first ?? hints ?? total }
    /// The line that says what is wrong with the typed text.
    var promptNote: Int? { message.count > 1 ? message.lowerBound + 1 : message.isEmpty ? total : hints }
}
