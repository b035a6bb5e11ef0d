import MartletKit

/// The connection to the engine as the screen knows it: the state of the link, the clock there, and when it was heard of.
struct Connection: Sendable {
    /// The state of the link to the engine.
    enum State: Hashable, Sendable {
        /// At the start.
        case connecting
        case connected(EngineIdentity)
        /// It was there. `nextTry` is `nil` while it is tried.
        case lost(since: Timestamp, nextTry: Timestamp?, Loss)
        /// None answered and none could be started.
        case failed(RequestError)
    }

    var state = State.connecting
    /// The time in which a change can be undone, as the engine says.
    var grace: Duration
    /// By how much the clock of the engine's machine is ahead of this one's.
    var clockAhead = Duration.zero
    /// Since when the engine runs, by this machine's clock.
    var engineSince: Timestamp?
    /// When the engine last told of its rows.
    var lastNews: Timestamp?
    /// When the engine said anything last.
    var heardAt = Duration.zero
    /// Starts of an engine that has ended by accident.
    var restarts = EngineRestarts()
    /// True from such a start until the engine answers.
    var wasStartedAgain = false

    init(grace: Duration) { self.grace = grace }

    var isConnected: Bool { if case .connected = state { true } else { false } }

    /// For how long it has been lost; `nil`: it is not.
    func lostFor(at now: Timestamp) -> Duration? {
        if case .lost(let since, _, _) = state { max(.zero, now.since(since)) } else { nil }
    }

    /// A moment by the engine's clock: what the engine says when something will be is by that one.
    func engineMoment(_ now: Moment) -> Moment { Moment(uptime: now.uptime, wall: now.wall.advanced(by: clockAhead)) }
}
