import LinuxSystem
package import TransferModel
import TransferQueue

/// Servers that have served nothing for a while: what a person is told of, though it is tried again by itself.
extension TransferEngine {
    func isTroubled(_ origin: String) -> Bool { hosts[origin]?.troubledSince(timeline.now) != nil }

    /// Who looks is told when it has gone on for long enough: a host that asked for an hour is not tried, and heard of, before.
    func lookForTrouble() {
        _ = timeline.clock.schedule(after: HostStanding.troublesome.period + .milliseconds(1)) { [self] in notice?() }
    }

    /// For each batch that waits for such a server; in their order.
    func troubles() -> [HostTrouble] {
        let now = timeline.now
        var troubled = hosts.compactMapValues { $0.troubledSince(now) }
        if troubled.isEmpty { return [] }
        // Whatever went wrong before: bytes of a file move, which may be for hours.
        for attempt in attempts.values where attempt.meter.bytesPerSecond(at: timeline.nanoseconds) > 0 {
            troubled[attempt.origin] = nil
        }
        if troubled.isEmpty { return [] }
        var ready: [HostTrouble.Place: Int64] = [:]
        var others: Set<BatchID> = []
        for lane in lanes.values where !lane.summary.isStopped && lane.summary.notBefore.map({ $0 <= now }) ?? true {
            let place = HostTrouble.Place(batch: lane.summary.batch, origin: lane.summary.origin)
            guard troubled[place.origin] != nil else {
                others.insert(place.batch)
                continue
            }
            ready[place, default: 0] += Int64(lane.ready) + lane.unclaimed
        }
        return ready.compactMap { place, files in
            guard let since = troubled[place.origin], let error = hostErrors[place.origin] else { return nil }
            // A name that nobody knows is told of by each task; without a network nobody's server is ill.
            if [.cannotFindHost, .notConnectedToInternet].contains(error.code) { return nil }
            return HostTrouble(
                place: place, since: since, retryAt: hosts[place.origin]?.closedUntil.flatMap { $0 > now ? $0 : nil },
                error: error, isWhole: !others.contains(place.batch), files: files)
        }.sorted { ($0.place.batch, $0.place.origin) < ($1.place.batch, $1.place.origin) }
    }
}

/// A server that has served nothing for a while, and a batch that waits for it.
package struct HostTrouble: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        package var batch: BatchID
        /// As `LaneSummary.origin`.
        package var origin: String

        package init(batch: BatchID, origin: String) { (self.batch, self.origin) = (batch, origin) }

        /// As in a URL, without the scheme.
        package var server: String { origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin }
    }

    package var place: Place
    /// The first attempt that it did not serve.
    package var since: Timestamp
    /// When it is tried next; `nil`: now, or soon.
    package var retryAt: Timestamp?
    /// What was heard of it last.
    package var error: TransferError
    /// All of the batch leads there.
    package var isWhole: Bool
    /// Files of the batch that stand in line for it; those that wait for their own next try are not among them.
    package var files: Int64

    package init(
        place: Place, since: Timestamp, retryAt: Timestamp?, error: TransferError, isWhole: Bool, files: Int64
    ) {
        self.place = place
        self.since = since
        self.retryAt = retryAt
        self.error = error
        self.isWhole = isWhole
        self.files = files
    }
}
