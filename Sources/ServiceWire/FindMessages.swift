package import TransferModel

/// Parameters of `tree.find`: a name that is looked for in the whole queue.
package struct FindRequest: Codable, Hashable, Sendable {
    /// Part of a name; case matters only with capitals.
    package var text: String
    /// The row from which to search, as in `view.changed`; missing: from the first row.
    package var after: RowID?
    /// True when `after` itself counts.
    package var here: Bool?
    /// The previous one.
    package var backwards: Bool?
    /// As the sections are asked for that the client shows.
    package var order: TreeOrder?
    package var flat: Bool?
    /// Only files that match this expression.
    package var filter: String?

    package init(
        text: String, after: RowID? = nil, here: Bool? = nil, backwards: Bool? = nil, order: TreeOrder? = nil,
        flat: Bool? = nil, filter: String? = nil
    ) {
        self.text = text
        self.after = after
        self.here = here
        self.backwards = backwards
        self.order = order
        self.flat = flat
        self.filter = filter
    }
}
