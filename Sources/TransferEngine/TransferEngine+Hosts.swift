import LinuxSystem
package import TransferModel
import TransferProtocols
import TransferQueue

/// What the ends of attempts say of their hosts: which of them are left alone for a while, and why.
extension TransferEngine {
    /// A host that cannot be reached holds back all its tasks, not this one alone.
    func reason(of demand: WaitDemand) -> WaitReason {
        guard demand.reason == .backoff else { return demand.reason }
        return Self.reason(of: demand.error.code, noHostAnswers: noHostAnswers, hasNetwork: InternetSocket.hasAddress)
    }

    /// What a failure of the network is a wait for. A name that nobody knows is no lack of a network where there is one.
    static func reason(
        of code: TransferErrorCode, noHostAnswers: Bool, hasNetwork: @autoclosure () -> Bool
    ) -> WaitReason {
        switch code {
        case .notConnectedToInternet: .connectivity
        case .cannotFindHost: noHostAnswers && !hasNetwork() ? .connectivity : .hostBackoff
        case .cannotConnectToHost: .hostBackoff
        default: .backoff
        }
    }

    /// Names are unknown because nobody can be asked for them.
    var lacksNetwork: Bool {
        Self.reason(of: .cannotFindHost, noHostAnswers: noHostAnswers, hasNetwork: InternetSocket.hasAddress)
            == .connectivity
    }

    /// Several hosts are known, and none of them can be reached: it is the line.
    private var noHostAnswers: Bool { hosts.count > 1 && hosts.values.allSatisfy(\.isUnreachable) }

    func experience(of demand: WaitDemand, _ reason: WaitReason, until: Timestamp) -> HostStanding.Experience? {
        switch demand.error.code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost: return .unreachable
        default: break
        }
        switch reason {
        case .hostBackoff: return .overloaded(until: until, isAsked: demand.retryAfter != nil)
        case .backoff: return .failed
        case .auth, .remoteDiskSpace: return .answered
        default: return nil
        }
    }

    /// What a running attempt says of a host that is held back: others need not wait for the end of a file that takes hours.
    func hear(of attempt: Attempt) {
        guard let standing = hosts[attempt.origin], standing.isHeld,
            // One that began before may still move while the host takes no more connections.
            standing.closedUntil.map({ $0 <= timeline.time(at: attempt.startedAt) }) ?? true
        else { return }
        if attempt.hasProgressed {
            learn(attempt.origin, .answered)
        } else if attempt.sent > max(attempt.base, attempt.accepted) {
            learn(attempt.origin, .reached)
        }
    }

    func learn(_ origin: String, _ experience: HostStanding.Experience) {
        let limit = currentLimits.transfersPerHost
        // Nearly every task of a host that is well ends here; there is nothing to learn.
        if case .answered = experience, hosts[origin] == nil { return }
        let wasTroubled = isTroubled(origin)
        defer {
            lookForTrouble()
            if wasTroubled, !isTroubled(origin) { notice?() }
        }
        let isBack = hosts[origin, default: HostStanding(limit: limit)].learn(
            experience, limit: limit, now: timeline.now, random: Double.random(in: 0..<1))
        if hosts[origin]?.closedUntil != nil || isTroubled(origin) { notice?() }
        guard isBack else { return }
        hostErrors[origin] = nil
        // What stands in line for it already, too.
        schedulePump()
        inBackground { [self] in
            try await queue.writer.clearWait([WaitReasons(.hostBackoff), WaitReasons(.connectivity)], origin: origin)
        }
    }

    /// Batches that stand still because of their hosts alone: every lane of theirs leads to one that is held back.
    func heldBatches() -> [BatchID: HeldHost] {
        let now = timeline.now
        let closed = hosts.filter { $0.value.closedUntil.map { now < $0 } ?? false }
        if closed.isEmpty { return [:] }
        var held: [BatchID: HeldHost] = [:]
        var free: Set<BatchID> = []
        for lane in lanes.values where !lane.summary.isStopped {
            let batch = lane.summary.batch
            guard let until = closed[lane.summary.origin]?.closedUntil else {
                free.insert(batch)
                continue
            }
            if let other = held[batch], other.until <= until { continue }
            held[batch] = HeldHost(
                origin: lane.summary.origin, until: until, error: hostErrors[lane.summary.origin])
        }
        return held.filter { !free.contains($0.key) }
    }
}

/// A host that is not asked at the moment.
package struct HeldHost: Sendable, Hashable {
    /// As `LaneSummary.origin`.
    package var origin: String
    /// Nothing starts before this.
    package var until: Timestamp
    /// The last that was heard of it.
    package var error: TransferError?

    package init(origin: String, until: Timestamp, error: TransferError?) {
        self.origin = origin
        self.until = until
        self.error = error
    }
}
