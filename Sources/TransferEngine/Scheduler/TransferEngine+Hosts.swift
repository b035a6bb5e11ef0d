import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Learns from the ends of attempts about their hosts: which of them are left alone for a while, and why.
extension TransferEngine {
    /// A host that cannot be reached holds back all its tasks, not this one alone.
    func reason(of demand: WaitDemand) -> WaitReason {
        guard demand.reason == .backoff else { return demand.reason }
        return Self.reason(
            of: demand.error.code, noHostAnswers: hosts.noHostAnswers, hasNetwork: InternetSocket.hasAddress)
    }

    /// The reason to wait after a failure of the network. A name that nobody knows is no lack of a network where there is one.
    static func reason(
        of code: TransferErrorCode, noHostAnswers: @autoclosure () -> Bool, hasNetwork: @autoclosure () -> Bool
    ) -> WaitReason {
        switch code {
        case .notConnectedToInternet: .connectivity
        case .cannotFindHost: noHostAnswers() && !hasNetwork() ? .connectivity : .hostBackoff
        case .cannotConnectToHost: .hostBackoff
        default: .backoff
        }
    }

    /// Names are unknown because nobody can be asked for them.
    var lacksNetwork: Bool {
        Self.reason(of: .cannotFindHost, noHostAnswers: hosts.noHostAnswers, hasNetwork: InternetSocket.hasAddress)
            == .connectivity
    }

