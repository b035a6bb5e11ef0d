/// Tells a transfer that crawls from one that moves: it took more than a minute for its last 64 KiB, or has not had so much in its first minute.
/// A server that sends a byte now and then never stalls, and would hold its slots for ever.
public struct CrawlMark: Hashable, Sendable {
    /// Bytes in `span` by which a transfer moves.
    public static let leastBytes: Int64 = 64 << 10
    public static let span = Duration.seconds(60)

    /// When the bytes that are counted began, by a clock that stands still while the machine sleeps.
    private var start: Int64
    private var bytes: Int64 = 0

    /// - Parameter nanoseconds: now.
    public init(at nanoseconds: Int64) { start = nanoseconds }

    /// Counts bytes that have moved.
    public mutating func add(_ moved: Int64, at nanoseconds: Int64) {
        bytes += moved
        if bytes >= Self.leastBytes { self = CrawlMark(at: nanoseconds) }
    }

    public func isCrawling(at nanoseconds: Int64) -> Bool { .nanoseconds(nanoseconds - start) >= Self.span }
}
