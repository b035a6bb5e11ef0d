/// The meaning of a cell. The palette decides how that looks; no view names a colour.
package enum Role: UInt8, CaseIterable, Hashable, Sendable {
    case plain
    /// Done.
    case ok
    /// Running.
    case active
    /// Being looked at: scanning, hashing, checking.
    case info
    /// Needs a look, but goes on by itself: stalled, waiting for a retry.
    case warn
    /// Gave up.
    case error
    /// Needs the person: a sign-in, a question.
    case attention
    /// Less important than its neighbours.
    case dim
    /// The first line.
    case header
    /// The line with the keys.
    case hint
    /// Column titles.
    case title
}

/// A role, and whether the row is the selected one or marked.
package struct Style: Hashable, Sendable {
    package var role: Role
    /// Reverse, on the cursor's row; hides the role's colour.
    package var isSelected: Bool
    /// Bold: marked rows, the sorted column's title, a word that must be seen without colour.
    package var isStrong: Bool

    package init(_ role: Role = .plain, selected: Bool = false, strong: Bool = false) {
        self.role = role
        isSelected = selected
        isStrong = strong
    }

    package static let plain = Style()
    package static let ok = Style(.ok)
    package static let active = Style(.active)
    package static let info = Style(.info)
    package static let warn = Style(.warn)
    package static let error = Style(.error)
    package static let attention = Style(.attention)
    package static let dim = Style(.dim)
    package static let header = Style(.header)
    package static let hint = Style(.hint)
    package static let title = Style(.title)
    package static let marked = Style(.plain, strong: true)
}
