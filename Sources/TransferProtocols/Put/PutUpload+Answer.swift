import TransferModel
import WireOperations

/// The answer to the PUT, and the receipt for the file.
extension PutUpload {
    mutating func putEnded(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end, since: begun) }
        if answer.status == 412, PutMessages.isConditional(plan) {
            if let offer {
                leftovers.append(
                    ResumableMessages.cancel(offer.upload, version: plan.interopVersion, target: plan.address))
            }
            return refused()
        }
        let completion = ResumableAnswer.completion(answer)
        if let offer {
            // The rest of a part can follow; a file that was refused as a whole must not be gone on with.
            if answer.isSuccess, completion == false { return cut(offer, end, .noAnswer(chain.address)) }
            if !answer.isSuccess, completion == true {
                return [.persist(ResumePoint(StoredVersion(stored: false, etag: nil)))] + decided(answer, end)
            }
        }
        return decided(answer, end)
    }

    private mutating func decided(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        if let expired = expiredSignature(answer, end) { return over(.wait(expired)) }
        switch meaning(answer, end) {
        case .success where end.bytesSent < plan.size || answer.status == 202: return doubted(answer, end)
        case .success: return unlearn(heeds: answer) + stored(answer, end.body)
        case .redirect:
            if let error = chain.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            asking = chain
            return send()
        case .wait(let demand) where offer == nil && end.mayHaveBeenActedOn && end.bytesSent >= plan.size:
            return probe(.didItArrive(.own(UnprovenPut(begun: begun, demand)), wantsDigest: false))
        case .wait(let demand): return over(.wait(demand))
        case .fail(let error):
            return ([404, 405].contains(answer.status) ? doubtProtocol() : []) + over(.fail(error))
        }
    }

    /// The host refuses the PUT, or somebody else answers for it: that it takes nothing but PUTs may have been learnt of that one, too.
    func doubtProtocol() -> [ProtocolAction] {
        guard let learnt = plan.protocolLearntAt,
            let facts = HostFacts.doubting(uploadBy: ProtocolFacts.put.id, learntAt: learnt, at: begun)
        else { return [] }
        return [.learned(facts)]
    }

    /// No answer at all. Without the last byte sent no server that keeps to HTTP has the file; with it, it may.
    mutating func unanswered(_ end: ExchangeEnd, since begun: Timestamp) -> [ProtocolAction] {
        let error = end.failure?.error ?? .noAnswer(chain.address)
        if let offer { return cut(offer, end, error) }
        let mayHaveArrived = end.bytesSent >= plan.size && end.failure?.mayHaveReachedServer ?? true
        guard mayHaveArrived, error.isRetryable else { return refuseOrWait(error) }
        return probe(.didItArrive(.own(UnprovenPut(begun: begun, error)), wantsDigest: false))
    }

    mutating func refuseOrWait(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    /// 412 to a conditional PUT: something is there that the rule does not let us replace.
    /// - Parameter mayBePage: a look says so that was led elsewhere, perhaps to a page for all who have no login.
    mutating func refused(mayBePage: Bool = false) -> [ProtocolAction] {
        if let before = plan.begunBefore, earlier == .unasked, !plan.targetIsOther {
            return probe(.didItArrive(.earlier(begun: before, refused: true), wantsDigest: false))
        }
        let inDoubt = earlier == .unproven
        // About our own earlier version the 412 says only that it is not there any more.
        if plan.ifExists == .skip, !inDoubt, !mayBePage, plan.resume?.stored != true {
            return over(.finish(.skipped(plan.size)))
        }
        return probe(.isItTheSame(inDoubt: inDoubt, wantsDigest: plan.size <= Self.quicklyDigested))
    }

    /// A 2xx before the last byte, or a 202: as good as no answer, until what is there shows more.
    private mutating func doubted(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        if let actions = compareTold(by: answer, end.body) { return actions }
        let error = TransferError.doubtful(answer.status, at: chain.address.server)
        if let offer, ResumableAnswer.completion(answer) != true { return cut(offer, end, error) }
        let yes = UnprovenPut.Yes(answer: answer, body: end.body, heard: end.at)
        let put = UnprovenPut(begun: begun, error, yes: yes)
        return probe(.didItArrive(.own(put), wantsDigest: plan.verify.comparesDigests))
    }

    /// `nil`: the answer to the PUT tells no digest, or none is wanted.
    private mutating func compareTold(by answer: HTTPAnswer, _ body: [UInt8]) -> [ProtocolAction]? {
        let told = plan.size == 0 ? answer.representationDigest : answer.digest(ofFileNotOf: body)
        guard plan.verify != VerificationWish.none, let digest = told else { return nil }
        return learn(tellsDigests: true) + hash(digest, .stored(answer, body: body))
    }

    /// A 2xx after the last byte. Where a person wishes it the server is asked what it has.
    mutating func stored(_ answer: HTTPAnswer, _ body: [UInt8]) -> [ProtocolAction] {
        if let actions = compareTold(by: answer, body) { return actions }
        let mustTell = plan.verify == .size || plan.verify == .digest
        // An answer that was lost, or is about something else: a server that tells digests can be asked for it once more.
        let mayBePortal = answer.isPageForYes && plan.verify != VerificationWish.none
        if mustTell || mayBePortal || plan.verify == nil && plan.tellsDigests == true {
            return probe(.isItWhole(answer, body: body, mustTell: mustTell))
        }
        return over(.finish(receipt(.answered, known, answer, body: body)))
    }

    mutating func hash(_ theirs: TransferDigest, _ comparison: Comparison) -> [ProtocolAction] {
        state = .hashing(theirs, comparison)
        return [.digestSource]
    }

    /// Another server may have taken the place of one that was known to heed conditions.
    private mutating func unlearn(heeds answer: HTTPAnswer) -> [ProtocolAction] {
        guard plan.heedsConditions, answer.field("server") != nil, !answer.heedsConditions else { return [] }
        plan.heedsConditions = false
        return [.learned(HostFacts { $0.heedsConditions = false })]
    }

    /// Remembered for the next file of that host.
    mutating func learn(tellsDigests: Bool) -> [ProtocolAction] {
        guard plan.tellsDigests ?? false != tellsDigests else { return [] }
        plan.tellsDigests = tellsDigests
        var learnt = HostFacts()
        learnt.tellsDigests = tellsDigests
        return [.learned(learnt)]
    }

    // MARK: Words

    static func doubt(_ answer: HTTPAnswer, size: Int64) -> String {
        guard answer.isSuccess else { return "it does not tell what is there (\(answer.status))" }
        guard let length = answer.contentLength else { return "it does not tell the size of what is there" }
        if length != size { return "what is there has \(length) bytes, not \(size)" }
        return "nothing tells whether what is there is the same file"
    }

    /// The file there is not known to be ours: it is sent again, but not for ever.
    mutating func unproven(_ put: UnprovenPut) -> [ProtocolAction] {
        if plan.unanswered == nil, put.yes != nil { return over(.fail(put.error)) }
        let why = put.yes == nil ? UnprovenFiles.answersAreLost : UnprovenFiles.isNeverShown
        return sendLater(put.error, orElse: why)
    }

    /// - Parameter why: what is said once it was sent often enough.
    mutating func sendLater(_ error: TransferError, orElse why: String) -> [ProtocolAction] {
        let wait = ProtocolAction.wait(WaitDemand(.backoff, error))
        // Nobody counts the tries here.
        guard let before = plan.unanswered else { return over(wait) }
        guard let count = UnprovenFiles.count(after: before) else {
            return over(.fail(.unsure(at: chain.address.server, why)))
        }
        var point = StoredVersion(stored: false, etag: nil)
        point.unanswered = count
        return [.persist(ResumePoint(point))] + over(wait)
    }

    /// The check that counts when nothing is asked: there is the server's word and no more.
    var known: Verification { plan.isMeasured && plan.verify != VerificationWish.none ? .size : .none }

    func receipt(
        _ proof: ArrivalProof, _ verified: Verification, _ answer: HTTPAnswer?, body: [UInt8] = []
    ) -> Receipt {
        var receipt = Receipt(proof, bytes: plan.size, verified: verified)
        (receipt.etag, receipt.status) = (answer?.etag, answer?.status)
        receipt.shown = answer?.date.map { $0.milliseconds / 1000 }
        if let answer, !body.isEmpty {
            let url = plan.answeredAt ?? chain.address
            receipt.response = TransferResponse(url.redacted(answer), body: url.redacted(body, of: answer))
        }
        return receipt
    }

    func meaning(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> AnswerMeaning {
        AnswerMeaning(answer, host: chain.address.server, hasAccepted: false, isPlainPut: true, at: end.at)
    }

    /// The signature in a URL allows the request for a time alone. When that is over only another URL helps.
    private func expiredSignature(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> WaitDemand? {
        guard [400, 401, 403].contains(answer.status) else { return nil }
        let saysExpired = S3Answers.error(end.body)?.isExpiry ?? false
        guard saysExpired || (answer.status == 403 && chain.address.isSigned) else { return nil }
        return WaitDemand(.auth, .signatureExpired(chain.address, answer.status))
    }
}
