import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferQueue

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
