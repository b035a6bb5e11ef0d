/// Bytes that have crossed the wire since local midnight. A value; the caller brings the time, and knows the time zone.
public struct TodayCount: Sendable {
    /// Every midnight of every time zone is the beginning of a quarter of an hour: the zone is asked that often at most.
    private static let quarter: Int64 = 900_000

    public private(set) var count: DayCount
    private var askedIn: Int64
    private let localDay: @Sendable (Timestamp) -> Int64

    /// - Parameter localDay: which day a time belongs to, as in `DayCount`.
    public init(at time: Timestamp, localDay: @escaping @Sendable (Timestamp) -> Int64) {
        self.localDay = localDay
        count = DayCount(day: localDay(time))
        askedIn = time.milliseconds / Self.quarter
    }

    /// Goes on with what was counted before the engine started; another day's is over.
    public mutating func adopt(_ earlier: DayCount) {
        guard earlier.day == count.day else { return }
        count.up += earlier.up
        count.down += earlier.down
    }

    public mutating func add(_ bytes: Int64, _ direction: TransferDirection, at time: Timestamp) {
        pass(to: time)
        if direction == .upload { count.up += bytes } else { count.down += bytes }
    }

    /// A day that is over counts no more.
    public mutating func pass(to time: Timestamp) {
        let quarter = time.milliseconds / Self.quarter
        guard quarter != askedIn else { return }
        askedIn = quarter
        let day = localDay(time)
        if day != count.day { count = DayCount(day: day) }
    }
}
