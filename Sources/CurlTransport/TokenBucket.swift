package import LinuxSystem

/// A speed limit that any number of exchanges share: one a task, a batch, a host, the whole engine; they stack.
///
/// Tokens are bytes. They come with time, up to a tenth of a second's worth, and are spent in quanta of 8 KiB: without
/// a quantum the loop spins over crumbs. On the transport's loop.
package final class TokenBucket {
    /// Bytes a second; nil is no limit, 0 is a stop. Change it by ``HTTPTransport/setRate(_:of:)``.
    package private(set) var rate: Int64?
    /// Exchanges that draw from here now; each gets its share of what there is.
    var users = 0
    private var tokens: Double = 0
    private var filledAt: MonotonicInstant

    /// A bucket that starts with one quantum.
    package init(rate: Int64?, now: MonotonicInstant) {
        self.rate = rate
        filledAt = now
        tokens = Double(quantum)
    }

    /// The least that is worth a pass: 8 KiB, or what a slow limit allows in a second.
    var quantum: Int64 { min(8192, max(1, rate ?? 8192)) }

    /// Bytes that may be spent now; negative while an overdraft is paid back.
    func available(_ now: MonotonicInstant) -> Int64 {
        guard let rate else { return Int64.max }
        if rate == 0 { return 0 }
        fill(now)
        return Int64(tokens)
    }

    /// Spends tokens, into debt if need be: libcurl hands over received bytes whole.
    func take(_ count: Int) {
        if rate != nil { tokens -= Double(count) }
    }

    /// The time until `needed` bytes may be spent; nil is never.
    func delay(until needed: Int64, _ now: MonotonicInstant) -> Duration? {
        guard let rate else { return .zero }
        if rate == 0 { return nil }
        let missing = Double(needed) - (tokens + earned(now))
        return missing <= 0 ? .zero : .nanoseconds(Int64(min(missing / Double(rate), 86400) * 1e9))
    }

    /// Changes the limit. Of a bucket that a transport draws from, the transport does it.
    package func setRate(_ rate: Int64?, now: MonotonicInstant) {
        // What was earned at the old rate counts; then the new rate's measures hold. Debt of a fast limit is forgiven
        // down to a quantum, or a much lower limit would stand still for minutes.
        fill(now)
        self.rate = rate.map { max(0, $0) }
        filledAt = now
        tokens = min(max(tokens, -Double(quantum)), capacity)
    }

    private var capacity: Double { max(Double(quantum), Double(rate ?? 0) / 10) }

    private func earned(_ now: MonotonicInstant) -> Double {
        Double(max(0, now.nanoseconds - filledAt.nanoseconds)) * Double(rate ?? 0) / 1e9
    }

    private func fill(_ now: MonotonicInstant) {
        tokens = min(tokens + earned(now), capacity)
        filledAt = max(filledAt, now)
    }
}

/// The limits of one exchange, each way.
package struct RateLimits {
    package var up: [TokenBucket]
    package var down: [TokenBucket]

    package init(up: [TokenBucket] = [], down: [TokenBucket] = []) {
        self.up = up
        self.down = down
    }

    /// No limits.
    package static var none: RateLimits { RateLimits() }

    /// The least share that each of those who draw from them has, in bytes a second; `nil`: there is no limit.
    package var leastShare: Int64? {
        (up + down).compactMap { bucket in bucket.rate.map { $0 / Int64(max(1, bucket.users)) } }.min()
    }

    /// One more exchange draws from them.
    func take() {
        for bucket in up + down { bucket.users += 1 }
    }

    func leave() {
        for bucket in up + down { bucket.users -= 1 }
    }
}

/// The permission that a chain of buckets gives.
package enum Grant: Equatable {
    case bytes(Int)
    /// Nothing before that long; nil is until a rate changes.
    case wait(Duration?)
}

extension [TokenBucket] {
    /// Asks all buckets for up to `wanted` bytes: a share of the poorest, or how long to wait for a quantum.
    package func grant(_ wanted: Int, _ now: MonotonicInstant) -> Grant {
        var allowed = Int64(wanted)
        var wait: Duration? = .zero
        for bucket in self {
            let available = bucket.available(now)
            let needed = Swift.min(bucket.quantum, Int64(wanted))
            if available >= needed {
                allowed = Swift.min(
                    allowed, available, Swift.max(needed, available / Int64(Swift.max(1, bucket.users))))
            } else {
                allowed = 0
                wait = longer(wait, bucket.delay(until: needed, now))
            }
        }
        return allowed > 0 || wanted == 0 ? .bytes(Int(allowed)) : .wait(wait)
    }

    /// Spends tokens of all of them.
    package func take(_ count: Int) {
        for bucket in self { bucket.take(count) }
    }

    private func longer(_ one: Duration?, _ other: Duration?) -> Duration? {
        guard let one, let other else { return nil }
        return Swift.max(one, other)
    }
}
