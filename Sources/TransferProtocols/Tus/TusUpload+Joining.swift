import TransferModel
import WireOperations

/// Parts of a tus upload become one file (the concatenation extension).
extension TusUpload {
    /// Joins the parts, unless an earlier attempt may have done that: a server that keeps parts would make a second file of them. Where a
    /// file may be replaced that does no harm, a few times.
    mutating func joinOnce() -> [ProtocolAction] {
        let isInDoubt = plan.resume?.isJoining == true && plan.subject.ifExists != .replace
        guard isInDoubt || isUnheard else { return join() }
        return lookElsewhere(since: plan.resume?.begun ?? plan.subject.begunBefore ?? begun) { $0.refused() }
    }

    /// The last request. Written down first: should its answer be lost, the file may be there.
    mutating func join() -> [ProtocolAction] {
        let isNew = !isJoining
        let unasked = isNew ? point : nil
        isJoining = true
        hasSent = true
        let id = nextID()
        state = .joining(id)
        return (isNew ? [persist()] : []) + [
            .compareSource(keeping: unasked), .perform(id, messages.join(endpoint, parts.compactMap(\.url))),
        ]
    }

    mutating func joined(_ end: ExchangeEnd) -> [ProtocolAction] {
        // A file that is made is made, whether the server says where or not.
        if let answer = end.answer, answer.isSuccess {
            if answer.isPageForYes, answer.field("location") == nil {
                let page = TransferError.page(at: endpoint.address.server, insteadOf: "tus server")
                return unheard() + over(.wait(WaitDemand(.backoff, page)))
            }
            note(end)
            return cleanUp()
        }
        let answer = TusAnswer(
            creation: end, at: endpoint.address, isConditional: messages.isConditional, isKnown: true)
        let since = plan.resume?.begun ?? plan.subject.begunBefore
        switch answer {
        case .moved(let head):
            if let error = endpoint.follow(head, keepsMethod: true) { return over(.fail(error)) }
            return join()
        case .exists: return lookElsewhere(since: since) { $0.refused() }
        case .lost(let error): return (end.mayHaveBeenActedOn ? unheard() : notJoined()) + refuseOrWait(error)
        case .busy(let error): return notJoined() + over(.wait(WaitDemand(.backoff, error)))
        case .wait(let demand): return (end.mayHaveBeenActedOn ? unheard() : notJoined()) + over(.wait(demand))
        case .fail(let error):
            if end.body.starts(with: "ERR_UPLOAD_NOT_FINISHED".utf8) {
                return notJoined() + over(.wait(WaitDemand(.backoff, .noAnswer(endpoint.address))))
            }
            guard Self.meansNoParts(error) else { return notJoined() + over(.fail(error)) }
            // An earlier join may have used them up.
            if plan.resume?.isJoining == true { return lookElsewhere(since: since ?? begun) { $0.refused() } }
            return withoutParts(end)
        default: return over(.wait(WaitDemand(.backoff, .noAnswer(endpoint.address))))
        }
    }

    /// Too many answers were lost: the file is looked for before it is made once more.
    var isUnheard: Bool { unanswered >= Self.mostUnanswered }

    /// Counts a file that may have been made there, where it would be made again.
    mutating func countUnheard() {
        if plan.subject.ifExists == .replace, !isUnheard { unanswered += 1 }
    }

    /// The server may have joined the parts.
    private mutating func unheard() -> [ProtocolAction] {
        let before = unanswered
        countUnheard()
        return unanswered == before ? [] : [persist()]
    }

    /// The server has said that it did not do it: the next attempt asks again without a look.
    mutating func notJoined() -> [ProtocolAction] {
        isJoining = false
        return [persist()]
    }

    /// Some servers keep the parts beside the file. That it is there is written down first: with parts gone nobody could tell any more.
    private mutating func cleanUp() -> [ProtocolAction] {
        isJoined = true
        guard facts.tusExtensions?.contains("termination") ?? false else { return finished() }
        return [persist()] + tidy(parts.compactMap(\.url))
    }

    /// As well as that goes: the file is there in any case.
    mutating func tidy(_ leftovers: [HTTPAddress]) -> [ProtocolAction] {
        guard let next = leftovers.first else { return finished() }
        let id = nextID()
        state = .tidying(id, rest: Array(leftovers.dropFirst()))
        return [.perform(id, .http(TusMessages.terminate(next, endpoint: plan.endpoint)))]
    }

    /// The server announced that it joins parts, and cannot: the file goes in one piece, now and from now on.
    mutating func withoutParts(_ end: ExchangeEnd) -> [ProtocolAction] {
        // A gateway that does not find its server says nothing of parts.
        let isDoubtful = end.answer.map { $0.status == 404 && !TusAnswer.isOwnWord($0) } ?? false
        var learnt = HostFacts()
        learnt.tusExtensions = (facts.tusExtensions ?? []).filter { $0 != "concatenation" }
        facts.tusExtensions = learnt.tusExtensions
        restarts += 1
        var actions: [ProtocolAction] = [isDoubtful ? .doubtAbsence() : .learned(learnt)]
        actions += parts.compactMap { $0.exchange.map(ProtocolAction.abandon) }
        actions.append(.startOver(reason: "the server cannot join parts"))
        return actions + clear(parts.compactMap(\.url))
    }

    /// A refusal that is about parts rather than about us or the file.
    static func meansNoParts(_ error: TransferError) -> Bool {
        switch error.httpStatus {
        case 400, 404, 405, 409, 411, 415, 422: true
        default: false
        }
    }
}

extension TransferError {
    /// The server may have made the file of its parts, or may still be at it.
    static func unheard(at host: String) -> TransferError {
        TransferError(
            .unknownOutcome,
            "\(host) may have the whole file, yet its last answer was lost again and again, as by a proxy that waits too short",
            .thenRetry("look there; if the file is not whole, let the proxy wait longer"))
    }

    static func keepsArrivingDamaged(_ endpoint: HTTPAddress) -> TransferError {
        TransferError(
            .integrity, "a piece of the file reached \(endpoint.server) damaged three times",
            .thenRetry("check the disk and memory here, and what lies between"))
    }
}
