import CurlTransport
import LinuxSystem
import TransferModel
import TransferQueue

/// The limits of the engine, and the token buckets that attempts draw from. A value of the engine; `TransferEngine+Limits` tells it of new
/// limits, and transports of what came of them.
///
/// Buckets stay as long as their limit does, since exchanges in flight draw from them.
struct LimitBook {
    /// A bucket that is to get this rate, in bytes a second; `nil`: unlimited.
    typealias RateChange = (rate: Int64?, bucket: TokenBucket)

    /// Limits of the whole engine.
    var engine: EngineLimits
    private(set) var up: TokenBucket?
    private(set) var down: TokenBucket?
    /// Buckets of everything else that has a limit for itself.
    private(set) var own: [LimitScope: TokenBucket] = [:]
    /// Buckets that batches of one configured server have together, by its name.
    private(set) var together: [String: TokenBucket] = [:]
    private var shared = SharedLimits()

    init(_ engine: EngineLimits) { self.engine = engine }

    mutating func set(_ limits: EngineLimits, at now: MonotonicInstant) -> [RateChange] {
        var changes: [RateChange] = []
        engine = limits
        up = Self.bucket(up, rate: limits.bytesPerSecondUp, now, &changes)
        down = Self.bucket(down, rate: limits.bytesPerSecondDown, now, &changes)
        return changes
    }

    /// Takes over the limits that the queue has.
    /// - Parameter orders: of the batches that may move.
    /// - Returns: `nil`: there were no limits and there are none.
    mutating func adopt(
        _ limits: [LimitScope: Int64], _ orders: [BatchOrder], at now: MonotonicInstant
    ) -> [RateChange]? {
        if limits.isEmpty, own.isEmpty, together.isEmpty { return nil }
        var changes: [RateChange] = []
        shared = SharedLimits(orders, limits)
        var known: [LimitScope: TokenBucket] = [:]
        for (scope, rate) in limits {
            if case .batch(let batch) = scope, shared.names[batch] != nil { continue }
            known[scope] = Self.bucket(own[scope], rate: rate, now, &changes)
        }
        own = known
        var rest: [String: TokenBucket] = [:]
        for (name, rate) in shared.rates { rest[name] = Self.bucket(together[name], rate: rate, now, &changes) }
        together = rest
        return changes
    }

    /// The buckets that an attempt draws from. The engine's always, also without a limit: one that is set later holds for what is under way.
    func limits(of attempt: Attempt) -> RateLimits {
        let own = ownBuckets(of: attempt)
        return attempt.receives
            ? RateLimits(down: [down].compactMap(\.self) + own)
            : RateLimits(up: [up].compactMap(\.self) + own)
    }

    private func ownBuckets(of attempt: Attempt) -> [TokenBucket] {
        // Most have none, and then nothing is to be looked for.
        if own.isEmpty, together.isEmpty { return [] }
        let task = attempt.task
        let scopes =
            LimitScope.hosts(of: attempt.origin) + [
                .session(attempt.context.order.session), .batch(task.batch), .task(task.id),
            ] + task.folders.map { .folder($0) }
        return scopes.compactMap { own[$0] }
            + [shared.names[task.batch].flatMap { together[$0] }].compactMap(\.self)
    }

    /// One without a limit is made with the first limit.
    private static func bucket(
        _ old: TokenBucket?, rate: Int64?, _ now: MonotonicInstant, _ changes: inout [RateChange]
    ) -> TokenBucket? {
        guard let old else { return TokenBucket(rate: rate, now: now) }
        changes.append((rate, old))
        return old
    }
}
