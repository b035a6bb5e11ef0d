import TransferModel

/// An upload by the IETF draft "Resumable Uploads for HTTP", interop versions 8, 6, 5 and 3 (protocols.md section 2).
///
/// A server that announced the draft gets an empty creation first, so that the upload's address is durable before the first byte. Any other,
/// and every small file, gets a plain PUT with an offer in it; its 104, if one comes, leads here at the next attempt. That PUT is `PutUpload`'s,
/// and so is the look at what is there once everything was sent.
package struct ResumableUpload: ProtocolMachine {
    private enum State {
        /// Nothing is asked yet. Next: `deleting`, `asking`, `discovering`, `creating`, `plain`.
        case ready
        /// What an earlier version of the source left is removed. Next: `discovering`, `creating`, `plain`.
        case deleting(ExchangeID)
        /// The server is asked for the version that it speaks. Next: itself, `creating`, `plain`, `over`.
        case discovering(ExchangeID)
        /// The upload is being made, empty. Next: itself (redirect), `appending`, `plain`, `over`.
        case creating(ExchangeID)
        /// The server is asked what it has. Next: itself (redirect), `resting`, `appending`, `deleting`, `plain`, `over`.
        case asking(ExchangeID)
        /// Locked: it is asked again in a moment. Next: `asking`.
        case resting
        /// Bytes are under way. Next: itself, `asking`, `resting`, `plain`, `over`.
        case appending(ExchangeID, Range<Int64>, isLast: Bool)
        /// The plain request's rules hold now, to the end.
        case plain(PutUpload)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    let plan: ResumablePlan
    private var state = State.ready
    var facts: HostFacts
    private var probe = UploadProbe(takesTus: false)
    /// The version that this upload is made with.
    var version: Int
    /// Where creations go.
    private var target: RedirectChain
    /// Where the upload is: the address that the server gave, and where redirects have led from there.
    var upload: HTTPAddress?
    var chain: RedirectChain
    var limit: UploadLimit?
    var cut: UploadCut?
    /// Bytes that the server has, by its last word: never less after that.
    var held: Int64 = 0
    /// Set once the engine knows where this attempt began.
    private var isResuming = false
    private var hasSent = false
    private var begun = Timestamp(milliseconds: 0)
    private var expires: Timestamp?
    /// Requests in a row that gained no byte.
    private var tries = 0
    private var restarts = 0
    private var lastID: Int

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: ResumablePlan, after lastID: Int = 0) {
        self.plan = plan
        facts = plan.facts
        version = plan.facts.interopVersion ?? ResumableDraft.latest
        target = RedirectChain(plan.address)
        chain = target
        self.lastID = lastID
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)):
            begun = now
            return begin()
        case (.deleting(let id), .ended(let ended, _)) where ended == id: return anew()
        case (.discovering(let id), .ended(let ended, let end)) where ended == id: return discovered(end)
        case (.creating(let id), .interim(let source, let answer, _)) where source == id:
            upload = upload ?? ResumableAnswer.offer(answer, at: target.address, version: version)
            return []
        case (.creating(let id), .ended(let ended, let end)) where ended == id: return created(end)
        case (.asking(let id), .ended(let ended, let end)) where ended == id: return asked(end)
        case (.resting, .timerFired(.repeatRequest)): return ask()
        case (.appending(let id, let range, let isLast), .ended(let ended, let end)) where ended == id:
            return appended(range, isLast: isLast, end)
        case (.plain(var inner), _):
            let actions = inner.handle(event)
            state = .plain(inner)
            return actions
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    // MARK: Beginning

    private mutating func begin() -> [ProtocolAction] {
        guard let point = plan.resume else { return anew() }
        guard let url = point.url else {
            return [.startOver(reason: "the upload's address at the server is not known any more")] + anew()
        }
        version = point.version
        if plan.subject.hasChanged || point.length != plan.subject.size { return delete(url) }
        upload = url
        chain = RedirectChain(url)
        cut = point.cut
        held = point.cut?.offset ?? 0
        expires = point.expires
        isResuming = true
        return ask()
    }

    private mutating func delete(_ url: HTTPAddress) -> [ProtocolAction] {
        let id = nextID()
        state = .deleting(id)
        return [.perform(id, .http(ResumableMessages.cancel(url, version: version, target: plan.address)))]
    }

    private mutating func anew() -> [ProtocolAction] {
        upload = nil
        cut = nil
        held = 0
        limit = nil
        isResuming = false
        guard let known = facts.interopVersion else { return discover() }
        version = known
        let isSmall = plan.subject.size <= TusUpload.smallFile
        return isSmall || facts.announcesResume != true ? putPlainly(plan.subject.begunBefore) : create()
    }

    private mutating func discover() -> [ProtocolAction] {
        let id = nextID()
        state = .discovering(id)
        return [.perform(id, ResumableMessages.options(target, version: probe.asking))]
    }

    private mutating func discovered(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(target.address)) }
        switch probe.read(answer, host: target.address.host, at: end.at) {
        case .resumable(let learnt, let limit):
            facts = facts.merged(with: learnt)
            if let error = limit.refusal(of: plan.subject.size, at: target.address) {
                return [.learned(learnt)] + over(.fail(error))
            }
            return [.learned(learnt)] + anew()
        case .again: return discover()
        case .moved:
            if let error = target.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            return discover()
        case .wait(let demand): return over(.wait(demand))
        case .tus, .nothing:
            // It may still answer a PUT with a 104.
            facts.interopVersion = ResumableDraft.latest
            facts.announcesResume = false
            return anew()
        }
    }

    private mutating func create() -> [ProtocolAction] {
        let id = nextID()
        state = .creating(id)
        return [.perform(id, ResumableMessages.create(target, plan, version: version))]
    }

    private mutating func created(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(target.address)) }
        switch answer.status {
        case 200..<300: return made(answer, end)
        case 307, 308:
            if let error = target.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            return create()
        case 412 where plan.subject.ifExists != .replace: return plainly(plan.subject.begunBefore) { $0.refused() }
        case 413:
            let largest = UploadLimit(answer).flatMap { $0.refusal(of: plan.subject.size, at: target.address) }
            return over(.fail(largest ?? refusal(answer)))
        default: return usual(answer, end, hasAccepted: plan.resume != nil)
        }
    }

    private mutating func made(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        let location = answer.field("location").flatMap { target.address.uploadAddress($0) }
        guard ResumableAnswer.completion(answer) != true, let url = location ?? upload else {
            // It took that for an empty file, against its own announcement. The file is ours: it is replaced by what it should be.
            var learnt = HostFacts()
            learnt.announcesResume = false
            let own = PutResumePoint(stored: true, etag: answer.field("etag"))
            return [.learned(learnt), .persist(ResumePoint(own))]
                + plainly(nil, resume: own) { $0.handle(.began(at: end.at)) }
        }
        if let told = UploadLimit(answer) { limit = told }
        if let error = limit?.refusal(of: plan.subject.size, at: target.address) { return over(.fail(error)) }
        expires = limit?.age.map { end.at.advanced(by: .seconds($0)) }
        upload = url
        chain = RedirectChain(url)
        return [persist()] + append()
    }

    // MARK: What is there

    private mutating func ask() -> [ProtocolAction] {
        let id = nextID()
        state = .asking(id)
        return [.perform(id, ResumableMessages.head(chain, version: version, target: plan.address))]
    }

    private mutating func asked(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(chain.address)) }
        switch answer.status {
        case 200..<300: return told(answer)
        case 307, 308: return follow(answer) ?? ask()
        case 401, 407, 408, 421, 425, 429, 300..<400, 500...: return usual(answer, end, hasAccepted: true)
        case 403: return over(.wait(.refused(answer, chain.address)))
        case 409, 423: return rest(refusal(answer))
        default: return gone()
        }
    }

    private mutating func told(_ answer: HTTPAnswer) -> [ProtocolAction] {
        let size = plan.subject.size
        let isComplete = ResumableAnswer.completion(answer) == true
        guard let offset = ResumableAnswer.offset(answer) ?? (isComplete ? size : nil) else {
            // A login page, a cache: whatever it is, it is not the server that made the upload.
            return over(.wait(WaitDemand(.backoff, .noAnswer(chain.address))))
        }
        if let told = UploadLimit(answer) { limit = told }
        guard offset <= size, ResumableAnswer.length(answer) ?? size == size, !isComplete || offset == size else {
            return gone()
        }
        // By the draft an offset never goes back: what is there cannot be trusted.
        if offset < held { return restart("the server has lost bytes that it had confirmed") }
        let learnt = cut.flatMap { $0.showsBuffering(at: offset) ? chunks() : nil } ?? []
        return learnt + stands(at: offset, isComplete: isComplete)
    }

    private mutating func stands(at offset: Int64, isComplete: Bool) -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        if isResuming, offset > 0 {
            actions.append(.resumed(at: offset))
        } else if isResuming || offset != held {
            actions.append(.accepted(offset))
        }
        isResuming = false
        if offset > held { tries = 0 }
        held = offset
        cut = nil
        if isComplete { return actions + finish(HTTPAnswer(status: 200), []) }
        return actions + append()
    }

    // MARK: Bytes

    private mutating func append() -> [ProtocolAction] {
        let size = plan.subject.size
        let most = max(largestAppend ?? .max, limit?.smallestAppend ?? 0, 1)
        let isLast = size - held <= most
        let range = held..<(isLast ? size : held + most)
        let id = nextID()
        state = .appending(id, range, isLast: isLast)
        hasSent = hasSent || !range.isEmpty
        return [
            .perform(
                id,
                ResumableMessages.append(chain, range, isLast: isLast, version: version, target: plan.address))
        ]
    }

    private var largestAppend: Int64? {
        [plan.chunk, facts.chunk, facts.largestBody, limit?.largestAppend].compactMap { $0 }.min()
    }

    private mutating func appended(_ range: Range<Int64>, isLast: Bool, _ end: ExchangeEnd) -> [ProtocolAction] {
        let count = range.upperBound - range.lowerBound
        guard let answer = end.answer else { return broken(end, end.failure?.error ?? .noAnswer(chain.address)) }
        // Before its completion is looked at: the refusal of an append says how the upload stands, not what became of it.
        if answer.status == 409 { return mismatched(answer) }
        if let told = UploadLimit(answer) { limit = told }
        let completion = ResumableAnswer.completion(answer)
        if answer.isSuccess {
            if completion == true || (completion == nil && isLast) { return finish(answer, end.body) }
            let offset = ResumableAnswer.offset(answer) ?? (end.bytesSent >= count ? range.upperBound : nil)
            guard let offset, !isLast, (held...range.upperBound).contains(offset) else { return again() }
            if offset == held { return rest(.noAnswer(chain.address)) }
            return stands(at: offset, isComplete: false)
        }
        if completion == true {
            // The verdict on the whole: it must not be gone on with.
            return [
                .persist(ResumePoint(PutResumePoint(stored: false, etag: nil))),
                .startOver(reason: "the server refused the finished upload"),
            ] + usual(answer, end, hasAccepted: true)
        }
        switch answer.status {
        case 307, 308: return follow(answer) ?? append()
        case 403: return over(.wait(.refused(answer, chain.address)))
        case 404, 410:
            cut = UploadCut(offset: held, sent: end.bytesSent)
            return gone()
        case 413: return shrink(count, answer)
        case 423: return rest(refusal(answer))
        case 400 where ResumableAnswer.problem(end) == .completed: return again()
        case 400 where ResumableAnswer.problem(end) == .inconsistentLength:
            return over(.fail(.otherLength(chain.address)))
        case 400...499: return usual(answer, end, hasAccepted: true)
        default:
            cut = UploadCut(offset: held, sent: end.bytesSent)
            return [persist()] + usual(answer, end, hasAccepted: true)
        }
    }

    private mutating func mismatched(_ answer: HTTPAnswer) -> [ProtocolAction] {
        tries += 1
        guard tries <= TusUpload.pauses.count else { return over(.wait(WaitDemand(.backoff, refusal(answer)))) }
        guard let offset = ResumableAnswer.offset(answer), ResumableAnswer.completion(answer) != true,
            (held...plan.subject.size).contains(offset)
        else { return ask() }
        return stands(at: offset, isComplete: false)
    }

    /// The answer says too little: the server is asked, but not for ever.
    private mutating func again() -> [ProtocolAction] {
        tries += 1
        return tries <= TusUpload.pauses.count
            ? ask() : over(.wait(WaitDemand(.backoff, .noAnswer(chain.address))))
    }

    private mutating func broken(_ end: ExchangeEnd, _ error: TransferError) -> [ProtocolAction] {
        cut = UploadCut(offset: held, sent: end.bytesSent)
        return [persist()] + refuseOrWait(error)
    }

    // MARK: Ways on

    private mutating func rest(_ error: TransferError) -> [ProtocolAction] {
        guard tries < TusUpload.pauses.count else { return over(.wait(WaitDemand(.backoff, error))) }
        tries += 1
        state = .resting
        return [.wake(.repeatRequest, after: TusUpload.pauses[tries - 1])]
    }

    /// The upload is not there any more. After its last byte it may have become the file; then that is what is looked for.
    private mutating func gone() -> [ProtocolAction] {
        let hasExpired = expires.map { $0 <= begun } ?? false
        let reason = hasExpired ? "the upload expired at the server" : "the server has lost the upload"
        guard let cut, cut.offset + cut.sent >= plan.subject.size else { return restart(reason) }
        let since = plan.resume?.begun ?? plan.subject.begunBefore ?? begun
        return plainly(since) { $0.arrived(since: since, orSendBecause: reason) }
    }

    private mutating func restart(_ reason: String) -> [ProtocolAction] {
        restarts += 1
        guard restarts <= TusUpload.mostRestarts else {
            return over(.wait(WaitDemand(.backoff, .noAnswer(chain.address))))
        }
        return [.startOver(reason: reason)] + (upload.map { delete($0) } ?? anew())
    }

    private mutating func shrink(_ count: Int64, _ answer: HTTPAnswer) -> [ProtocolAction] {
        let floor = max(TusUpload.smallestBody, limit?.smallestAppend ?? 0)
        guard count > floor else { return over(.fail(refusal(answer))) }
        var learnt = HostFacts()
        learnt.largestBody = max(floor, min(count / 2, 64 << 20))
        facts.largestBody = learnt.largestBody
        return [.learned(learnt)] + append()
    }

    private mutating func chunks() -> [ProtocolAction]? {
        if let largestAppend, largestAppend <= UploadCut.remedy { return nil }
        var learnt = HostFacts()
        learnt.chunk = UploadCut.remedy
        facts.chunk = UploadCut.remedy
        return [.learned(learnt)]
    }

    /// `nil`: the request is repeated where `chain` leads now.
    private mutating func follow(_ answer: HTTPAnswer) -> [ProtocolAction]? {
        if let error = chain.follow(answer, keepsMethod: true) { return over(.fail(error)) }
        if answer.status == 308 { upload = chain.address }
        return nil
    }

    private func persist() -> ProtocolAction {
        .persist(
            ResumePoint(
                ResumableResumePoint(
                    version: version, length: plan.subject.size, url: upload, cut: cut,
                    begun: plan.resume?.begun ?? begun, expires: expires)))
    }

    private mutating func finish(_ answer: HTTPAnswer, _ body: [UInt8]) -> [ProtocolAction] {
        let wasThere = !hasSent
        return plainly(nil) { inner in
            inner.stored(answer, body, inDoubt: false).map { action in
                guard wasThere, case .finish(var receipt) = action else { return action }
                receipt.foundThere = true
                return .finish(receipt)
            }
        }
    }

    private mutating func putPlainly(_ begunBefore: Timestamp?) -> [ProtocolAction] {
        let now = begun
        return plainly(begunBefore) { $0.handle(.began(at: now)) }
    }

    private mutating func plainly(
        _ begunBefore: Timestamp?, resume: PutResumePoint? = nil, _ start: (inout PutUpload) -> [ProtocolAction]
    ) -> [ProtocolAction] {
        var inner = PutUpload(plan.put(version: version, begunBefore: begunBefore, resume: resume), after: lastID)
        let actions = start(&inner)
        state = .plain(inner)
        return actions
    }

    // MARK: Words

    private mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    private mutating func usual(_ answer: HTTPAnswer, _ end: ExchangeEnd, hasAccepted: Bool) -> [ProtocolAction] {
        switch AnswerMeaning(answer, host: chain.address.host, hasAccepted: hasAccepted, at: end.at) {
        case .wait(let demand): over(.wait(demand))
        case .fail(let error): over(.fail(error))
        case .success, .redirect: over(.fail(refusal(answer)))
        }
    }

    private func refusal(_ answer: HTTPAnswer) -> TransferError {
        TransferError(
            .http, AnswerMeaning.message(answer.status, host: chain.address.host), httpStatus: answer.status)
    }

    private mutating func refuseOrWait(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
