import MartletKit

/// The cursor's way to a row that was asked for and that is not there yet. Until it ends, keys that mean the cursor's row are refused. A
/// key that moves the cursor ends it, and later answers find nobody waiting.
enum Going: Hashable, Sendable {
    /// The cursor is where it was left.
    case nowhere
    /// To this row as soon as it is there.
    case to(RowID)
    /// To the engine's answer, so many matches further; backwards below 0. `from`: the match before, while that is on its way itself.
    case sought(steps: Int, from: RowID?)
    /// To the next row that needs a look, when the next section comes.
    case problem

    /// The row that the cursor goes to as soon as it is there.
    var row: RowID? {
        switch self {
        case .to(let row): row
        case .sought(_, let from): from
        case .nowhere, .problem: nil
        }
    }

    /// The cursor is on `row`.
    mutating func arrive() {
        self = if case .sought(let steps, _) = self { .sought(steps: steps, from: nil) } else { .nowhere }
    }

    /// No answer is waited for any more.
    mutating func endSearch() {
        if case .sought(_, let from) = self { self = from.map(Going.to) ?? .nowhere }
    }
}
