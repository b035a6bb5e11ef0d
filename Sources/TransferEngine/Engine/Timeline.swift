import CurlTransport
import LinuxSystem
import TransferModel

/// The engine's time: the wall clock as it was when it was last looked at, and since then what a clock says that nobody sets and that runs on
/// while the machine sleeps. It jumps only when `step` says so. On the engine's loop.
final class Timeline {
    let clock: any TransportClock
    private let wall: () -> Int64
    private var wallStart: Int64
    private let start: MonotonicInstant
    /// Time before this does not count towards giving up: no engine ran, the machine slept, or the clock was set.
    private var patientSince: Timestamp
    /// The clock minus its awake time, in nanoseconds, when `patientSince` was last set. Only its growth says something: time slept.
    private var asleep: Int64

    /// Times that the clock was set back since the engine started.
    private(set) var setBacks = 0
    /// The time at which the engine started, moved along whenever the clock is set.
    var startedAt = Timestamp(milliseconds: 0)

    /// - Parameter wall: milliseconds since 1970, by the clock that a person or a server may set.
    init(clock: any TransportClock, wall: @escaping () -> Int64) {
        self.clock = clock
        self.wall = wall
        wallStart = wall()
        start = clock.now
        patientSince = Timestamp(milliseconds: wallStart)
        asleep = clock.now.nanoseconds - clock.awake.nanoseconds
    }

    /// Waiting without progress that counts towards giving up: without sleep, and without time before the clock was set.
    func patience(since last: Timestamp) -> Duration {
        let slept = clock.now.nanoseconds - clock.awake.nanoseconds
        if slept - asleep > Self.shortSleep { (asleep, patientSince) = (slept, now) }
        // A later time is one of another clock.
        return now.since(last > now ? patientSince : max(last, patientSince))
    }

    private static let shortSleep: Int64 = 60_000_000_000

    var now: Timestamp { time(at: nanoseconds) }

    /// A reading of `nanoseconds` as a time.
    func time(at nanoseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: wallStart + (nanoseconds - start.nanoseconds) / 1_000_000)
    }

    /// For speeds.
    var nanoseconds: Int64 { clock.now.nanoseconds }

    /// Milliseconds by which the wall clock is ahead of time that nobody sets; another number once somebody has set that clock.
    var lead: Int64 { wall() - nanoseconds / 1_000_000 }

    /// Smaller differences come from the slewing of a time server, and no time that a person names is that exact.
    private static let tolerance: Int64 = 1000

    /// Follows the wall clock where somebody has set it (a Raspberry Pi has no time until it has asked for it). Times that a person has named
    /// mean that clock; what is so long from now has to be moved by what is returned. `nil`: it goes as it went.
    func step() -> Duration? {
        let difference = wall() - now.milliseconds
        guard abs(difference) > Self.tolerance else { return nil }
        wallStart += difference
        patientSince = now
        if difference < 0 { setBacks += 1 }
        return .milliseconds(difference)
    }
}
