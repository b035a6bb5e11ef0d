/// A count of events in the last five minutes: a ring of a fixed size. A value; the caller brings a clock's reading in
/// nanoseconds.
public struct RecentCount: Sendable {
    /// Seconds of a step, and how many are kept.
    private static let step: (seconds: Int64, count: Int64) = (5, 60)

    private let startedAt: Int64
    private var newest: Int64
    /// Events per step; the step with number n is at n modulo their count.
    private var counts: [Int64]

    public init(at nanoseconds: Int64) {
        startedAt = nanoseconds
        newest = Self.number(nanoseconds)
        counts = Array(repeating: 0, count: Int(Self.step.count))
    }

    /// It has happened once more.
    public mutating func add(at nanoseconds: Int64) {
        advance(to: nanoseconds)
        counts[Int(newest % Self.step.count)] += 1
    }

    /// The number of events, and the seconds that it covers: a minute at least, or the first time would look like many.
    public mutating func count(at nanoseconds: Int64) -> (count: Int64, seconds: Int64) {
        advance(to: nanoseconds)
        let lasted = (nanoseconds - startedAt) / 1_000_000_000
        return (counts.reduce(0, +), min(Self.step.seconds * Self.step.count, max(60, lasted)))
    }

    private mutating func advance(to nanoseconds: Int64) {
        let number = Self.number(nanoseconds)
        guard number > newest else { return }
        for passed in max(newest + 1, number - Self.step.count + 1)...number {
            counts[Int(passed % Self.step.count)] = 0
        }
        newest = number
    }

    private static func number(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000_000 / step.seconds }
}
