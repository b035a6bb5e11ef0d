import TransferModel
import WireOperations

/// Recovers a resumable upload: asks later, sends less, begins anew, or leaves the rest to the plain request's rules.
extension ResumableUpload {
    mutating func rest(_ error: TransferError) -> [ProtocolAction] {
        guard tries < UploadPace.pauses.count else { return over(.wait(WaitDemand(.backoff, error))) }
        tries += 1
        state = .resting
        return [.wake(.repeatRequest, after: UploadPace.pauses[tries - 1])]
    }

    /// The upload is not there any more. After its last byte it may have become the file; then that is what is looked for.
    /// - Parameter isOwnWord: the server that made the upload says so, and not a gateway.
    mutating func gone(isOwnWord: Bool = false) -> [ProtocolAction] {
        let hasExpired = expires.map { $0 <= begun } ?? false
        let reason = hasExpired ? "the upload expired at the server" : "the server has lost the upload"
        let isDoubtful = !isOwnWord && !hasExpired
        guard let cut, cut.offset + cut.sent >= plan.subject.size else {
            return (isDoubtful && upload != nil ? [.doubtAbsence()] : []) + restart(reason)
        }
        // The next attempt asks with the cut in its hands.
        let isOutcome = plan.subject.ifExists != .replace
        let doubt = isDoubtful && upload != nil ? [persist(), .doubtAbsence(isOutcome: isOutcome)] : []
        let since = plan.resume?.begun ?? plan.subject.begunBefore ?? begun
        // A file that may replace what is there would be sent again, whatever that is: not for ever.
        let isCounted = plan.subject.ifExists == .replace
        let count = isCounted ? UnprovenFiles.count(after: plan.unanswered) : plan.unanswered
        plan.unanswered = count ?? plan.unanswered
        return doubt
            + plainly(since, sends: true) { inner in
                inner.isLastTry = isCounted && count == nil
                return inner.arrived(since: since, orSendBecause: reason)
            }
    }

    /// A 412 to an upload that was made.
    mutating func taken() -> [ProtocolAction] {
        if plan.subject.isMadeAnewWhenTaken {
            return restart(UploadSubject.takenReason, else: .fail(.keepsRefusing(at: plan.address.server)))
        }
        return look(nil)
    }

    /// `nil`: nothing is to be spared, the server heeds the condition, or it was asked already.
    mutating func lookFirst() -> [ProtocolAction]? {
        let put = plan.put(version: version, begunBefore: nil)
        guard !hasLooked, put.mayIgnoreConditions, PutMessages.isConditional(put) else { return nil }
        hasLooked = true
        let id = nextID()
        state = .looking(id)
        return [
            .claimName(RawPath(plan.address.target)), .perform(id, PutMessages.head(target, wantsDigest: false)),
        ]
    }

