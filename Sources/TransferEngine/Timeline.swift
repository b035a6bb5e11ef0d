import CurlTransport
import LinuxSystem
import TransferModel

/// The engine's time: the wall clock when it started, and since then what the monotonic clock says. It never jumps, and runs on
/// while the machine sleeps. On the engine's loop.
final class Timeline {
    let clock: any TransportClock
    private let wallStart: Int64
    private let start: MonotonicInstant

    init(clock: any TransportClock, wallMilliseconds: Int64) {
        self.clock = clock
        wallStart = wallMilliseconds
        start = clock.now
    }

    var now: Timestamp { time(at: nanoseconds) }

    /// A reading of `nanoseconds` as a time.
    func time(at nanoseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: wallStart + (nanoseconds - start.nanoseconds) / 1_000_000)
    }

    /// For speeds.
    var nanoseconds: Int64 { clock.now.nanoseconds }
}
