import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferQueue

/// Speed limits: of the whole engine, and of hosts, configured servers, sessions, batches, folders and tasks. An attempt
/// draws from all that lie on its way, so the smallest wins.
extension TransferEngine {
    package func limits() -> EngineLimits { currentLimits }

    package func setLimits(_ limits: EngineLimits) {
        currentLimits = limits
        let now = timeline.clock.now
        upBucket = bucket(upBucket, rate: limits.bytesPerSecondUp, now)
        downBucket = bucket(downBucket, rate: limits.bytesPerSecondDown, now)
        ftp?.ratesChanged()
        sftp?.resumeThrottled()
        claimsAreStale = true
        schedulePump()
    }

    package func settingsChanged() async {
        do {
            adopt(try await queue.writer.limits())
            for batch in contexts.keys {
                guard let order = try await queue.writer.order(of: batch), let context = contexts[batch] else {
                    continue
                }
                let generation = context.keysGeneration
                context.adopt(order)
                if context.keysGeneration == generation { continue }
                // What a person has given is tried, though it be what was refused before.
                for lane in lanes.values where lane.summary.batch == batch {
                    login(context, lane.summary.origin).standing.tryAgain()
                }
            }
        } catch {
            report(.error, "the queue does not tell its limits: \(error)")
        }
        schedulePump()
    }

    /// The buckets stay, since exchanges in flight draw from them; one without a limit is made with the first limit.
    private func bucket(_ old: TokenBucket?, rate: Int64?, _ now: MonotonicInstant) -> TokenBucket? {
        guard let old else { return TokenBucket(rate: rate, now: now) }
        transport?.setRate(rate, of: old)
        return old
    }

    /// Takes over the limits that the queue has; what is under way draws from them at once.
    /// - Parameter coming: a batch that is about to have a context.
    func adopt(_ limits: [LimitScope: Int64], for coming: BatchOrder? = nil) {
        if limits.isEmpty, buckets.isEmpty, sharedBuckets.isEmpty { return }
        let now = timeline.clock.now
        shared = SharedLimits(contexts.values.map(\.order) + [coming].compactMap(\.self), limits)
        var known: [LimitScope: TokenBucket] = [:]
        for (scope, rate) in limits {
            if case .batch(let batch) = scope, shared.names[batch] != nil { continue }
            known[scope] = bucket(buckets[scope], rate: rate, now)
        }
        buckets = known
        var together: [String: TokenBucket] = [:]
        for (name, rate) in shared.rates { together[name] = bucket(sharedBuckets[name], rate: rate, now) }
        sharedBuckets = together
        for attempt in attempts.values where attempt.phase == .running {
            let limits = self.limits(of: attempt)
            attempt.throttle?.buckets = attempt.receives ? limits.down : limits.up
            for exchange in attempt.exchanges {
                let id = CurlTransport.ExchangeID(rawValue: exchange.wire)
                switch exchange.carrier {
                case .http: transport?.setLimits(limits, of: id)
                case .ftp: ftp?.setLimits(limits, of: id)
                case .sftp: break
                }
            }
        }
        transport?.ratesChanged()
        ftp?.ratesChanged()
        sftp?.resumeThrottled()
    }

    /// The engine's bucket always, also without a limit: one that is set later holds for what is under way.
    func limits(of attempt: Attempt) -> RateLimits {
        let own = ownBuckets(of: attempt)
        return attempt.receives
            ? RateLimits(down: [downBucket].compactMap(\.self) + own)
            : RateLimits(up: [upBucket].compactMap(\.self) + own)
    }

    private func ownBuckets(of attempt: Attempt) -> [TokenBucket] {
        // Most have none, and then nothing is to be looked for.
        if buckets.isEmpty, sharedBuckets.isEmpty { return [] }
        let task = attempt.task
        let scopes =
            LimitScope.hosts(of: attempt.origin) + [
                .session(attempt.context.order.session), .batch(task.batch), .task(task.id),
            ] + task.folders.map { .folder($0) }
        return scopes.compactMap { buckets[$0] }
            + [shared.names[task.batch].flatMap { sharedBuckets[$0] }].compactMap(\.self)
    }
}

/// The speed limits of an attempt, for its operations over SFTP.
final class BucketThrottle: TransferThrottle {
    var buckets: [TokenBucket]
    private let clock: any TransportClock

    init(_ buckets: [TokenBucket], clock: any TransportClock) {
        self.buckets = buckets
        self.clock = clock
    }

    func grant(_ wanted: Int) -> ThrottleGrant {
        switch buckets.grant(wanted, clock.now) {
        case .bytes(let count): .bytes(count)
        case .wait(let delay): .wait(delay)
        }
    }

    func take(_ count: Int) { buckets.take(count) }
}
