import TransferModel
import WireOperations

/// An upload by the IETF draft "Resumable Uploads for HTTP", interop versions 8, 6, 5 and 3.
///
/// A server that announced the draft gets an empty creation first, so that the upload's address is durable before the first byte. Any other,
/// and every small file, gets a plain PUT with an offer in it; its 104, if one comes, leads here at the next attempt. That PUT is `PutUpload`'s,
/// and so is the look at what is there once everything was sent.
package struct ResumableUpload: ProtocolMachine {
    enum State {
        /// Nothing is asked yet. Next: `deleting`, `asking`, `discovering`, `creating`, `plain`.
        case ready
        /// The leftover of an earlier version of the source is removed. Next: `discovering`, `looking`, `creating`, `plain`, `over`.
        case deleting(ExchangeID)
        /// The server is asked for the version that it speaks. Next: itself, `looking`, `creating`, `plain`, `over`.
        case discovering(ExchangeID)
        /// Asks what has the target's name: the server may replace it whatever a condition says. Next: `creating`, `appending`, `plain`, `over`.
        case looking(ExchangeID)
        /// The upload is being made, empty. Next: itself (redirect), `appending`, `plain`, `over`.
        case creating(ExchangeID)
        /// The server is asked what it has. Next: itself (redirect), `resting`, `looking`, `appending`, `deleting`, `plain`, `over`.
        case asking(ExchangeID)
        /// Locked: it is asked again in a moment. Next: `asking`.
        case resting
        /// Bytes are under way. Next: itself, `asking`, `resting`, `plain`, `over`.
        case appending(ExchangeID, Range<Int64>, isLast: Bool)
        /// The plain request's rules hold now: to the end, or until a look finds nothing (`deleting`, `discovering`, `creating`).
        case plain(PutUpload)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    var plan: ResumablePlan
    var state = State.ready
    var facts: HostFacts
    var probe = UploadProbe(takesTus: false)
    /// It was asked, and said nothing.
    var isSilent = false
    /// The version that this upload is made with.
    var version: Int
    /// Address for creations, after redirects.
    var target: RedirectChain
    /// Address of the upload, as the server gave it; `chain` follows redirects from there.
    var upload: HTTPAddress?
    var chain: RedirectChain
    var limit: UploadLimit?
    var cut: UploadCut?
    /// Bytes that the server has, by its last word: never less after that.
    var held: Int64 = 0
    /// Set once the engine knows where this attempt began.
    var isResuming = false
    /// As `ResumableResumePoint.replaces`.
    var replaces = false
    /// The server's last word on the upload named its whole length.
    var isMeasured = false
    /// This attempt has asked what has the target's name.
    var hasLooked = false
    /// This attempt has brought something of the file there.
    var hasSent = false
    var begun = Timestamp(milliseconds: 0)
    var expires: Timestamp?
    /// Requests in a row that were refused or brought no progress by `ProgressRule`.
    var tries = 0
    /// The offset of the last progress that reset `tries`.
    var reached: Int64 = 0
    var restarts = 0
    var lastID: Int

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
        if case .clockSetBack = event { plan.subject.clockWasSetBack = true }
        switch (state, event) {
        case (.ready, .began(let now)):
            begun = now
            return begin()
        case (.deleting(let id), .ended(let ended, let end)) where ended == id:
            // The next attempt asks, for the point that names it is still the one that is stored.
            return end.unasked.map { over(.wait(WaitDemand(.backoff, $0))) } ?? anew()
        case (.discovering(let id), .ended(let ended, let end)) where ended == id: return discovered(end)
        case (.looking(let id), .ended(let ended, let end)) where ended == id: return looked(end)
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
            return forward(inner, actions)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    package var remains: ResumePoint? {
        if case .plain(let inner) = state { inner.remains } else { nil }
    }

    package var unremoved: [ResumePoint] {
        if case .plain(let inner) = state { inner.unremoved } else { [] }
    }

    package var asksHost: Bool {
        switch state {
        case .discovering: true
        case .ready: facts.interopVersion == nil && plan.resume?.url == nil
        default: false
        }
    }

    // MARK: Beginning

    mutating func begin() -> [ProtocolAction] {
        guard let point = plan.resume else { return anew() }
        guard let url = point.url else {
            return [.startOver(reason: "the upload's address at the server is not known any more")] + anew()
        }
        version = point.version
        if plan.subject.hasChanged || point.length != plan.subject.size { return delete(url) }
        replaces = point.replaces == true
        upload = url
        chain = RedirectChain(url)
        cut = point.cut
        held = point.cut?.offset ?? 0
        cut = cut ?? plan.subject.unanswered
        expires = point.expires
        isResuming = true
        return ask()
    }

    mutating func delete(_ url: HTTPAddress) -> [ProtocolAction] {
        let id = nextID()
        state = .deleting(id)
        return [.perform(id, .http(ResumableMessages.cancel(url, version: version, target: plan.address)))]
    }

    mutating func anew() -> [ProtocolAction] {
        upload = nil
        replaces = plan.subject.ifExists == .replace
        cut = nil
        (held, reached) = (0, 0)
        limit = nil
        isResuming = false
        guard facts.interopVersion != nil || isSilent else { return discover() }
        version = facts.versionToOffer
        let isSmall = plan.subject.size <= UploadPace.smallFile
        return isSmall || facts.announcesResume != true ? putPlainly(plan.subject.begunBefore) : create()
    }

    mutating func discover() -> [ProtocolAction] {
        let id = nextID()
        state = .discovering(id)
        return [.perform(id, ResumableMessages.options(target, version: probe.asking))]
    }

    mutating func discovered(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(target.address)) }
        switch probe.read(answer, host: target.address.server, at: end.at) {
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
        case .speaks(let learnt):
            facts = facts.merged(with: learnt)
            return [.learned(learnt)] + anew()
        case .tus, .nothing:
            // It may still answer a PUT with a 104.
            isSilent = true
            facts.announcesResume = false
            return anew()
        }
    }

    mutating func create() -> [ProtocolAction] {
        if let look = lookFirst() { return look }
        let id = nextID()
        state = .creating(id)
        return [.perform(id, ResumableMessages.create(target, plan, version: version))]
    }

    mutating func created(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(target.address)) }
        switch answer.status {
        case 200 where answer.isPage && answer.field("location") == nil && upload == nil:
            let page = TransferError.page(at: target.address.server, insteadOf: "server of resumable uploads")
            return over(.wait(WaitDemand(.backoff, page)))
        case 200..<300: return made(answer, end)
        case 307, 308:
            if let error = target.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            hasLooked = false
            return create()
        case 412 where PutMessages.isConditional(plan.put(version: version, begunBefore: nil)):
            return look(plan.subject.begunBefore)
        case 413:
            let largest = UploadLimit(answer).flatMap { $0.refusal(of: plan.subject.size, at: target.address) }
            return over(.fail(largest ?? refusal(answer)))
        default: return usual(answer, end, hasAccepted: plan.resume != nil)
        }
    }

    mutating func made(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        let location = answer.field("location").flatMap { target.address.uploadAddress($0) }
        if location == nil, upload == nil, answer.field("location") != nil {
            return over(.fail(.unusableUpload(at: target.address.server, status: answer.status)))
        }
        guard ResumableAnswer.completion(answer) != true, let url = location ?? upload else {
            // It took that for an empty file, against its own announcement. The file is ours: it is replaced by what it should be.
            var learnt = HostFacts()
            learnt.announcesResume = false
            let made = (answer.date ?? end.at).milliseconds / 1000
            let own = StoredVersion(
                stored: true, etag: answer.etag, version: NamedVersion(size: 0, modified: made), shown: made)
            plan.stored = own
            return [.learned(learnt), .persist(ResumePoint(own))]
                + plainly(nil, sends: true) { $0.handle(.began(at: end.at)) }
        }
        if let told = UploadLimit(answer) { limit = told }
        if let error = limit?.refusal(of: plan.subject.size, at: target.address) { return over(.fail(error)) }
        expires = limit?.age.map { end.at.advanced(by: .seconds($0)) }
        upload = url
        chain = RedirectChain(url)
        return [persist()] + append()
    }

    // MARK: Words

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    mutating func usual(_ answer: HTTPAnswer, _ end: ExchangeEnd, hasAccepted: Bool) -> [ProtocolAction] {
        switch AnswerMeaning(answer, host: chain.address.server, hasAccepted: hasAccepted, at: end.at) {
        case .wait(let demand): over(.wait(demand))
        case .fail(let error): over(.fail(error))
        case .success, .redirect: over(.fail(refusal(answer)))
        }
    }

    func refusal(_ answer: HTTPAnswer) -> TransferError {
        TransferError(
            .http, AnswerMeaning.finding(answer.status, host: chain.address.server), httpStatus: answer.status)
    }

    mutating func refuseOrWait(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
