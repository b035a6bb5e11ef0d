import TransferModel
import WireOperations

/// An upload by one plain PUT. There is nothing to resume: a cut means sending again.
///
/// Doubt makes it more than one request. An answer may be lost after the server has stored the file, in this attempt or in one before a
/// kill; then a HEAD asks what is there before anything is sent twice or called a stranger's.
package struct PutUpload: ProtocolMachine {
    /// The question that a HEAD is to answer.
    enum Question: Hashable {
        /// Has that PUT stored the file? `wantsDigest`: its length agrees, and nothing but its bytes tells it from an earlier version of
        /// the source.
        case didItArrive(Doubt, wantsDigest: Bool)
        /// Something is there: is it by chance the same file? `inDoubt`: an earlier attempt may have put it there. A server may have to
        /// read the whole file for a digest: of a large one that is asked when the size agrees.
        case isItTheSame(inDoubt: Bool, wantsDigest: Bool)
        /// The server said it stored the file: is all of it there? `mustTell`: a person wants more than its word.
        case isItWhole(HTTPAnswer, body: [UInt8], mustTell: Bool)
        /// Is it still our earlier version, of which no tag can be named in a condition?
        case isItOwn
    }

    /// The PUT that may have stored the file.
    enum Doubt: Hashable {
        /// One of an attempt that began then. `refused`: a PUT of this attempt was answered 412, so something is there.
        case earlier(begun: Timestamp, refused: Bool)
        /// This attempt's own. Nothing is sent again before the next attempt.
        case own(UnprovenPut)

        var begun: Timestamp {
            switch self {
            case .earlier(let begun, _): begun
            case .own(let put): put.begun
            }
        }
    }

    /// The attempt before this one that may have stored the file, after the question about it.
    enum EarlierAttempt {
        /// The question was not put.
        case unasked
        /// The file there may be that attempt's, or it came to nothing.
        case unproven
        /// The file there is older than anything of ours: somebody else's.
        case foreign
    }

    /// The file that is there, beside what may be ours.
    enum Likeness {
        case unknown
        /// It is older than anything of ours.
        case older
        /// All of it was compared, and is something else.
        case different
    }

    /// It was sent too often for what stands there to be replaced once more.
    var isLastTry = false

    enum Purpose {
        case sends
        /// After a 412 and a look that found nothing the file is sent once more.
        case sendsOnceMore
        /// Another protocol's upload was refused: what is there is looked at, and that protocol sends.
        case onlyLooks
    }

    /// The server's upload for this PUT: a cut can be gone on from there.
    struct Offer {
        var upload: HTTPAddress
        var expires: Timestamp?
    }

    /// The reason for the comparison of a digest.
    enum Comparison {
        /// The server said that it stored the file.
        case stored(HTTPAnswer, body: [UInt8])
        /// A file was there already.
        case found(inDoubt: Bool)
        /// An answer was lost, and a file of the source's length is there.
        case arrived(HTTPAnswer, Doubt)
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

    /// A look at a name that nothing has.
    struct AsideLook {
        var chain: RedirectChain
        var byGet: Bool
        /// The file's name shows a page.
        var isPage: Bool
        /// The file's name was led elsewhere: so may this one be.
        var isElsewhere = false
        /// The question that it is asked for, and its answer; `nil`: the look before the PUT.
        var question: (Question, ExchangeEnd)?
    }

    enum State {
        /// Nothing is asked yet. Next: `probing` (an earlier attempt is in doubt), `looking`, `sending`.
        case ready
        /// A HEAD asks for the name before the PUT: the server may replace what has it whatever the condition says. Next: itself (redirect),
        /// `lookingAside`, `probing` (something has it), `sending`, `over`. `byGet`: HEAD failed.
        case looking(ExchangeID, byGet: Bool)
        /// A name that nothing has is asked for in the same way: some servers find every name, and a network that wants a sign-in shows its
        /// page under each. Next: itself (redirect), `probing`, `over`, or as the question says that waits for it.
        case lookingAside(ExchangeID, AsideLook)
        /// The PUT is under way. Next: itself (redirect), `looking`, `probing` (a lost answer, 412, a size to check), `hashing`, `tidying`,
        /// `over`.
        case sending(ExchangeID)
        /// A HEAD is under way. Next: itself (redirect), `lookingAside` (a page), `resting`, `looking` or `sending` (it did not arrive),
        /// `hashing`, `reading`, `tidying`, `over`, `foundNothing`.
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
        /// It only looked, and found nothing: its owner goes on.
        case foundNothing
    }

    /// A server reads a file of this size in the time of a round trip or two.
    static let quicklyDigested: Int64 = 8 << 20
    /// A smaller file is read back, where nothing else tells whether it is ours.
    static let quicklyRead: Int64 = 1 << 20

    var plan: PutPlan
    var state = State.ready
    /// Redirects of the PUT.
    var chain: RedirectChain
    /// Redirects of the questions: a server may send those who read elsewhere.
    var asking: RedirectChain
    private(set) var lastID: Int
    var begun = Timestamp(milliseconds: 0)
    var earlier = EarlierAttempt.unasked
    /// A name that nothing has shows no page: a page under the file's name is a file.
    var showsPages = false
    /// The file that has the name, as far as the last look before the PUT could tell.
    var before = NameBefore.unseen
    var offer: Offer?
    /// Said before the file is sent: what had come there of it counts no more.
    var restartReason: String?
    /// Removals of uploads at the server that serve nothing once the file counts as done.
    var leftovers: [HTTPExchange] = []
    var purpose = Purpose.sends

    var hasFoundNothing: Bool { if case .foundNothing = state { true } else { false } }

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
        case (.looking(let id, let byGet), .ended(let ended, let end)) where ended == id:
            return lookEnded(end, byGet: byGet)
        case (.lookingAside(let id, let aside), .ended(let ended, let end)) where ended == id:
            return lookedAside(end, aside)
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
            return probe(.didItArrive(.earlier(begun: before, refused: false), wantsDigest: false))
        }
        return plan.mustRecognise ? probe(.isItOwn) : send()
    }

    /// Another file of ours is not to get the name between a look that guards it and the PUT.
    private func claim() -> [ProtocolAction] {
        let isGuardedByLooks = plan.mayIgnoreConditions && PutMessages.isConditional(plan)
        return isGuardedByLooks ? [.claimName(RawPath(plan.address.target))] : []
    }

    // MARK: Requests

    mutating func send() -> [ProtocolAction] {
        guard plan.isUnguarded else { return put() }
        // A file that may be our own from an earlier attempt was looked at already, unless that told nothing: a server without HEAD.
        guard earlier == .unproven else { return look() }
        return before == .unseen ? look(byGet: true) : put()
    }

    /// Sends it without a look at its name.
    mutating func put() -> [ProtocolAction] {
        let id = nextID()
        state = .sending(id)
        let restart = restartReason.map { [ProtocolAction.startOver(reason: $0)] } ?? []
        restartReason = nil
        return restart + trial() + [.perform(id, PutMessages.put(plan, chain))]
    }

    mutating func probe(_ question: Question) -> [ProtocolAction] {
        let id = nextID()
        state = .probing(id, question)
        let wantsDigest =
            switch question {
            case .isItTheSame(inDoubt: _, let wantsDigest): wantsDigest
            case .isItWhole: plan.verify.comparesDigests
            case .didItArrive(_, let wantsDigest): wantsDigest
            case .isItOwn: false
            }
        return [.perform(id, PutMessages.head(asking, wantsDigest: wantsDigest))]
    }

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    // MARK: The end

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
