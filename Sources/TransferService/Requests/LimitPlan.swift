package import Configuration
import Glibc
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Limits of the whole engine: as configured, with what was set by hand over it, and as the clock on the wall says.
package struct LimitPlan: Hashable, Sendable {
    package var up = RateTimetable(.unlimited)
    package var down = RateTimetable(.unlimited)
    package var transfers = 8
    package var transfersPerHost = 8

    package init() {}

    /// The plan with what was set by hand, which wins. A timetable that cannot be read any more leaves what is configured.
    func with(_ stored: StoredLimits) -> LimitPlan {
        var plan = self
        plan.up = stored.up.flatMap { RateTimetable($0) } ?? up
        plan.down = stored.down.flatMap { RateTimetable($0) } ?? down
        plan.transfers = stored.transfers ?? transfers
        plan.transfersPerHost = stored.transfersPerHost ?? transfersPerHost
        return plan
    }

    /// The limits that hold at a second of the week.
    func limits(at second: Int) -> EngineLimits {
        EngineLimits(
            bytesPerSecondUp: up.rate(at: second / 60).bytesPerSecond,
            bytesPerSecondDown: down.rate(at: second / 60).bytesPerSecond, transfers: transfers,
            transfersPerHost: transfersPerHost)
    }

    /// Seconds until a timetable says something else; `nil`: never.
    func seconds(toChangeAfter second: Int) -> Int? {
        let minutes = [up, down].compactMap { $0.minutes(toChangeAfter: second / 60) }.min()
        return minutes.map { $0 * 60 - second % 60 }
    }
}