    func experience(of demand: WaitDemand, _ reason: WaitReason, until: Timestamp) -> HostStanding.Experience? {
        switch demand.error.code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost: return .unreachable
        // What happens at this machine says nothing of the host.
        case .destinationUnwritable, .sourceUnreadable, .diskFull, .integrity, .tooManyOpenFiles: return nil
        default: break
        }
        switch reason {
        case .hostBackoff: return .overloaded(until: until, isAsked: demand.retryAfter != nil)
        case .backoff: return demand.isOfFile ? .answered : .failed
        case .auth, .remoteDiskSpace: return .answered
        default: return nil
        }
    }

    /// The attempt was served, or got a clear no.
    func served(_ attempt: Attempt) {
        learn(attempt.origin, .answered)
        learn(attempt.servingPlace, .answered)
    }

    /// Returns true when a host's answer concerns the addresses of one batch alone: a host that names no time to stay away for may be
    /// well everywhere else.
    static func isOfOneBatch(_ demand: WaitDemand, _ experience: HostStanding.Experience) -> Bool {
        guard demand.error.httpStatus != nil, demand.retryAfter == nil else { return false }
        switch experience {
        case .failed, .overloaded: return true
        case .answered, .reached, .unreachable: return false
        }
    }

    /// Takes in how an attempt ended that did not finish.
    func note(_ demand: WaitDemand, _ experience: HostStanding.Experience, _ attempt: Attempt) {
        guard !Self.isOfOneBatch(demand, experience) else {
            hosts.note(demand.error, of: attempt.servingPlace)
            learn(attempt.servingPlace, experience)
            // It can be reached.
            return learn(attempt.origin, .reached)
        }
        // What it met is no word about a pause that the host has asked for.
        let isAside = demand.retryAfter == nil && hosts.standings[attempt.origin]?.isAskedToWait(timeline.now) == true
        if !isAside { hosts.note(demand.error, of: attempt.origin) }
        learn(attempt.origin, experience)
        if case .answered = experience { learn(attempt.servingPlace, .answered) }
    }

    private func learn(_ place: HostTrouble.Place, _ experience: HostStanding.Experience) {
        if case .answered = experience, hosts.places[place] == nil { return }
        let limit = limitBook.engine.transfersPerHost
        let isBack = hosts.learn(
            place, experience, limit: limit, now: timeline.now, random: platform.randomFraction())
        lookForTrouble(at: hosts.places[place]?.troubleDue(timeline.now))
        notice?()
        hosts.forgetIfWell(place, limit: limit, now: timeline.now)
        guard isBack else { return }
        hosts.note(nil, of: place)
        schedulePump()
        inBackground { [self] in
            await durably(.servingBack(place)) {
                try await queue.writer.clearWait(WaitReasons(.hostBackoff), batch: place.batch, origin: place.origin)
            }
        }
    }

    /// Learns from a running attempt that its login is taken, or that a host which is held back serves again: others need not wait for
    /// the end of a file that takes hours.
    func hear(of attempt: Attempt) {
        if attempt.progress.position - attempt.progress.base >= Self.tellingBytes || attempt.progress.hasProgressed {
            wasLetIn(attempt)
        }
        if attempt.progress.hasProgressed, let serving = hosts.places[attempt.servingPlace], serving.isOnTrial,
            serving.closedUntil.map({ $0 <= timeline.time(at: attempt.stage.startedAt) }) ?? true
        {
            learn(attempt.servingPlace, .answered)
        }
        guard let standing = hosts.standings[attempt.origin], standing.isOnTrial,
            // One that began before may still move while the host takes no more connections.
            standing.closedUntil.map({ $0 <= timeline.time(at: attempt.stage.startedAt) }) ?? true
        else { return }
        if attempt.progress.hasProgressed {
            learn(attempt.origin, .answered)
        } else if attempt.progress.position > max(attempt.progress.base, attempt.progress.accepted) {
            learn(attempt.origin, .reached)
        }
    }

    func learn(_ origin: String, _ experience: HostStanding.Experience) {
        let limit = limitBook.engine.transfersPerHost
        // Nearly every task of a host that is well ends here; there is nothing to learn.
        switch experience {
        case .answered, .reached: if hosts.standings[origin] == nil { return }
        case .unreachable, .failed, .overloaded: break
        }
        let wasTroubled = isTroubled(origin)
        defer {
            lookForTrouble(at: hosts.standings[origin]?.troubleDue(timeline.now))
            if wasTroubled, !isTroubled(origin) { notice?() }
        }
        let isBack = hosts.learn(
            origin, experience, limit: limit, now: timeline.now, random: platform.randomFraction())
        if hosts.standings[origin]?.closedUntil != nil || isTroubled(origin) { notice?() }
        guard isBack else { return }
        hosts.note(nil, of: origin)
        // What stands in line for it already, too.
        schedulePump()
        inBackground { [self] in
            await durably(.hostBack(origin)) {
                try await queue.writer.clearWait(
                    [WaitReasons(.hostBackoff), WaitReasons(.connectivity)], origin: origin)
            }
        }
    }

    /// Batches that stand still because of their hosts alone: every lane of theirs leads to one that is held back.
    func heldBatches() -> [BatchID: HeldHost] {
        let now = timeline.now
        var held: [BatchID: HeldHost] = [:]
        // Their files are all over: no lane leads there any more.
        for (batch, host) in lastLooks.withoutLogin { held[batch] = host }
        if !hosts.isAnyClosed(now), !credentials.isAnyRefused { return held }
        var free: Set<BatchID> = []
        for lane in lanes.all where lane.summary.mayRun(at: now) {
            // Of what waits for something of its own the queue tells.
            if Int64(lane.ready) + lane.unclaimed == 0 { continue }
            let place = lane.summary.place
            if let refusal = credentials.refusal(lane.context ?? credentials.contexts[place.batch], place.origin) {
                held[place.batch] = held[place.batch] ?? HeldHost(origin: place.origin, refusal)
                continue
            }
            guard let until = hosts.closedUntil(place, now) else {
                free.insert(place.batch)
                continue
            }
            // What time alone ends is told before what a person has to do: it moves again.
            if let other = held[place.batch]?.until, other <= until { continue }
            let isOwn = hosts.places[place]?.closedUntil == until
            held[place.batch] = HeldHost(
                origin: place.origin, until: until, error: isOwn ? hosts.placeErrors[place] : hosts.errors[place.origin]
            )
        }
        return held.filter { !free.contains($0.key) }
    }
}

extension LaneSummary {
    /// The batch, and the server that it leads to.
    var place: HostTrouble.Place { HostTrouble.Place(batch: batch, origin: origin) }
}

extension Attempt {
    /// The batch, and the server that it leads to.
    var servingPlace: HostTrouble.Place { HostTrouble.Place(batch: task.batch, origin: origin) }
}
