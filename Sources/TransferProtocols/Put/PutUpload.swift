import TransferModel
import WireOperations

/// An upload by one plain PUT. There is nothing to resume: a cut means sending again.
///
/// Doubt makes it more than one request. An answer may be lost after the server has stored the file, in this attempt or in one before a
/// kill; then a HEAD asks what is there before anything is sent twice or called a stranger's.
package struct PutUpload: ProtocolMachine {
    /// The question that a HEAD is to answer.
    enum Question: Hashable {
        /// Has an attempt that began then stored the file? `refused`: a PUT was answered 412, so something is there.
        /// `wantsDigest`: its length agrees, and nothing but its bytes tells it from an earlier version of the source.
        case didItArrive(begun: Timestamp, refused: Bool, wantsDigest: Bool)
        /// Something is there: is it by chance the same file? `inDoubt`: an earlier attempt may have put it there. A server may have to
        /// read the whole file for a digest: of a large one that is asked when the size agrees.
        case isItTheSame(inDoubt: Bool, wantsDigest: Bool)
        /// The server said it stored the file: is all of it there? `mustTell`: a person wants more than its word.
        case isItWhole(HTTPAnswer, body: [UInt8], mustTell: Bool)
        /// Is it still our earlier version, of which no tag can be named in a condition?
        case isItOwn
        /// Is there nothing? The server may replace it whatever the condition says.
        case isItFree
    }

    /// The reason for the comparison of a digest.
    enum Comparison {
        /// The server said that it stored the file.
        case stored(HTTPAnswer, body: [UInt8])
        /// A file was there already.
        case found(inDoubt: Bool)
        /// An answer was lost, and a file of the source's length is there.
        case arrived(HTTPAnswer, refused: Bool)
        /// An earlier attempt may have left there what it had sent.
        case begun(HTTPAnswer, BeginningLook)
    }

    /// The purpose of a GET.
    enum Reading {
        /// A small file, for want of a digest.
        case whole(Comparison)
        /// A part of what may be a beginning of the file.
        case part(BeginningLook, of: HTTPAnswer)
    }

    /// A yes of which nobody knows what it is worth.
    struct DoubtfulYes {
        var answer: HTTPAnswer
        var body: [UInt8]
        /// When it was heard; the question that follows was put then.
        var heard: Timestamp
    }

    enum State {
        /// Nothing is asked yet. Next: `probing` (an earlier attempt is in doubt), `sending`.
        case ready
        /// The PUT is under way. Next: itself (redirect), `probing` (a name to ask for, a lost answer, 412, a size to check), `hashing`,
        /// `tidying`, `over`.
        case sending(ExchangeID)
        /// A HEAD is under way. Next: itself (redirect), `resting`, `sending` (it did not arrive), `hashing`, `tidying`, `over`.
        case probing(ExchangeID, Question)
        /// A lost or doubtful answer and nothing there yet: the server gets a moment. Next: `probing`.
        case resting(Question)
        /// The engine computes the source's digest, to compare with the server's. Next: `sending` (it is another file), `reading`,
        /// `tidying`, `over`.
        case hashing(TransferDigest, Comparison)
        /// A GET of what is there. Next: itself (redirect), `hashing`, `sending`, `over`.
        case reading(ExchangeID, Reading)
        /// Uploads that serve nothing any more are removed, one after the other; then the file is done. Next: `over`.
        case tidying(ExchangeID, rest: [HTTPExchange], then: Receipt)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// A server reads a file of this size in the time of a round trip or two.
    private static let quicklyDigested: Int64 = 8 << 20
    /// A smaller file is read back, where nothing else tells whether it is ours.
    static let quicklyRead: Int64 = 1 << 20
    /// Whole files whose answers were lost one after the other. Then a person looks.
    private static let mostUnanswered = 3

    var plan: PutPlan
    var state = State.ready
    /// Redirects of the PUT.
    var chain: RedirectChain
    /// Redirects of the questions: a server may send those who read elsewhere.
    var asking: RedirectChain
    private(set) var lastID: Int
    var begun = Timestamp(milliseconds: 0)
    /// The question about an earlier attempt was put; its answer was not "yes".
    var hasProbed = false
    /// All of what is there was compared, and is something else.
    var isDifferent = false
    /// The look has shown what is there to be older than anything of ours: somebody else's.
    var isOthers = false
    /// A lost answer, or a doubtful one, was followed by a pause already.
    var hasRested = false
    /// The file that has the name, as far as the last look before the PUT could tell.
    var before = NameBefore.unseen
    /// The PUT's answer, where it was a yes that proves nothing: it came before the last byte, or is a 202.
    var doubtful: DoubtfulYes?
    /// The attempt's own failure, told when the probe after it finds nothing.
    var failure: TransferError?

    /// Address of the server's upload for this PUT, when it gave one: a cut can be gone on from there.
    var handle: HTTPAddress?
    /// Said before the file is sent: what had come there of it counts no more.
    var restartReason: String?
    var expires: Timestamp?
    /// Removals of uploads at the server that serve nothing once the file counts as done.
    var leftovers: [HTTPExchange] = []
    /// Another protocol's upload was refused: what is there is looked at, and that protocol sends.
    var onlyLooks = false
    /// The look has found nothing; nothing more is said.
    var hasFoundNothing = false
    /// The name was asked for right before the PUT, and nothing has it.
    var isFree = false
    /// After a 412 and a look that found nothing it was sent once more.
    var isSentAgain = false

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: PutPlan, after lastID: Int = 0) {
        self.plan = plan
        self.lastID = lastID
        chain = RedirectChain(plan.address)
        asking = chain
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)):
            begun = now
            return claim() + begin()
        case (.sending(let id), .ended(let ended, let end)) where ended == id: return putEnded(end)
        case (.sending(let id), .interim(let source, let answer, let now)) where source == id:
            return offered(answer, now)
        case (.probing(let id, let question), .ended(let ended, let end)) where ended == id:
            return headEnded(question, end)
        case (.resting(let question), .timerFired(.probeAgain)): return probe(question)
        case (.hashing(let theirs, let comparison), .digested(let ours)): return compare(ours, theirs, comparison)
        case (_, .clockSetBack):
            plan.clockWasSetBack = true
            return []
        case (.hashing(let theirs, let comparison), .rangeDigested(_, let ours)):
            return ours.first.map { compare($0, theirs, comparison) } ?? []
        case (.reading(let id, let reading), .ended(let ended, let end)) where ended == id: return read(end, reading)
        case (.tidying(let id, let rest, let receipt), .ended(let ended, _)) where ended == id:
            return tidy(rest, then: receipt)
        default:
            // Heads are looked at when the exchange ends; what belongs to an abandoned or finished one comes too late.
            return []
        }
    }

    private mutating func begin() -> [ProtocolAction] {
        // A server that tells no digest may be the one that said yes too early: what it has now is told from what it has then.
        let isOfUse = plan.tellsDigests != false || plan.unanswered ?? 0 > 0
        if let before = plan.begunBefore, plan.resume?.stored != true, isOfUse, !plan.targetIsOther {
            return probe(.didItArrive(begun: before, refused: false, wantsDigest: false))
        }
        return mustRecognise ? probe(.isItOwn) : send()
    }

    /// Another file of ours is not to get the name between a look that guards it and the PUT.
    private func claim() -> [ProtocolAction] {
        let isGuardedByLooks = plan.mayIgnoreConditions && PutMessages.isConditional(plan)
        return isGuardedByLooks ? [.claimName(RawPath(plan.address.target))] : []
    }

    // MARK: Requests

    mutating func send() -> [ProtocolAction] {
        // A file that may be our own from an earlier attempt was looked at already.
        if isUnguarded, !isFree, !hasProbed || isOthers { return probe(.isItFree) }
        isFree = false
        let id = nextID()
        state = .sending(id)
        let restart = restartReason.map { [ProtocolAction.startOver(reason: $0)] } ?? []
        restartReason = nil
        return restart + trial() + [.perform(id, PutMessages.put(plan, chain))]
    }

    /// Nothing is to be replaced, and only a look can see to that.
    var isUnguarded: Bool { plan.mayIgnoreConditions && PutMessages.wantsAbsence(plan) }

    mutating func probe(_ question: Question) -> [ProtocolAction] {
        let id = nextID()
        state = .probing(id, question)
        let wantsDigest =
            switch question {
            case .isItTheSame(inDoubt: _, let wantsDigest): wantsDigest
            case .isItWhole: plan.verify.comparesDigests
            case .didItArrive(_, _, let wantsDigest): wantsDigest
            case .isItOwn, .isItFree: false
            }
        return [.perform(id, PutMessages.head(asking, wantsDigest: wantsDigest))]
    }

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    // MARK: The PUT's answer

    private mutating func putEnded(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end, since: begun) }
        if answer.status == 412, PutMessages.isConditional(plan) {
            if let handle {
                leftovers.append(ResumableMessages.cancel(handle, version: plan.interopVersion, target: plan.address))
            }
            return refused()
        }
        let completion = ResumableAnswer.completion(answer)
        if let handle {
            // Where only a part of it arrived the rest can follow; what was refused as a whole must not be gone on with.
            if answer.isSuccess, completion == false { return cut(handle, end, .noAnswer(chain.address)) }
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
        case .success: return stored(answer, end.body)
        case .redirect:
            if let error = chain.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            asking = chain
            return send()
        case .wait(let demand): return over(.wait(demand))
        case .fail(let error): return over(.fail(error))
        }
    }

    /// No answer at all. Without the last byte sent no server that keeps to HTTP has the file; with it, it may.
    mutating func unanswered(_ end: ExchangeEnd, since begun: Timestamp) -> [ProtocolAction] {
        let error = end.failure?.error ?? .noAnswer(chain.address)
        if let handle { return cut(handle, end, error) }
        let mayHaveArrived = end.bytesSent >= plan.size && end.failure?.mayHaveReachedServer ?? true
        guard mayHaveArrived, error.isRetryable else { return refuseOrWait(error) }
        failure = error
        return probe(.didItArrive(begun: begun, refused: false, wantsDigest: false))
    }

    mutating func refuseOrWait(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    /// 412 to a conditional PUT: something is there that the rule does not let us replace.
    mutating func refused() -> [ProtocolAction] {
        if let before = plan.begunBefore, !hasProbed, !plan.targetIsOther {
            return probe(.didItArrive(begun: before, refused: true, wantsDigest: false))
        }
        let inDoubt = hasProbed && !isOthers
        // Of what we put there ourselves it says only that it is not there any more.
        if plan.ifExists == .skip, !inDoubt, plan.resume?.stored != true { return over(.finish(.skipped(plan.size))) }
        return probe(.isItTheSame(inDoubt: inDoubt, wantsDigest: plan.size <= Self.quicklyDigested))
    }

    /// A 2xx before the last byte, or a 202: as good as no answer, until what is there shows more.
    private mutating func doubted(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        if let actions = compareTold(by: answer, end.body) { return actions }
        let error = TransferError.doubtful(answer.status, at: chain.address.server)
        if let handle, ResumableAnswer.completion(answer) != true { return cut(handle, end, error) }
        failure = error
        doubtful = DoubtfulYes(answer: answer, body: end.body, heard: end.at)
        return probe(.didItArrive(begun: begun, refused: false, wantsDigest: plan.verify.comparesDigests))
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
        if mustTell || plan.verify == nil && plan.tellsDigests == true {
            return probe(.isItWhole(answer, body: body, mustTell: mustTell))
        }
        return over(.finish(receipt(.answered, known, answer, body: body)))
    }

    mutating func hash(_ theirs: TransferDigest, _ comparison: Comparison) -> [ProtocolAction] {
        state = .hashing(theirs, comparison)
        return [.digestSource]
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

    enum Ownership { case older, notOlder, unknown }

    /// Compares times by the server's clock: its `Date` against ours shows how far the two are apart.
    func ownership(_ answer: HTTPAnswer, now: Timestamp, begun: Timestamp) -> Ownership {
        // An attempt that began later than now began by a clock that was set while no engine ran.
        guard answer.isSuccess, let modified = answer.lastModified, begun <= now, !plan.clockWasSetBack else {
            return .unknown
        }
        let skew = answer.date.map { $0.since(now) } ?? .zero
        // Both fields are cut to whole seconds.
        let earliest = begun.advanced(by: skew).advanced(by: .seconds(-2))
        return modified < earliest ? .older : .notOlder
    }

    /// Returns true when what the server shows came after the PUT had begun. The server's own condition counts as a look, where it is known
    /// to heed that.
    func isNew(_ answer: HTTPAnswer, since yes: DoubtfulYes) -> Bool {
        if before != .unseen { return before.isReplaced(by: StandingFile(answer)) }
        if plan.heedsConditions, PutMessages.isConditional(plan) {
            return PutMessages.wantsAbsence(plan) || answer.etag.map { $0 != plan.resume?.etag } ?? false
        }
        guard let modified = answer.lastModified, let date = answer.date, begun <= yes.heard, !plan.clockWasSetBack
        else { return false }
        // Since the PUT began more time has gone by than since the file was written, both by whole seconds of the server's clock.
        return modified <= date && date.since(modified) + .seconds(1) <= yes.heard.since(begun)
    }

    /// True when the file there may still be the earlier version of the source that we put there: only another tag tells.
    func isOwnBefore(_ answer: HTTPAnswer) -> Bool {
        guard let own = plan.resume, own.stored else { return false }
        guard let before = own.etag, let now = answer.etag else { return true }
        return before == now
    }

    /// Nothing but a look tells whether our earlier version is still there.
    private var mustRecognise: Bool {
        guard let own = plan.resume, own.stored, plan.ifExists != .replace else { return false }
        return (own.strongTag == nil || plan.mayIgnoreConditions) && !own.isUntold
    }

    static func doubt(_ answer: HTTPAnswer, size: Int64) -> String {
        guard answer.isSuccess else { return "it does not tell what is there (\(answer.status))" }
        guard let length = answer.contentLength else { return "it does not tell the size of what is there" }
        if length != size { return "what is there has \(length) bytes, not \(size)" }
        return "nothing tells whether what is there is the same file"
    }

    /// Its answer is lost, and what is there is not known to be the file: it is sent again, but not for ever.
    mutating func lostAnswer(_ error: TransferError) -> [ProtocolAction] {
        guard let before = plan.unanswered else {
            // Nobody counts the tries here.
            if doubtful != nil { return over(.fail(error)) }
            return over(.wait(WaitDemand(.backoff, error)))
        }
        guard before + 1 < Self.mostUnanswered else {
            let why =
                doubtful == nil
                ? "its answers are lost, time after time"
                : "it reported success again and again, but does not show the file"
            return over(.fail(.unsure(at: chain.address.server, why)))
        }
        var point = StoredVersion(stored: false, etag: nil)
        point.unanswered = before + 1
        return [.persist(ResumePoint(point))] + over(.wait(WaitDemand(.backoff, error)))
    }

    /// The check that counts when nothing is asked: there is the server's word and no more.
    var known: Verification { plan.isMeasured && plan.verify != VerificationWish.none ? .size : .none }

    func receipt(
        _ proof: ArrivalProof, _ verified: Verification, _ answer: HTTPAnswer?, body: [UInt8] = []
    ) -> Receipt {
        var receipt = Receipt(proof, bytes: plan.size, verified: verified)
        (receipt.etag, receipt.status) = (answer?.etag, answer?.status)
        receipt.shown = answer?.date.map { $0.milliseconds / 1000 }
        if let answer, !body.isEmpty { receipt.response = TransferResponse(answer, body: body) }
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

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        if case .finish(let receipt) = action, !leftovers.isEmpty { return tidy(leftovers, then: receipt) }
        state = .over
        return [action]
    }

    /// As well as that goes: the file counts as done in any case.
    private mutating func tidy(_ leftovers: [HTTPExchange], then receipt: Receipt) -> [ProtocolAction] {
        guard let next = leftovers.first else {
            state = .over
            return [.finish(receipt)]
        }
        let id = nextID()
        state = .tidying(id, rest: Array(leftovers.dropFirst()), then: receipt)
        return [.perform(id, .http(next))]
    }
}
