/// What a search for a name came to.
public struct FoundRow: Codable, Hashable, Sendable {
    /// The rows to open, the batch first, and at the end the one that was found; empty: none was.
    public var way: [RowID]
    /// Rows whose names match, of those looked at so far.
    public var matches: Int64
    /// Whether all were looked at.
    public var complete: Bool
    /// Whether it went round the end.
    public var wrapped: Bool

    public init(way: [RowID], matches: Int64, complete: Bool = true, wrapped: Bool = false) {
        self.way = way
        self.matches = matches
        self.complete = complete
        self.wrapped = wrapped
    }
}
