import CurlTransport
import LinuxSystem
import TransferModel

/// The timers of the engine; `nil`: none is set. A value of the engine, which sets each of them in one place.
struct EngineTimers {
    /// Looks what may start when the first host that is held back may be asked (`+Lanes`).
    var gate: LoopTimer?
    /// Nothing starts before: no descriptor was left (`LocalRefusal.swift`).
    var shortage: LoopTimer?
    /// Tells who looks of a trouble that has gone on for long enough (`+Troubles`).
    var trouble: LoopTimer?
    /// Lets tasks stand in line again that wait for a time (`+Lanes`).
    var wake: LoopTimer?
    /// The time that `wake` is for.
    var wakesAt: Timestamp?
    /// Looks for the remains of cancelled uploads (`+Remains`).
    var sweep: (timer: LoopTimer, due: MonotonicInstant)?
    /// Time since which something that was left is to be removed, the last of it if there is more; `nil`: nothing is.
    var owesSince: MonotonicInstant?
    /// Looks at moving transfers (`+Live`).
    var tick: LoopTimer?

    /// When the engine stops.
    mutating func cancelAll(_ clock: any TransportClock) {
        for timer in [gate, shortage, trouble, wake, sweep?.timer, tick].compactMap({ $0 }) { clock.cancel(timer) }
        self = EngineTimers()
    }
}
