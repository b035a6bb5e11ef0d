/// The result of a search for a name.
public struct FoundRow: Codable, Hashable, Sendable {
    /// The rows to open, the batch first, and at the end the one that was found; empty: none was.
    public var way: [RowID]
    /// Rows whose names match, of those looked at so far.
    public var matches: Int64
    /// True when all rows were looked at.
    public var complete: Bool
    /// True when the search went round the end.
    public var wrapped: Bool

    public init(way: [RowID], matches: Int64, complete: Bool = true, wrapped: Bool = false) {
        self.way = way
        self.matches = matches
        self.complete = complete
        self.wrapped = wrapped
    }
}
