import LinuxSystem
package import WireOperations

/// Speed limits and the stall watchdog of FTP exchanges. The buckets are those of ``HTTPTransport``, on the same loop.
extension FTPTransport {
    /// A bucket's rate was changed (``HTTPTransport/setRate(_:of:)``): what it had stopped looks again at once. On the loop.
    package func ratesChanged() {
        for transfer in exchanges.values { transfer.limitsChanged() }
        grantAll()
    }

    /// Has an exchange that goes on draw from other buckets; ``ratesChanged()`` is to follow. On the loop.
    package func setLimits(_ limits: RateLimits, of id: WireID) { exchanges[id]?.draw(from: limits) }

    /// Gives out tokens, and comes again when the next are there. In the order of their ids, each gets its share.
    func grantAll() {
        let now = clock.now
        var next: Duration?
        for transfer in exchanges.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            if case .wait(let delay?) = transfer.grant(now) { next = min(next ?? delay, delay) }
        }
        throttleTimer.cancel()
        guard let next else { return }
        // 10 ms at least: finer ticks move the same bytes with more passes.
        throttleTimer.fire(at: now.advanced(by: max(next, .milliseconds(10)))) { [weak self] in self?.grantAll() }
    }

    /// Watches one more exchange, and looks more often if it is less patient than the others.
    func watch(_ transfer: FTPTransfer) {
        let period = Self.period(transfer)
        if watchdogTimer != nil, period >= watchdogPeriod { return }
        stopWatchdog()
        setWatchdog(period)
    }

    func stopWatchdog() {
        if let watchdogTimer { clock.cancel(watchdogTimer) }
        watchdogTimer = nil
    }

    /// A quarter of its patience: a stall is seen after 1 to 1.25 times of it, with few wake-ups.
    private static func period(_ transfer: FTPTransfer) -> Duration {
        max(transfer.patience / 4, .milliseconds(10))
    }

    private func setWatchdog(_ period: Duration) {
        watchdogPeriod = period
        watchdogTimer = clock.schedule(after: period) { [weak self] in
            guard let self else { return }
            watchdogTimer = nil
            let now = clock.awake
            for transfer in Array(exchanges.values) {
                guard let cause = transfer.stall(now) else { continue }
                transfer.fail(cause)
                end(transfer, .timedOut)
            }
            if let period = exchanges.values.map(Self.period).min() { setWatchdog(period) }
        }
    }
}
