/// The speed of one attempt from its beginning on. A value; the caller brings a clock's reading in nanoseconds.
public struct AttemptPace: Hashable, Sendable {
    /// A younger attempt has no average.
    static let youth: Int64 = 1_000_000_000
    /// Before that the buffers on the way swallow more than the line carries.
    static let settling: Int64 = 12_000_000_000

    private let startedAt: Int64
    private var moved: Int64 = 0
    /// The highest speed so far; what an earlier attempt of the same file has reached counts. 0: none is known.
    public private(set) var best: Int64

    public init(at nanoseconds: Int64, best: Int64 = 0) {
        startedAt = nanoseconds
        self.best = best
    }

    /// So many bytes more have moved.
    public mutating func add(_ bytes: Int64) { moved += max(0, bytes) }

    /// Takes note of a speed that is shown.
    public mutating func note(_ bytesPerSecond: Int64, at nanoseconds: Int64) {
        if nanoseconds - startedAt >= Self.settling { best = max(best, bytesPerSecond) }
    }

    /// `nil`: nothing has moved, or not for long enough.
    public func average(at nanoseconds: Int64) -> Int64? {
        let passed = nanoseconds - startedAt
        guard moved > 0, passed >= Self.youth else { return nil }
        return Int64(Double(moved) / (Double(passed) / 1e9))
    }
}
