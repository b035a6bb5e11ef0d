/// The engine's knowledge of one host in this run, and how much it may ask of it now. Pure: the caller brings the time,
/// which is the engine's own and never jumps.
public struct HostStanding: Hashable, Sendable {
    /// The result of an attempt, as far as it says something about the host.
    public enum Experience: Hashable, Sendable {
        /// It answered and did what was asked, or said a clear no.
        case answered
        /// Bytes move, in an attempt that began after all that went wrong before; how it ends is not known yet.
        case reached
        /// There was no connection: name, refusal, time-out. All tasks of the host would meet the same.
        case unreachable
        /// The connection broke, or it answered that something is wrong with it at the moment.
        case failed
        /// It asked for fewer requests (429, 503, `Retry-After`); nobody asks again before that. `isAsked`: it said itself for how long.
        case overloaded(until: Timestamp, isAsked: Bool = true)
    }

    /// After so many failures in a row one attempt at a time feels, with growing pauses, whether the host is back.
    public static let patience = 5

    /// Attempts that may run at the same time: the limit, halved each time the host was overloaded.
    public private(set) var share: Int
    public private(set) var failures = 0
    /// Nothing starts before this.
    public private(set) var closedUntil: Timestamp?
    /// True when the last word was that it cannot be reached.
    public private(set) var isUnreachable = false
    /// Tries in a row that it did not serve, whatever was wrong, and the time of the first of them. What was under way when it was closed
    /// is one with what closed it, and a pause that it asked for is none.
    private var refusals = 0
    public private(set) var refusedSince: Timestamp?
    /// When it asked for a pause first, since it served something.
    private var pausedSince: Timestamp?
    /// The last that it did not serve it answered with how long to stay away.
    public private(set) var isAskedPause = false
    /// The pause that the host asked for itself.
    private var askedUntil: Timestamp?
    private var answersSinceHalved = 0

    public init(limit: Int) { share = max(1, limit) }

    /// True when one more attempt may start beside `active` ones.
    public func mayStart(active: Int, limit: Int, now: Timestamp) -> Bool {
        if isClosed(now) { return false }
        return active < allowance(limit: limit)
    }

    /// True when only one attempt at a time may run, to find out whether the host is back.
    public var isOnTrial: Bool { failures >= Self.patience || isUnreachable }

    /// True when nothing is wrong with the host and it takes as many attempts as it may, as one that nothing is known of.
    public func isWell(limit: Int, now: Timestamp) -> Bool {
        failures == 0 && !isUnreachable && refusals == 0 && share >= limit && !isClosed(now)
    }

    /// So many tries in a row, over so long, are something to tell a person: no restart and no busy moment, which mend themselves.
    public static let troublesome = (attempts: 3, period: Duration.seconds(10))
    /// So long a pause is, too, though the host asked for it; several without anything served between them are one.
    public static let troublesomePause = Duration.seconds(60)

    /// Since when it has served nothing, when that has gone on for so long that a person should know; `nil`: it is well, or may be.
    public func troubledSince(_ now: Timestamp) -> Timestamp? {
        var since: [Timestamp] = []
        if let pausedSince, let askedUntil, askedUntil.since(pausedSince) >= Self.troublesomePause {
            since.append(pausedSince)
        }
        if refusals >= Self.troublesome.attempts, let refusedSince,
            now.since(refusedSince) >= Self.troublesome.period
        {
            since.append(refusedSince)
        }
        return since.min()
    }

    /// When it may be time to tell a person of what it has not served so far; `nil`: nothing goes on, or that time is past.
    public func troubleDue(_ now: Timestamp) -> Timestamp? {
        refusedSince.map { $0.advanced(by: Self.troublesome.period) }.flatMap { $0 > now ? $0 : nil }
    }

    /// Attempts that may run at the same time once the host is open.
    public func allowance(limit: Int) -> Int {
        isOnTrial ? 1 : min(share, max(1, limit))
    }

    /// Takes in how an attempt went.
    /// - Parameters:
    ///   - limit: attempts per host as configured.
    ///   - random: uniform in 0..<1, for the pause after a host could not be reached.
    /// - Returns: whether the host was held back and is open again: what waits for it can go on.
    public mutating func learn(
        _ experience: Experience, limit: Int, now: Timestamp, rule: RetryRule = RetryRule(), random: Double
    ) -> Bool {
        note(experience, now)
        switch experience {
        case .answered:
            let wasOnTrial = isOnTrial
            failures = 0
            isUnreachable = false
            recover(limit: limit)
            return wasOnTrial
        case .reached:
            // One that answers with errors may take a whole file before it does.
            guard isUnreachable else { return false }
            failures = 0
            isUnreachable = false
            return true
        case .failed:
            if isClosed(now) { break }
            failures += 1
            if failures >= Self.patience {
                close(until: now.advanced(by: rule.delay(failures: failures - Self.patience + 1, random: random)))
            }
        case .unreachable:
            isUnreachable = true
            if isClosed(now) { break }
            failures += 1
            close(until: now.advanced(by: rule.delay(failures: failures, random: random)))
        case .overloaded(let until, let isAsked):
            // Answers that were under way when it said so do not halve it again and again.
            if !isClosed(now) { share = max(1, min(share, limit) / 2) }
            answersSinceHalved = 0
            // One that names no time leaves it to us, and to whoever wants it tried now.
            if isAsked { askedUntil = max(askedUntil ?? until, until) }
            close(until: until)
        }
        return false
    }

    /// The network is another one now, or a person wants it tried: our own pauses are void, one that the host asked for is not.
    public mutating func forgetFailures() {
        failures = 0
        isUnreachable = false
        closedUntil = askedUntil
    }

    /// The clock was set: what is so long from now stays so.
    public mutating func move(by step: Duration) {
        func moved(_ time: Timestamp?) -> Timestamp? { time.map { $0.advanced(by: step) } }
        closedUntil = moved(closedUntil)
        askedUntil = moved(askedUntil)
        refusedSince = moved(refusedSince)
        pausedSince = moved(pausedSince)
    }

    private mutating func note(_ experience: Experience, _ now: Timestamp) {
        switch experience {
        case .answered where isAskedToWait(now):
            // It was under way when the host asked for a pause: that holds.
            (refusals, refusedSince) = (0, nil)
        case .answered: forgetRefusals()
        case .reached: if isUnreachable { forgetRefusals() }
        case .overloaded(_, isAsked: true):
            pausedSince = pausedSince ?? now
            isAskedPause = true
        case .unreachable, .failed, .overloaded:
            if isClosed(now) { return }
            (refusals, refusedSince) = (refusals + 1, refusedSince ?? now)
            isAskedPause = false
        }
    }

    private mutating func forgetRefusals() {
        (refusals, refusedSince, pausedSince, isAskedPause) = (0, nil, nil, false)
    }

    /// The host itself has named a time before which nobody is to ask.
    public func isAskedToWait(_ now: Timestamp) -> Bool { askedUntil.map { now < $0 } ?? false }

    /// True while nothing may start. An attempt that ends now was under way at the closing and met its cause: that makes nothing worse.
    private func isClosed(_ now: Timestamp) -> Bool { closedUntil.map { now < $0 } ?? false }

    private mutating func close(until time: Timestamp) {
        closedUntil = max(closedUntil ?? time, time)
    }

    /// One more at a time for every full round of answers.
    private mutating func recover(limit: Int) {
        guard share < limit else { return }
        answersSinceHalved += 1
        guard answersSinceHalved >= 4 * share else { return }
        answersSinceHalved = 0
        share += 1
    }
}
