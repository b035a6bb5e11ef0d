import LinuxSystem
package import WireOperations

/// Speed limits: exchanges that a bucket has stopped, and the tick that lets them go on.
extension HTTPTransport {
    /// Changes a limit; what it had stopped looks again at once. nil is no limit, 0 a stop. On the loop.
    package func setRate(_ rate: Int64?, of bucket: TokenBucket) {
        bucket.setRate(rate, now: clock.now)
        resumeThrottled { _ in true }
    }

    /// Has an exchange that goes on draw from other buckets. ``ratesChanged()`` lets what stood still look again. On the loop.
    package func setLimits(_ limits: RateLimits, of id: WireID) { exchanges[id]?.draw(from: limits) }

    /// Lets all stopped exchanges look at their limits again at once. On the loop.
    package func ratesChanged() { resumeThrottled { _ in true } }

    /// A callback has stopped an exchange.
    func throttled(_ exchange: HTTPTransfer) {
        if !throttledExchanges.contains(where: { $0 === exchange }) { throttledExchanges.append(exchange) }
        // Not from inside libcurl: the timer's own calls are fine there, but one look at the end of the turn is enough.
        scheduleFlush()
        setThrottleTimer()
    }

    func forgetThrottle(of exchange: HTTPTransfer) {
        throttledExchanges.removeAll { $0 === exchange }
    }

    private func setThrottleTimer() {
        guard let next = throttledExchanges.compactMap(\.throttledUntil).min() else { return }
        throttleTimer.fire(at: next) { [weak self] in
            guard let self else { return }
            // Those due within the next tick come along, so that many slow exchanges share one wake-up.
            let now = clock.now.advanced(by: .milliseconds(5))
            resumeThrottled { $0.throttledUntil.map { $0 <= now } ?? false }
        }
    }

    /// In the order they were stopped; one that is stopped again goes to the end, so each has its turn.
    private func resumeThrottled(_ isDue: (HTTPTransfer) -> Bool) {
        let due = throttledExchanges.filter(isDue)
        throttledExchanges.removeAll(where: isDue)
        for exchange in due {
            exchange.endThrottle()
            exchange.movedAt = clock.awake
            applyStandstills(of: exchange)
        }
        throttleTimer.cancel()
        setThrottleTimer()
    }
}
