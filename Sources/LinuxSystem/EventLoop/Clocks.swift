import Glibc

/// A point on a clock that nobody sets and that runs on while the machine sleeps. Corresponds to `CLOCK_BOOTTIME`.
package struct MonotonicInstant: InstantProtocol, Sendable, Hashable {
    /// Since the machine started.
    package let nanoseconds: Int64

    /// A point that many nanoseconds after the machine's start; for manual clocks too.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock. Corresponds to `clock_gettime(CLOCK_BOOTTIME)`.
    package static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: WallClock.read(CLOCK_BOOTTIME))
    }

    /// Reads a clock of its own that stands still while the machine sleeps; compare it with nothing but itself. Corresponds to
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    package static var awake: MonotonicInstant {
        MonotonicInstant(nanoseconds: WallClock.read(CLOCK_MONOTONIC))
    }

    /// Clamped to what 64 bits hold: a timer for the end of all days must not be due at once.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let nanoseconds = duration.nanoseconds
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Clamped as `advanced` is.
    package func duration(to other: MonotonicInstant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// The clock on the wall, which a person or a server may set.
package enum WallClock {
    /// Nanoseconds since 1970, UTC. Corresponds to `clock_gettime(CLOCK_REALTIME)`.
    package static var nanoseconds: Int64 { read(CLOCK_REALTIME) }

    /// Milliseconds since 1970, UTC.
    package static var milliseconds: Int64 { nanoseconds / 1_000_000 }

    static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // It fails only for a clock the kernel does not know, and ours are as old as Linux 2.6.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to what 64 bits hold (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || carry { return seconds < 0 ? Int64.min : Int64.max }
        return sum
    }

    /// Whole milliseconds, a started one counted whole, clamped to what an `Int32` holds: `epoll_wait`'s unit.
    var millisecondsRoundedUp: Int32 {
        let nanoseconds = max(0, self.nanoseconds)
        return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }
}