    /// Treats what is there as if the server had refused the upload for it. One that does not tell gets the file.
    mutating func looked(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(target.address)) }
        if answer.isSuccess {
            let file = StandingFile(answer)
            // Some servers show what an unfinished upload has under the name that it will have.
            let isUnfinished = upload != nil && held > 0 && file.size == held
            // An upload that is there, and not complete, has put nothing under the name.
            guard isUnfinished || !answer.isPageForYes && isOwn(file) else {
                return look(upload == nil ? plan.subject.begunBefore : nil, mayBePage: answer.isPageForYes)
            }
        }
        let meaning = AnswerMeaning(answer, host: target.address.server, hasAccepted: false, at: end.at)
        if case .wait(let demand) = meaning, answer.status != 501 { return over(.wait(demand)) }
        let learnt = answer.heedsConditions ? [ProtocolAction.learned(HostFacts { $0.heedsConditions = true })] : []
        return learnt + (upload == nil ? create() : append())
    }

    /// Recognises our earlier version of the source, whose tag the creation then names.
    private mutating func isOwn(_ file: StandingFile) -> Bool {
        guard let own = plan.stored else { return false }
        let isFresh = plan.subject.hasJustStored && file.size != nil && file.size == own.version?.size
        guard isFresh || own.standing(file) == .ours else { return false }
        plan.stored?.etag = file.etag ?? own.etag
        plan.stands = true
        return true
    }

    /// Looks at what is there after a 412.
    mutating func look(_ begunBefore: Timestamp?, mayBePage: Bool = false) -> [ProtocolAction] {
        let made = upload.map { ResumableMessages.cancel($0, version: version, target: plan.address) }
        return plainly(begunBefore) { inner in
            inner.purpose = .onlyLooks
            inner.leftovers = made.map { [$0] } ?? []
            return inner.refused(mayBePage: mayBePage)
        }
    }

    /// - Parameter last: what is said when it began anew often enough.
    mutating func restart(_ reason: String, else last: ProtocolAction? = nil) -> [ProtocolAction] {
        restarts += 1
        guard restarts <= UploadPace.mostRestarts else {
            return over(
                last ?? .wait(WaitDemand(.backoff, .keepsStartingOver(at: plan.address.server, reason))))
        }
        guard let upload else { return anew() }
        return [.startOver(reason: reason)] + delete(upload)
    }

    mutating func shrink(_ count: Int64, _ answer: HTTPAnswer) -> [ProtocolAction] {
        let floor = max(UploadPace.smallestBody, limit?.smallestAppend ?? 0)
        guard let smaller = UploadPace.smallerBody(than: count, floor: floor) else {
            return over(.fail(refusal(answer)))
        }
        var learnt = HostFacts()
        learnt.largestBody = smaller
        facts.largestBody = smaller
        return [.learned(learnt)] + append()
    }

    mutating func chunks() -> [ProtocolAction]? {
        if let largestAppend, largestAppend <= UploadCut.remedy { return nil }
        var learnt = HostFacts()
        learnt.chunk = UploadCut.remedy
        facts.chunk = UploadCut.remedy
        return [.learned(learnt)]
    }

    /// `nil`: the request is repeated where `chain` leads now.
    mutating func follow(_ answer: HTTPAnswer) -> [ProtocolAction]? {
        if let error = chain.follow(answer, keepsMethod: true) { return over(.fail(error)) }
        if answer.status == 308 { upload = chain.address }
        return nil
    }

    func persist() -> ProtocolAction {
        var point = ResumableResumePoint(
            version: version, length: plan.subject.size, url: upload, cut: cut, begun: plan.resume?.begun ?? begun,
            expires: expires)
        if replaces { point.replaces = true }
        if let count = plan.unanswered, count > 0 { point.unanswered = count }
        return .persist(ResumePoint(point))
    }

    mutating func finish(_ answer: HTTPAnswer, _ body: [UInt8]) -> [ProtocolAction] {
        let (wasThere, isMeasured, upload) = (!hasSent, isMeasured, chain.address)
        return plainly(nil) { inner in
            inner.plan.isMeasured = isMeasured
            inner.plan.answeredAt = upload
            return inner.stored(answer, body).map { action in
                guard wasThere, case .finish(let told) = action else { return action }
                // Its own word on an upload that only we know of.
                var receipt = Receipt(.token, bytes: told.bytes, verified: told.verified)
                (receipt.foundThere, receipt.digest, receipt.etag) = (true, told.digest, told.etag)
                receipt.response = told.response
                return .finish(receipt)
            }
        }
    }

    mutating func putPlainly(_ begunBefore: Timestamp?) -> [ProtocolAction] {
        let now = begun
        return plainly(begunBefore, sends: true) { $0.handle(.began(at: now)) }
    }

    /// - Parameter sends: a file whose answer is lost may be sent once more: that is counted.
    mutating func plainly(
        _ begunBefore: Timestamp?, sends: Bool = false, _ start: (inout PutUpload) -> [ProtocolAction]
    ) -> [ProtocolAction] {
        var put = plan.put(version: version, isTrial: facts.isOfferATrial, begunBefore: begunBefore)
        if sends { put.unanswered = plan.unanswered }
        var inner = PutUpload(put, after: lastID)
        let actions = start(&inner)
        return forward(inner, actions)
    }

    mutating func forward(_ inner: PutUpload, _ actions: [ProtocolAction]) -> [ProtocolAction] {
        lastID = inner.lastID
        state = .plain(inner)
        guard inner.hasFoundNothing else { return actions }
        // Somebody has taken it away: from here on any file there is a foreign one.
        plan.stored = nil
        return restart(UploadSubject.absentReason, else: .fail(.keepsRefusing(at: plan.address.server)))
    }
}
