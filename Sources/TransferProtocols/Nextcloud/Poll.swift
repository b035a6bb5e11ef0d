import TransferModel
import WireOperations

/// The wait for a MOVE whose answer was lost. Asking for it again while it goes on makes a server copy without end, so only the target
/// and the folder of chunks are looked at (nextcloud/server #6279, rclone #6133).
struct Poll: Hashable, Sendable {
    /// Time that the server may still take before the MOVE is asked for again. Pauses that were made count, and not what the clock says: a
    /// clock that is set would end or prolong the wait.
    var patience: Duration
    var round = 0
    /// An earlier attempt asked for it.
    var isEarlier: Bool

    /// A gateway gave up, or the line: the server may copy for an hour.
    static let afterLostAnswer = Poll(patience: .hour, isEarlier: false)

    /// A look at what is there, and no wait.
    static let once = Poll(patience: .zero, isEarlier: false)

    /// In a later attempt. One that was stopped around the MOVE may never have asked for it, and copying at 8 MiB a second is slow: so long is
    /// waited in any case, since the time that is written down may be of another clock.
    static func again(_ point: NextcloudResumePoint, _ size: Int64, at now: Timestamp) -> Poll {
        let copying = Duration.seconds(min(3600, max(20, size >> 23)))
        guard let lost = point.lostAt else { return Poll(patience: copying, isEarlier: true) }
        return Poll(patience: max(copying, .hour - max(.zero, now.since(lost))), isEarlier: true)
    }

    /// 10 to 30 seconds.
    var pause: Duration { .seconds(min(30, 10 + 5 * round)) }
}
