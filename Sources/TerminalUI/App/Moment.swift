import MartletKit

/// An instant, by the clock that nobody sets and by the one on the wall. Comes with every message, so that the model
/// reads no clock.
struct Moment: Hashable, Sendable {
    /// Since the screen was opened; for what happens on this screen.
    var uptime: Duration
    /// For what the engine says.
    var wall: Timestamp

    init(uptime: Duration, wall: Timestamp) {
        self.uptime = uptime
        self.wall = wall
    }

    /// Whole seconds until an instant, a begun one counted whole; 0 when it has passed.
    func seconds(until instant: Duration) -> Int64 { Self.wholeSeconds(instant - uptime) }

    /// As `seconds(until:)`, by the wall.
    func seconds(until time: Timestamp) -> Int64 { Self.wholeSeconds(time.since(wall)) }

    private static func wholeSeconds(_ duration: Duration) -> Int64 {
        let (seconds, rest) = duration.components
        return max(0, seconds + (rest > 0 ? 1 : 0))
    }
}
