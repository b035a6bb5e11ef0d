import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferQueue

/// Speed limits: of the whole engine, and of hosts, configured servers, sessions, batches, folders and tasks. An attempt
/// draws from all that lie on its way, so the smallest wins.
extension TransferEngine {
    package func limits() -> EngineLimits { limitBook.engine }

    package func setLimits(_ limits: EngineLimits) {
        for change in limitBook.set(limits, at: timeline.clock.now) {
            transports.http?.setRate(change.rate, of: change.bucket)
        }
        transports.ftp?.ratesChanged()
        transports.sftp?.resumeThrottled()
        lanes.claimsAreStale = true
        schedulePump()
    }

    /// Takes over the limits that the queue has; what is under way draws from them at once.
    /// - Parameter coming: a batch that is about to have a context.
    func adopt(_ limits: [LimitScope: Int64], for coming: BatchOrder? = nil) {
        let orders = credentials.contexts.values.map(\.order) + [coming].compactMap(\.self)
        guard let changes = limitBook.adopt(limits, orders, at: timeline.clock.now) else { return }
        for change in changes { transports.http?.setRate(change.rate, of: change.bucket) }
        for attempt in attempts.values where attempt.phase == .running {
            let limits = limitBook.limits(of: attempt)
            attempt.exchanges.throttle?.buckets = attempt.receives ? limits.down : limits.up
            for exchange in attempt.exchanges.underWay {
                switch exchange.carrier {
                case .http: transports.http?.setLimits(limits, of: exchange.wire)
                case .ftp: transports.ftp?.setLimits(limits, of: exchange.wire)
                case .sftp: break
                }
            }
        }
        transports.http?.ratesChanged()
        transports.ftp?.ratesChanged()
        transports.sftp?.resumeThrottled()
    }
}
