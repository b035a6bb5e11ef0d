/// Figures of an attempt that is under way.
public struct AttemptFigures: Codable, Hashable, Sendable {
    /// Bytes that it has moved, by the time that it has taken so far; missing until that says something.
    public var averageBytesPerSecond: Int64?
    /// The highest speed that the file has had in this run of the engine; missing in the first seconds.
    public var bestBytesPerSecond: Int64?
    /// True when the file would go on where it stands if it were broken off now; missing while nobody can tell.
    public var resumable: Bool?

    public init(averageBytesPerSecond: Int64? = nil, bestBytesPerSecond: Int64? = nil, resumable: Bool? = nil) {
        self.averageBytesPerSecond = averageBytesPerSecond
        self.bestBytesPerSecond = bestBytesPerSecond
        self.resumable = resumable
    }
}
