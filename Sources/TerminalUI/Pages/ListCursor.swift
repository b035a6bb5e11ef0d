import DisplayText

/// The cursor of a list whose rows come and go: it stays on its row.
struct ListCursor<ID: Hashable & Sendable>: Sendable {
    /// The row that a key chose last, or the first one; `nil`: there was none yet.
    private var id: ID?
    /// The line.
    private(set) var index = 0
    /// Its row is there no more, and no key has moved it since: one that was meant for that row must not hit its neighbour. What changes
    /// something is refused once, by `refusal`.
    private(set) var isGone = false

    /// The rows have changed.
    mutating func follow(_ rows: [ID]) {
        let place = rows.firstIndex { $0 == id }
        isGone = id != nil && place == nil
        index = place ?? min(index, max(0, rows.count - 1))
        if id == nil { id = rows.first }
    }

    /// A key goes to a line.
    mutating func move(to line: Int, in rows: [ID]) {
        index = min(max(0, line), max(0, rows.count - 1))
        id = rows.isEmpty ? nil : rows[index]
        isGone = false
    }

    /// Refuses what was meant for a row that is gone; the next key is for the one that is under the cursor now. `nil`: no row is gone.
    /// - Parameters:
    ///   - kind: a word for such a row.
    ///   - now: names the row under the cursor; `nil`: there is none.
    mutating func refusal(_ kind: SafeText, now: SafeText?, in rows: [ID]) -> SafeText? {
        guard isGone else { return nil }
        move(to: index, in: rows)
        return .gone(kind, now: now)
    }
}

extension SafeText {
    /// The refusal of a key that was meant for a row that is there no more.
    static func gone(_ kind: SafeText, now: SafeText?) -> SafeText {
        "That \(kind) is gone\(now.map { ": the cursor is on \($0) now" } ?? "")."
    }
}
