import TransferModel
import WireOperations

/// A tus upload whose file may be there already: its own address is looked at, by the rules of a plain PUT.
extension TusUpload {
    /// The file may be there although it cannot be asked after as an upload.
    mutating func lookElsewhere(
        since: Timestamp?, _ ask: (inout PutUpload) -> [ProtocolAction]
    ) -> [ProtocolAction] {
        var inner = PutUpload(put(since: since), after: lastID)
        inner.purpose = .onlyLooks
        let made = canTerminate ? parts.compactMap(\.url) : []
        inner.leftovers = made.map { TusMessages.terminate($0, endpoint: plan.endpoint) }
        let actions = ask(&inner)
        let abandoned = parts.compactMap { $0.exchange.map(ProtocolAction.abandon) }
        for index in parts.indices where parts[index].exchange != nil {
            parts[index].state = parts[index].url == nil ? .unmade : .unknown
        }
        return abandoned + forward(inner, actions)
    }

    /// An answer that may be the last one.
    mutating func note(_ end: ExchangeEnd) {
        lastHead = end.answer
        if let answer = end.answer, answer.isSuccess, answer.representationDigest != nil { telling = end }
    }

    /// The file is there: the source's digest is compared with the one that the server has told, by the rules of a plain PUT. Where its last
    /// answer was lost, a server that tells digests is asked once more. `nil`: it tells none, or each piece was checked on its way.
    mutating func compared() -> [ProtocolAction]? {
        guard checksum == nil, plan.subject.verify.comparesDigests else { return nil }
        var plain = put(since: nil)
        // By the offset that it tells.
        plain.isMeasured = true
        var inner = PutUpload(plain, after: lastID)
        let actions: [ProtocolAction]
        if let telling, let answer = telling.answer {
            actions = inner.stored(answer, telling.body)
        } else if facts.tellsDigests == true {
            actions = inner.probe(.isItWhole(HTTPAnswer(status: 200), body: [], mustTell: false))
        } else {
            return nil
        }
        return forward(inner, actions)
    }

    /// The same file by a plain PUT.
    private func put(since: Timestamp?) -> PutPlan {
        let subject = plan.subject
        var put = PutPlan(
            address: plan.fileAddress, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
            begunBefore: since, resume: plan.stored)
        put.tellsDigests = facts.tellsDigests
        put.absentToken = subject.token
        put.targetIsOther = subject.targetIsOther
        put.clockWasSetBack = subject.clockWasSetBack
        return put
    }

    mutating func forward(_ inner: PutUpload, _ actions: [ProtocolAction]) -> [ProtocolAction] {
        lastID = inner.lastID
        if inner.hasFoundNothing {
            // Somebody has taken it away: from here on any file there is a foreign one.
            plan.stored = nil
            return refusedWithoutReason()
        }
        state = .elsewhere(inner)
        guard case .fail(let error)? = actions.last else { return actions }
        // What may be replaced is in nobody's way: it is only not known to be the file.
        let isDoubt = isUnheard && [.unknownOutcome, .destinationExists].contains(error.code)
        guard isDoubt || error.code == .unknownOutcome else { return actions }
        // Whoever retries after that has looked there, and wants it sent. Parts that are still there need only be joined.
        unanswered = 0
        let kept = parts.count > 1 && isFull ? notJoined() : [.persist(ResumePoint(TusResumePoint()))]
        return kept + actions.dropLast() + [.fail(isDoubt ? .unheard(at: plan.endpoint.server) : error)]
    }
}

/// An earlier version of the source that has the file's name.
extension TusUpload {
    /// Looks at it when only that shows a tag of it, which the creation can name. `nil`: there is none, or its tag is known.
    mutating func recognise() -> [ProtocolAction]? {
        guard let own = plan.stored, own.stored, plan.subject.ifExists != .replace, !own.isUntold,
            own.strongTag == nil, !hasRecognised
        else { return nil }
        hasRecognised = true
        let id = nextID()
        state = .recognising(id)
        return [.perform(id, PutMessages.head(RedirectChain(plan.fileAddress), wantsDigest: false))]
    }

    mutating func recognised(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(plan.fileAddress)) }
        let file = StandingFile(answer)
        let isFresh = plan.subject.hasJustStored && file.size != nil && file.size == plan.stored?.version?.size
        if answer.isSuccess, isFresh || plan.stored?.standing(file) == .ours {
            plan.stored?.etag = file.etag
        } else if answer.isSuccess || answer.isAbsence {
            // Any file of that name is a foreign one.
            plan.stored = nil
        }
        return ask()
    }
}
