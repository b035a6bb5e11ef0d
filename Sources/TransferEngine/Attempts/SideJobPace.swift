import LinuxSystem
import WireOperations

/// The pace of a side job, by which a server that answers too slowly is told from one that has much to say.
///
/// One that sends a byte now and then is never silent, so no transport gives it up; it would hold a slot for days, and what is to be done
/// after it.
struct SideJobPace {
    private static let patience = Duration.seconds(120)
    private static let timeOfExchange = Duration.seconds(10)
    /// Bytes in a second.
    private static let slowest: Int64 = 1024

    private let begun: MonotonicInstant
    /// Those that have begun so far.
    private var exchanges = 0
    private var bytes: Int64 = 0
    /// Bytes that those in flight had moved at the last look.
    private var inFlight: [WireID: Int64] = [:]

    init(at now: MonotonicInstant) { begun = now }

    /// - Parameters:
    ///   - moved: bytes that each exchange in flight has moved.
    ///   - exchanges: those that have begun, also between two looks.
    mutating func look(_ moved: [WireID: Int64], exchanges: Int) {
        for (wire, count) in moved { bytes += max(0, count - (inFlight[wire] ?? 0)) }
        inFlight = moved
        self.exchanges = exchanges
    }

    /// - Parameter now: as the clock that stands still while the machine sleeps.
    func isTooSlow(at now: MonotonicInstant) -> Bool {
        begun.duration(to: now) > Self.patience + Self.timeOfExchange * exchanges + .seconds(bytes / Self.slowest)
    }
}
