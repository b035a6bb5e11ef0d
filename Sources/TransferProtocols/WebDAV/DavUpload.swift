import TransferModel
import WireOperations

/// An upload over WebDAV: PUT to a temporary file beside the target, a look at its size, MOVE.
///
/// There is no going on in the middle: a cut begins again. What is asked after is whether everything arrived, and whether a MOVE
/// whose answer was lost has happened. The states are here; `+Beginning` looks at what is there, `+Sending` has the bytes, `+Publishing` the name.
package struct DavUpload: ProtocolMachine, RenamingUpload {
    /// The question what is there, at the temporary file's address or the target's.
    enum Question {
        /// The file that has the target's name, before anything is sent. Next: `digesting`, `sending`, `over`.
        case looking
        /// The temporary file of an earlier attempt. Next: `moving`, `proving`, `clearing`, `reading`, `sending`.
        case probing
        /// The source has changed: did its earlier version get the final name? First the temporary file, then the target. Next: itself,
        /// `clearing`, `over`.
        case recalling(isTarget: Bool)
        /// Is all of it there? Next: `moving`, `clearing`, `over`.
        case checking(PutWord)
        /// Does our earlier version still have the target's name, right before the MOVE? Next: `moving`, `leaving`, `over`.
        case lookingAgain
        /// Did the MOVE happen? First the temporary file, then the target. Next: itself, `sealing`, `moving`, `sending`, `over`.
        case proving(isTarget: Bool, WaitDemand?)
        /// The target is as our MOVE leaves it. Is the temporary file gone, now that the server itself has answered? Next: `over`.
        case sealing(Receipt)
        /// Does the target have the name that was asked for? Next: `over`.
        case confirming(HTTPAnswer)
        /// 412: what has the target's name? Next: `comparing`, `leaving`, `over`.
        case inTheWay
        /// It has our length: is our temporary file gone, so that an earlier MOVE put it there? Next: `proving`, `leaving`, `over`.
        case comparing(DavResource)

        /// The file has its name already: no refusal takes that back.
        var isConfirming: Bool {
            if case .confirming = self { true } else { false }
        }

        var isAboutTarget: Bool {
            switch self {
            case .looking, .lookingAgain, .confirming, .inTheWay: true
            case .probing, .checking, .comparing, .sealing: false
            case .recalling(let isTarget), .proving(let isTarget, _): isTarget
            }
        }
    }

    enum State {
        /// Nothing is asked yet. Next: `asking`, `clearing`, `digesting`, `sending`.
        case ready
        /// Next: as the question says, or itself by another method.
        case asking(ExchangeID, Question)
        /// There is no temporary name: is what has the target's a beginning of the file? Next: `matching`, `digesting`, `sending`, `over`.
        case reading(ExchangeID, BeginningLook, DavResource)
        /// The engine computes the digest of the source's bytes in that place. Next: `reading`, `digesting`, `sending`, `over`.
        case matching(TransferDigest, BeginningLook, DavResource)
        /// An old temporary file goes, whatever the server's answer. Next: `digesting`, `sending`, `over`.
        case clearing(ExchangeID, DavResumePoint)
        /// The engine computes the source's digest, for the server to compare. Next: `sending`.
        case digesting
        /// The PUT. Next: `making` (a folder is missing), `checking`, `moving`, `inTheWay`, `over`.
        case sending(ExchangeID)
        /// MKCOL of the folder at that place above the target. Next: itself, `sending`, `over`.
        case making(ExchangeID, Int)
        /// The MOVE. Next: itself, `proving`, `inTheWay`, `clearing`, `over`.
        case moving(ExchangeID, pathOnly: Bool)
        /// Our temporary file goes; then this is said. Next: `over`.
        case leaving(ExchangeID, ProtocolAction)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// The server's word on a PUT.
    enum PutWord: Hashable {
        case yes
        /// A yes before the last byte, or a 202.
        case doubtful(TransferError)
        case lost(WaitDemand)
    }

    /// Up to this nobody asks before what has the target's name, nor after the PUT what has arrived.
    static let unlooked: Int64 = 64 << 10

    let plan: DavPlan
    var state = State.ready
    var point: DavResumePoint
    var facts: HostFacts
    private var lastID: Int
    /// PROPFIND is not known there.
    private var asksByHead = false
    /// Every byte was there once by the server's own word.
    var hasBeenWhole = false
    /// An earlier attempt has sent what the temporary file has, all of it.
    var wasWholeBefore = false
    /// Digest of the source, where the server is to compare it.
    var digest: TransferDigest?
    /// The MOVEs; a gateway's answer is not the server's own.
    var renames: RenameHistory
    /// The server told the length of what it has.
    var isMeasured = false
    var folders: MissingFolders
    var isRepaired = false
    /// An earlier version of the source that got the final name.
    var own: OwnTarget
    package internal(set) var unremoved: [ResumePoint] = []
    /// The file that has the final name, as far as the last look before the bytes could tell.
    var before = NameBefore.unseen
    /// When the last exchange ended.
    private(set) var now = Timestamp(milliseconds: 0)

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: DavPlan, after lastID: Int = 0) {
        self.plan = plan
        self.lastID = lastID
        facts = plan.facts
        own = OwnTarget(plan.subject)
        point =
            plan.resume
            ?? DavResumePoint(temporary: plan.address.target, generation: plan.subject.firstGeneration)
        renames = RenameHistory(wasIntended: plan.resume?.publishing == true && !plan.subject.hasChanged)
        folders = MissingFolders(above: plan.address)
        if plan.subject.hasChanged { (point.unanswered, point.vanished) = (nil, nil) }
        if !plan.subject.hasChanged { digest = point.compared }
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)):
            self.now = now
            return begin()
        case (.digesting, .digested(let ours)):
            digest = ours
            return send()
        case (.matching(let theirs, let look, let file), .rangeDigested(_, let ours)):
            return ours == [theirs] ? matched(look, file) : notOurs()
        case (_, .ended(let id, let end)) where id == current:
            now = end.at
            return ended(end)
        default:
            // Heads are looked at when the exchange ends; what belongs to an abandoned or finished one comes too late.
            return []
        }
    }

    /// The exchange that the state waits for.
    private var current: ExchangeID? {
        switch state {
        case .asking(let id, _), .reading(let id, _, _), .clearing(let id, _), .sending(let id), .making(let id, _),
            .moving(let id, _), .leaving(let id, _):
            id
        case .ready, .digesting, .matching, .over: nil
        }
    }

    private mutating func ended(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch state {
        // Nobody was asked to remove a file: the next attempt does that, for the point that names it is still the one that is stored.
        case .clearing where end.isUnasked:
            return over(DavFinding.unanswered(end, host).refusal ?? .fail(.cutOff(by: host)))
        case .clearing(_, let old):
            noteRemoval(of: old, end)
            return fresh()
        case .sending: return sent(end)
        case .making(_, let place): return made(end, place)
        case .moving(_, let pathOnly): return moved(end, pathOnly: pathOnly)
        // After such an end nothing would tell of it any more.
        case .leaving(_, let action) where action.isSkip && end.isUnasked:
            return over(DavFinding.unanswered(end, host).refusal ?? .fail(.cutOff(by: host)))
        case .leaving(_, let action):
            noteRemoval(of: DavResumePoint(temporary: point.temporary, generation: point.generation), end)
            return over(action)
        case .reading(_, let look, let file): return read(end, look, file)
        case .asking(_, let question): return found(end, question)
        case .ready, .digesting, .matching, .over: return []
        }
    }

    /// An answer to the question what is there.
    private mutating func found(_ end: ExchangeEnd, _ question: Question) -> [ProtocolAction] {
        let isPage = HTTPAnswer.isPage(MediaType.of(plan.address.lastSegment))
        let finding = DavFinding(end, host: host, hasAccepted: wasWhole, mayBePage: asksByHead && isPage)
        if finding == .unknownMethod, !asksByHead {
            asksByHead = true
            return ask(question)
        }
        if case .other(let meaning) = finding, let refusal = meaning.refusal, !question.isConfirming {
            return over(refusal)
        }
        switch question {
        case .looking:
            before = NameBefore(finding)
            guard case .found(let file) = finding else { return fresh() }
            switch judge(file) {
            case .ours?: return fresh()
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
            case .foreign?: return over(existing(file, isFirst: false))
            // An earlier attempt may have sent it.
            case nil where facts.cannotRename == true && mayHaveSent: return recognise(file)
            case nil: return over(existing(file, isFirst: true))
            }
        case .probing: return probed(finding)
        case .recalling(let isTarget): return recalled(finding, isTarget)
        case .checking(let word): return checked(finding, word)
        case .lookingAgain: return lookedAgain(finding)
        case .proving(let isTarget, let demand): return proved(finding, isTarget, demand)
        case .sealing(let receipt): return sealed(finding, receipt)
        case .confirming(let answer): return confirmed(finding, answer)
        case .inTheWay: return stood(finding)
        case .comparing(let file): return compared(finding, file)
        }
    }

    // MARK: Words

    var host: String { plan.address.server }
    /// The server has had every byte of this task once: a 403 then means that the permission is gone.
    var wasWhole: Bool { hasBeenWhole || plan.resume?.publishing == true }
    var temporary: HTTPAddress { HTTPAddress(plan.address, target: point.temporary) }
    /// The server has computed the source's digest.
    var isCompared: Bool { digest != nil && point.compared == digest }
    /// A digest is asked for, and the server has told none of what it has.
    var mustCompare: Bool { plan.subject.verify == .digest && !isCompared }
    /// There is no temporary name: the server cannot rename.
    var isStraight: Bool { point.temporary == plan.address.target }
    /// The source's time, in seconds since 1970.
    var modified: Int64 { plan.subject.modifiedNanoseconds / 1_000_000_000 }

    mutating func ask(_ question: Question) -> [ProtocolAction] {
        let address = question.isAboutTarget ? plan.address : temporary
        return perform(asksByHead ? DavMessages.head(address) : DavMessages.stat(address)) { .asking($0, question) }
    }

    mutating func perform(_ exchange: Exchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, exchange)]
    }

    /// Takes our temporary file away before it ends so.
    mutating func leave(_ action: ProtocolAction) -> [ProtocolAction] {
        if isStraight { return over(action) }
        return disclaim() + perform(.http(DavMessages.remove(temporary))) { .leaving($0, action) }
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return ending(action)
    }
}
