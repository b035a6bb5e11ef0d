import TransferModel

/// Recovers a tus upload: asks later, sends less, begins anew.
extension TusUpload {
    mutating func stop(_ index: Int, _ demand: WaitDemand) { parts[index].state = .stopped(demand) }

    /// Asks again in a moment, at the same address; after the last pause the attempt ends.
    mutating func rest(_ index: Int, _ error: TransferError) -> [ProtocolAction] {
        let pause = parts[index].tries
        guard pause < UploadPace.pauses.count else {
            stop(index, WaitDemand(.backoff, error))
            return advance()
        }
        parts[index].tries += 1
        parts[index].state = .resting
        return advance() + [.wake(.repeatRequest, after: UploadPace.pauses[pause])]
    }

    /// The connection broke: the attempt ends, unless others of the file go on; then this one goes on beside them.
    mutating func interrupted(_ index: Int, _ error: TransferError) -> [ProtocolAction] {
        guard error.isRetryable else { return over(.fail(error)) }
        let isAlone = !parts.indices.contains { $0 != index && parts[$0].isBusy }
        if !isAlone { return rest(index, error) }
        stop(index, WaitDemand(.backoff, error))
        return advance()
    }

    /// - Parameter wasAsked: it was asked after, and did not break off at a body.
    mutating func gone(_ index: Int, isOwnWord: Bool, wasAsked: Bool = false) -> [ProtocolAction] {
        let hasExpired = expires.map { $0 <= begun } ?? false
        let wasSentWhole = parts.count == 1 && parts[index].wasSentWhole
        let mayBeFile = isJoining || wasSentWhole
        var doubt: [ProtocolAction] = []
        if !isOwnWord, !hasExpired, parts[index].url != nil {
            // The next attempt asks with the cut in its hands, and counts this answer then.
            if mayBeFile { doubt.append(persist()) }
            doubt.append(.doubtAbsence(isOutcome: mayBeFile && plan.subject.ifExists != .replace))
        }
        if wasAsked, wasSentWhole { countUnheard() }
        if mayBeFile, plan.subject.ifExists != .replace || isUnheard {
            parts[index].state = .unknown
            let since = plan.resume?.begun ?? plan.subject.begunBefore ?? begun
            let kept = persist()
            // The next attempt asks for it once more; in this one there is nothing to be removed.
            parts[index].url = nil
            return doubt + (doubt.first == kept ? [] : [kept]) + lookElsewhere(since: since) { $0.refused() }
        }
        let reason = hasExpired ? "the upload expired at the server" : "the server has lost the upload"
        restarts += 1
        guard restarts <= UploadPace.mostRestarts * parts.count else {
            stop(index, WaitDemand(.backoff, .keepsStartingOver(at: parts[index].chain.address.server, reason)))
            return advance()
        }
        guard parts.count > 1, !isJoining else { return doubt + [.startOver(reason: reason)] + anew() }
        parts[index].forget(endpoint: plan.endpoint)
        isPrepared = false
        lossReason = reason
        return doubt + advance()
    }

    /// A 412 to an upload that was made.
    mutating func taken() -> [ProtocolAction] {
        guard plan.subject.isMadeAnewWhenTaken else { return lookElsewhere(since: nil) { $0.refused() } }
        return restart(UploadSubject.takenReason)
    }

    /// A 412, and a look that found nothing of that name.
    mutating func refusedWithoutReason() -> [ProtocolAction] {
        // The parts are whole: only what makes them a file is asked for again.
        if isJoining, isFull, restarts < UploadPace.mostRestarts {
            restarts += 1
            return join()
        }
        return restart(UploadSubject.absentReason)
    }

    /// Makes the upload anew after a 412: what is at the server is ended first.
    mutating func restart(_ reason: String) -> [ProtocolAction] {
        restarts += 1
        guard restarts <= UploadPace.mostRestarts else { return over(.fail(.keepsRefusing(at: plan.endpoint.server))) }
        let made = parts.compactMap(\.url)
        let abandoned = parts.compactMap { $0.exchange.map(ProtocolAction.abandon) }
        return abandoned + (made.isEmpty ? [] : [.startOver(reason: reason)]) + clear(made)
    }

    /// A body of that size is refused: half of it from now on, and never again so much to this host.
    mutating func shrink(_ range: Range<Int64>, _ error: TransferError) -> [ProtocolAction] {
        let size = range.upperBound - range.lowerBound
        guard var smaller = UploadPace.smallerBody(than: size) else { return over(.fail(error)) }
        // Some hosts take multiples of 256 KiB only.
        if smaller > 256 << 10 { smaller = (smaller >> 18) << 18 }
        var learnt = HostFacts()
        learnt.largestBody = smaller
        facts.largestBody = smaller
        return [.learned(learnt)] + advance()
    }

    /// A cut lost everything that was sent: bodies are held back until they are whole, so they must be small.
    mutating func chunks() -> [ProtocolAction]? {
        if let limit, limit <= UploadCut.remedy { return nil }
        var learnt = HostFacts()
        learnt.chunk = UploadCut.remedy
        facts.chunk = UploadCut.remedy
        return [.learned(learnt)]
    }
}
