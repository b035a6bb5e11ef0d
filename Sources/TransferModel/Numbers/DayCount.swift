/// Bytes that have crossed the wire on one day.
public struct DayCount: Codable, Hashable, Sendable {
    /// The local day: 20261122.
    public var day: Int64
    public var up: Int64
    public var down: Int64

    public init(day: Int64, up: Int64 = 0, down: Int64 = 0) {
        self.day = day
        self.up = up
        self.down = down
    }
}
