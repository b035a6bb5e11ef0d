import LinuxSystem
import TransferModel
import TransferQueue

/// Servers that have served nothing for a while: what a person is told of, though it is tried again by itself.
extension TransferEngine {
    func isTroubled(_ origin: String) -> Bool {
        hosts.troubledSince(origin, timeline.now, lacksNetwork: lacksNetwork) != nil
    }

    /// Plans to tell who looks when a trouble has gone on for long enough: a host that is tried again in minutes is heard of before. One
    /// look is planned at a time, however often hosts come and go.
    func lookForTrouble() {
        // All hosts are looked at, which may be thousands.
        if timers.trouble == nil { lookForTrouble(at: hosts.troubleDue(timeline.now)) }
    }

    /// Plans the look unless an earlier one is planned, which plans what comes after it.
    /// - Parameter due: of the host of which something was learnt.
    func lookForTrouble(at due: Timestamp?) {
        guard timers.trouble == nil, let due else { return }
        timers.trouble = timeline.clock.schedule(after: due.since(timeline.now) + .milliseconds(1)) { [self] in
            timers.trouble = nil
            notice?()
            lookForTrouble()
        }
    }

    /// For each batch that waits for such a server; in their order.
    func troubles() -> [HostTrouble] {
        let now = timeline.now
        var troubled: [String: Timestamp] = [:]
        // To know it all hosts are looked at, so not for each of them.
        lazy var lacksNetwork = self.lacksNetwork
        for origin in hosts.standings.keys {
            troubled[origin] = hosts.troubledSince(origin, now, lacksNetwork: lacksNetwork)
        }
        var own = hosts.places.compactMapValues { $0.troubledSince(now) }
        if troubled.isEmpty && own.isEmpty { return [] }
        // Whatever went wrong before: bytes of a file move, which may be for hours.
        for attempt in attempts.values where attempt.speed.bytesPerSecond(at: timeline.nanoseconds) > 0 {
            troubled[attempt.origin] = nil
            own[attempt.servingPlace] = nil
        }
        if troubled.isEmpty && own.isEmpty { return [] }
        var inHand: [HostTrouble.Place: Int64] = [:]
        var origins: [BatchID: Set<String>] = [:]
        for lane in lanes.all where lane.summary.mayRun(at: now) {
            let place = lane.summary.place
            origins[place.batch, default: []].insert(place.origin)
            if troubled[place.origin] != nil || own[place] != nil {
                inHand[place, default: 0] += Int64(lane.ready) + lane.unclaimed
            }
        }
        for attempt in attempts.values {
            let place = attempt.servingPlace
            if let files = inHand[place] { inHand[place] = files + 1 }
        }
        return inHand.compactMap { place, files in
            // What keeps all away is told first.
            let isOwn = troubled[place.origin] == nil
            guard let since = isOwn ? own[place] : troubled[place.origin],
                let error = isOwn ? hosts.placeErrors[place] : hosts.errors[place.origin]
            else { return nil }
            // Without a network nobody's server is ill.
            if error.code == .notConnectedToInternet { return nil }
            let host = isOwn ? hosts.places[place] : hosts.standings[place.origin]
            return HostTrouble(
                place: place, since: since, retryAt: hosts.closedUntil(place, now),
                error: error, isWhole: origins[place.batch]?.count == 1, files: files,
                isAskedPause: host?.isAskedPause ?? false)
        }.sorted { ($0.place.batch, $0.place.origin) < ($1.place.batch, $1.place.origin) }
    }
}
