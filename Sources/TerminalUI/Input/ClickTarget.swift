import Terminal

/// The meaning of a click on some cells; noted where they are drawn, so that it cannot mean what is not there.
struct ClickTarget: Sendable {
    enum Meaning: Hashable, Sendable {
        /// An answer of a question.
        case answer(Int)
        /// A line of the palette.
        case entry(Int)
        case form(FormTarget)
    }

    let row: Int
    let columns: Range<Int>
    let meaning: Meaning
}

/// A place of a form.
enum FormTarget: Hashable, Sendable {
    /// `choice`: one of what it can be.
    case field(Int, choice: Int? = nil)
    case button(Int)
}

extension Drawing {
    /// - Parameter columns: `nil`: all of the row.
    mutating func note(_ meaning: ClickTarget.Meaning, row: Int, columns: Range<Int>? = nil) {
        targets.append(ClickTarget(row: row, columns: columns ?? 0..<width, meaning: meaning))
    }

    /// The meaning of a click there on the screen as it is now: what was drawn last lies above.
    static func target(at position: Position, in model: Model) -> ClickTarget.Meaning? {
        drawn(model).targets.last { $0.row == position.row && $0.columns.contains(position.column) }?.meaning
    }
}
