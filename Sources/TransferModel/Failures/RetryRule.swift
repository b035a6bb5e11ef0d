/// When a failed attempt is tried again: full jitter under a cap that rises with the failures in a row, a server's
/// `Retry-After` as a floor. Pure: the caller brings the random number and the clock.
public struct RetryRule: Hashable, Sendable {
    /// The first cap. The first retry of a fresh failure draws below a quarter of it, since most cuts are single events.
    public var base: Duration = .seconds(1)
    /// The highest cap for up to `patience` failures in a row.
    public var cap: Duration = .seconds(60)
    /// After how many failures in a row `longCap` holds.
    public var patience = 20
    public var longCap: Duration = .seconds(300)
    /// A server may not send us away for longer.
    public var longestRetryAfter: Duration = .seconds(86_400)

    public init() {}

    /// The pause before the next attempt.
    /// - Parameters:
    ///   - failures: attempts in a row that ended without the accepted position advancing; 1 or more.
    ///   - retryAfter: the time that the server asked for; `nil`, zero and negative values count as none. It never shortens the wait once `failures` exceeds `patience`.
    ///   - random: uniform in 0..<1.
    public func delay(failures: Int, retryAfter: Duration? = nil, random: Double) -> Duration {
        let exponent = min(max(failures, 1) - 1, 16)
        let limit = failures > patience ? longCap : min(cap, base * (1 << exponent))
        let jitter = (failures <= 1 ? base / 4 : limit) * random
        // No time at all, or one that is past, is none that was asked for.
        guard let retryAfter, retryAfter > .zero else { return jitter }
        let asked = min(retryAfter, longestRetryAfter) + min(jitter, base)
        // A server may lengthen our patience, but not have the same file sent every second for days.
        return failures > patience ? max(asked, jitter) : asked
    }

    /// Statuses that say "later" rather than "no".
    public static func isTransient(httpStatus: Int) -> Bool {
        switch httpStatus {
        case 408, 421, 425, 429, 507, 500, 502, 503, 504, 520...524: true
        default: false
        }
    }
}
