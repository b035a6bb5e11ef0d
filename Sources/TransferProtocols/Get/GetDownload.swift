import TransferModel
import WireOperations

/// A download by GET with `Range` and both validators. The synced local file is the truth: an attempt goes on where
/// that ends, with one request, and only when the server proves that it still has the same version. Two versions are never mixed.
package struct GetDownload: ProtocolMachine {
    /// The GET that was sent.
    struct Request: Hashable {
        var offset: Int64
        /// `If-Range` went with it.
        var isGuarded: Bool
        /// A 200 for the same version came once already: some caches refuse `If-Range` with a tag.
        var isSecondTry: Bool
    }

    enum State {
        /// Next: `asking`, `over` (all was there already).
        case ready
        /// A GET without its final answer. Next: itself (redirect, start over), `receiving`, `proving`, `explaining`, `over`.
        case asking(ExchangeID, Request)
        /// The body flows into the file. Next: `lookingAgain`, `over`.
        case receiving(ExchangeID, Flow)
        /// All came, in an answer that was long or took its time: a HEAD shows whether the file is still the same, or, where the server says
        /// nothing to that, a GET of one byte. Next: itself by GET, `asking` from zero, `over`.
        case lookingAgain(ExchangeID, GetResumePoint, Look = .head)
        /// All came of a file that was written right when it was read, and still may be. Next: `asking` from zero.
        case settling
        /// All came, and each answer seems to have a date of its own. Next: `lookingAgain`.
        case lookingLater(GetResumePoint)
        /// 416 where the file may be complete: a HEAD asks. Next: itself (redirect), `asking` from zero, `over`.
        case proving(ExchangeID, GetResumePoint)
        /// A store refused, and says why in a body that the gate held back: asked once more for a byte. Next: `asking`, `over`.
        case explaining(ExchangeID, Request)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// A look at the version when all bytes are here.
    enum Look: Hashable {
        case head
        /// By a GET of one byte: HEAD said nothing.
        case byte
        /// By a GET of one byte: HEAD said that the file is another. Some servers tell a HEAD other things than a GET.
        case byteAfterChange
        /// The same, after a pause.
        case byteAfterPause
    }

    /// The reason to read the file from its first byte on.
    struct Restart: Hashable {
        var reason: String
        /// The file is another one.
        var isOther: Bool
    }

    /// The body that flows.
    struct Flow: Hashable {
        var point: GetResumePoint
        /// The file's offset when the gate was opened.
        var start: Int64
        /// When the head came that told the version.
        var since: Timestamp
    }

    let plan: GetPlan
    var state = State.ready
    var chain: RedirectChain
    private var lastID = 0
    /// Bytes that count until a start over; a 403 after them means that a permission ran out.
    var accepted: Int64
    /// As the plan's, with what was learnt since.
    var channel: (any ObjectChannel)?
    private var hasExplained = false
    /// A file that changes under each reading is left alone for a while.
    var restarts = 0
    /// A file that was fresh was asked for twice.
    var hasReadFresh = false
    /// The end of its first reading: all of it is here until the second one begins.
    var firstReading: GetResumePoint?
    /// The file is asked for from its first byte on. What is here is kept until the answer shows that it can be replaced.
    var restart: Restart?
    /// The version that was read last; `nil`: nothing of it is known.
    var known: RemoteVersion?

    package init(_ plan: GetPlan) {
        self.plan = plan
        channel = plan.channel
        chain = RedirectChain(plan.address)
        accepted = plan.resume?.offset ?? 0
        known = plan.resume.flatMap { $0.version == RemoteVersion() ? nil : $0.version }
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.asking(let id, let request), .answered(let other, let answer, let now)) where other == id:
            return answered(answer, to: request, id, at: now)
        case (.asking(let id, _), .ended(let ended, let end)) where ended == id: return unanswered(end)
        case (.settling, .timerFired(.probeAgain)): return readFresh()
        case (.receiving(let id, let flow), .synced(let offset)): return synced(offset, id, flow)
        case (.receiving(let id, let flow), .ended(let ended, let end)) where ended == id:
            return bodyEnded(end, flow)
        // The disk may be behind: the file's length stays the one that came.
        case (.lookingAgain(_, let point, _), .synced(let offset)): return [.persist(point.synced(through: offset))]
        case (.lookingAgain(let id, let point, let look), .ended(let ended, let end)) where ended == id:
            return lookedAgain(end, point, look)
        case (.lookingLater(let point), .synced(let offset)): return [.persist(point.synced(through: offset))]
        case (.lookingLater(let point), .timerFired(.probeAgain)): return lookByGet(point, .byteAfterPause)
        case (.proving(let id, let point), .ended(let ended, let end)) where ended == id: return proved(end, point)
        case (.explaining(let id, let request), .ended(let ended, let end)) where ended == id:
            return explained(end, request)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    // MARK: Asking

    private mutating func begin() -> [ProtocolAction] {
        guard let point = plan.resume, point.offset > 0 else { return ask(from: 0) }
        if point.isOutdated == true { return begin(anew: "changed at the server", isOther: true) }
        if let receipt = point.receipt(verify: plan.verify, expects: plan.expects) { return over(.finish(receipt)) }
        // All was synced before the last stop: nothing is left to fetch. Nobody knows how long it took.
        if let total = point.version.total, point.offset == total { return received(point, inOneReading: false) }
        guard point.version.isResumable else {
            return begin(anew: "the server gave nothing to recognise the version by")
        }
        return ask(from: point.offset, ifRange: point.version.ifRange)
    }

    mutating func ask(
        from offset: Int64, ifRange: String? = nil, isSecondTry: Bool = false
    ) -> [ProtocolAction] {
        let id = nextID()
        state = .asking(id, Request(offset: offset, isGuarded: ifRange != nil, isSecondTry: isSecondTry))
        return [.perform(id, GetMessages.get(plan, chain, from: offset, ifRange: ifRange, signing: channel?.signing))]
    }

    /// The same once more, elsewhere or signed otherwise.
    mutating func ask(_ request: Request) -> [ProtocolAction] {
        let guardField = request.isGuarded ? plan.resume?.version.ifRange : nil
        return ask(from: request.offset, ifRange: guardField, isSecondTry: request.isSecondTry)
    }

    /// Asks for the file from its first byte on.
    /// - Parameter outdated: whole, and of another version than the server has. The next attempt must not take it for the file either.
    mutating func begin(
        anew reason: String, isOther: Bool = false, of outdated: GetResumePoint? = nil
    ) -> [ProtocolAction] {
        restart = Restart(reason: reason, isOther: isOther)
        guard var outdated else { return ask(from: 0) }
        outdated.isOutdated = true
        return [.persist(ResumePoint(outdated))] + ask(from: 0)
    }

    /// Throws away what is here.
    mutating func startOver(_ reason: String, isOther: Bool) -> [ProtocolAction] {
        accepted = 0
        restart = nil
        return [.startOver(reason: reason, isOther: isOther)]
    }

    /// A person who wants no other version than the one that was begun is told, and a retry takes it as it is then; `nil`: any is right.
    mutating func refuseChange(_ id: ExchangeID?) -> [ProtocolAction]? {
        guard plan.ifChanged == .fail else { return nil }
        var actions = (id.map { [.abandon($0)] } ?? []) + startOver("changed at the server", isOther: true)
        if let begun = plan.resume { actions.append(.persist(ResumePoint(begun.forgotten))) }
        return actions + over(.fail(.changedAtServer(chain.address.server)))
    }

    // MARK: The body

    private mutating func synced(_ offset: Int64, _ id: ExchangeID, _ flow: Flow) -> [ProtocolAction] {
        var flow = flow
        flow.point.offset = offset
        accepted = offset
        state = .receiving(id, flow)
        return [.persist(ResumePoint(flow.point))]
    }

    private mutating func bodyEnded(_ end: ExchangeEnd, _ flow: Flow) -> [ProtocolAction] {
        if let failure = end.failure { return failed(failure) }
        let length = flow.start + end.bytesWritten
        if let total = flow.point.version.total, length != total { return cutShort(length, of: total) }
        var point = flow.point
        point.offset = length
        return received(
            point,
            inOneReading: RemoteVersion.isOneReading(from: flow.start, through: length, end.at.since(flow.since)))
    }

    mutating func cutShort(_ length: Int64, of total: Int64) -> [ProtocolAction] {
        let finding = "\(chain.address.server) sent \(length) of \(total) bytes"
        return over(.wait(WaitDemand(.backoff, TransferError(.networkConnectionLost, finding, .again))))
    }

    /// Digest that the file must have: the one a person gave, else the one the server offered, unless nobody wants it compared.
    func promised(_ point: GetResumePoint) -> TransferDigest? {
        plan.expects ?? (plan.takesOffers ? point.promised : nil)
    }

    /// - Parameter isOneVersion: false: nobody can tell whether it is one, and it is called checked only as far as a person asked for.
    mutating func finish(_ point: GetResumePoint, isOneVersion: Bool = true) -> [ProtocolAction] {
        let digest = promised(point)
        if plan.verify == .digest, digest == nil {
            return over(.fail(.unverifiable(at: chain.address.server, "tells no SHA-256 of the file")))
        }
        let isAsked = isOneVersion ? plan.verify != VerificationWish.none : plan.verify == .size
        let isSized = isAsked && point.version.total == point.offset
        let verified: Verification = digest != nil ? .digest : isSized ? .size : .none
        return over(.finish(.received(point.offset, verified: verified, digest: digest)))
    }

    private mutating func unanswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        failed(end.failure ?? .network(noAnswer))
    }

    mutating func failed(_ failure: ExchangeFailure) -> [ProtocolAction] {
        switch failure {
        case .network(let error) where error.isRetryable: over(.wait(WaitDemand(.backoff, error)))
        case .network(let error): over(.fail(error))
        case .sink(let error, let waits?): over(.wait(WaitDemand(waits, error)))
        case .sink(let error, nil): over(.fail(error))
        }
    }

    private mutating func proved(_ end: ExchangeEnd, _ point: GetResumePoint) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end) }
        switch AnswerMeaning(answer, host: chain.address.server, hasAccepted: accepted > 0, at: end.at) {
        case .success:
            var point = point
            guard point.version.isSame(as: RemoteVersion(answer)) else {
                return refuseChange(nil) ?? begin(anew: "changed at the server", isOther: true, of: point)
            }
            point.version.total = point.offset
            point.promised = point.promised ?? answer.fileDigest
            return finish(point)
        case .redirect:
            if let error = chain.follow(answer, keepsMethod: false) { return over(.fail(error)) }
            let id = nextID()
            state = .proving(id, point)
            return [.perform(id, GetMessages.head(chain, signing: channel?.signing))]
        case .wait(let demand): return over(.wait(demand))
        // The GET will say what the matter is; a server that has no HEAD must not stop a download.
        case .fail: return begin(anew: "the server does not prove the version")
        }
    }

    // MARK: Stores

    /// Takes from a refusal's head what it complains of, or asks to read its body; `nil` when the answer means what it says.
    mutating func misunderstood(
        _ answer: HTTPAnswer, _ request: Request, at now: Timestamp
    ) -> [ProtocolAction]? {
        guard channel != nil, chain.mayCarrySecrets else { return nil }
        if let learnt = channel?.learn(answer, at: now) { return learned(learnt, request) }
        guard [400, 403].contains(answer.status), !hasExplained else { return nil }
        hasExplained = true
        let id = nextID()
        state = .explaining(id, request)
        return [.perform(id, GetMessages.oneByte(chain, signing: channel?.signing))]
    }

    private mutating func explained(_ end: ExchangeEnd, _ request: Request) -> [ProtocolAction] {
        switch channel?.meaning(end, hasAccepted: accepted > 0) {
        case nil: return []
        case .success?: return ask(request)
        case .again(let learnt)?: return learned(learnt, request)
        case .silent(let error)?: return failed(.network(error))
        case .wait(let demand)?: return over(.wait(demand))
        case .fail(let error)?: return over(.fail(error))
        }
    }

    private mutating func learned(_ facts: HostFacts?, _ request: Request) -> [ProtocolAction] {
        if let channel { chain = RedirectChain(channel.base) }
        return (facts.map { [.learned($0)] } ?? []) + ask(request)
    }

    // MARK: Words

    var badRange: TransferError {
        TransferError(
            .badServerResponse, "\(chain.address.server) answered 206 without saying which part", .again,
            httpStatus: 206)
    }

    private var noAnswer: TransferError {
        TransferError(.networkConnectionLost, "\(chain.address.server) closed the connection without an answer", .again)
    }

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    mutating func over(_ id: ExchangeID, _ action: ProtocolAction) -> [ProtocolAction] {
        [.abandon(id)] + over(action)
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
