import LinuxSystem

/// Bytes written by one connection that may be unacknowledged: twice what the line holds, and two of OpenSSH's longest packets at least.
///
/// What is on its way when a connection breaks has to be sent again, and OpenSSH's server drops what it has read and not yet written. So a short
/// line gets a small window and only a long one the large window without which it would stand idle.
struct LineWindow: Equatable {
    static let least: Int64 = 2 * 255 << 10
    /// A rate is taken over this time at least, or over two round trips.
    private static let period: Int64 = 50_000_000

    /// Bytes that may be on their way.
    private(set) var size: Int64
    private let most: Int64
    /// The shortest time that any answer took, in nanoseconds: the line's own, without waiting behind others.
    private var shortest = Int64.max
    private var since: MonotonicInstant?
    private var bytes: Int64 = 0

    init(most: Int64) {
        self.most = most
        size = min(Self.least, most)
    }

    /// A request with so many bytes of a file, or none, is answered.
    mutating func answered(_ count: Int64, askedAt: MonotonicInstant, at now: MonotonicInstant) {
        shortest = min(shortest, max(1, now.nanoseconds - askedAt.nanoseconds))
        bytes += count
        guard let since else {
            (self.since, bytes) = (now, 0)
            return
        }
        let passed = now.nanoseconds - since.nanoseconds
        guard passed >= max(Self.period, 2 * shortest) else { return }
        let held = Double(bytes) / Double(passed) * Double(shortest)
        size = min(most, max(Self.least, held < Double(most) ? Int64(held * 2) : most))
        (self.since, bytes) = (now, 0)
    }
}
