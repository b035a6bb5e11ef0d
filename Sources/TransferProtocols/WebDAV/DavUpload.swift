import TransferModel
import WireOperations

/// An upload over WebDAV: PUT to a temporary file beside the target, a look at its size, MOVE.
///
/// There is no going on in the middle: a cut begins again. What is asked after is whether everything arrived, and whether a MOVE
/// whose answer was lost has happened. The states are here; `DavUpload+Sending` has the bytes, `DavUpload+Publishing` the name.
package struct DavUpload: ProtocolMachine, RenamingUpload {
    enum State {
        /// Nothing is asked yet. Next: `looking`, `probing`, `recalling`, `clearing`, `digesting`, `sending`.
        case ready
        /// Asks what has the target's name, before anything is sent. Next: `digesting`, `sending`, `over`.
        case looking(ExchangeID)
        /// Asks what an earlier attempt left. Next: `moving`, `proving`, `clearing`, `reading`, `sending`.
        case probing(ExchangeID)
        /// There is no temporary name: is what has the target's a beginning of the file? Next: `matching`, `digesting`, `sending`, `over`.
        case reading(ExchangeID, BeginningLook, DavResource)
        /// The engine computes the digest of the source's bytes in that place. Next: `reading`, `digesting`, `sending`, `over`.
        case matching(TransferDigest, BeginningLook, DavResource)
        /// The source has changed: did its earlier version get the final name? First the temporary file, then the target. Next: itself,
        /// `clearing`, `over`.
        case recalling(ExchangeID, isTarget: Bool)
        /// An old temporary file goes, whatever the server's answer. Next: `digesting`, `sending`, `over`.
        case clearing(ExchangeID, DavResumePoint)
        /// The engine computes the source's digest, for the server to compare. Next: `sending`.
        case digesting
        /// The PUT. Next: `making` (a folder is missing), `checking`, `moving`, `inTheWay`, `over`.
        case sending(ExchangeID)
        /// MKCOL of the folder at that place above the target. Next: itself, `sending`, `over`.
        case making(ExchangeID, Int)
        /// Is all of it there? Next: `moving`, `clearing`, `over`.
        case checking(ExchangeID, PutWord)
        /// Does our earlier version still have the target's name, right before the MOVE? Next: `moving`, `leaving`, `over`.
        case lookingAgain(ExchangeID)
        /// The MOVE. Next: itself, `proving`, `inTheWay`, `clearing`, `over`.
        case moving(ExchangeID, pathOnly: Bool)
        /// Did the MOVE happen? First the temporary file, then the target. Next: itself, `moving`, `sending`, `over`.
        case proving(ExchangeID, isTarget: Bool, WaitDemand?)
        /// Does the target have the name that was asked for? Next: `over`.
        case confirming(ExchangeID, HTTPAnswer)
        /// 412: what has the target's name? Next: `comparing`, `leaving`, `over`.
        case inTheWay(ExchangeID)
        /// It has our length: is our temporary file gone, so that an earlier MOVE put it there? Next: `leaving`, `over`.
        case comparing(ExchangeID, DavResource)
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
        case lost(TransferError)
    }

    /// Up to this nobody asks before what has the target's name, nor after the PUT what has arrived.
    static let unlooked: Int64 = 64 << 10
    /// Whole files whose digests were not heard, one after the other. Then a person looks.
    static let mostUnanswered = 3

    let plan: DavPlan
    var state = State.ready
    var point: DavResumePoint
    var facts: HostFacts
    private var lastID: Int
    /// PROPFIND is not known there.
    private var asksByHead = false
    /// Every byte is there by the server's own word.
    var isWhole = false
    /// They were, before it began again.
    private var hadWhole = false
    /// Digest of the source, where the server is to compare it.
    var digest: TransferDigest?
    /// The MOVEs; a gateway's answer is not the server's own.
    var renames: RenameHistory
    /// The server told the length of what it has.
    var isMeasured = false
    /// The server has computed the same.
    var isCompared = false
    var folders: [HTTPAddress] = []
    var foldersMade = 0
    /// Folders that the server did not want to make: what it said.
    var foldersRefused: [Int: ProtocolAction] = [:]
    var repairs = 0
    /// An earlier version of the source that got the final name.
    var own: OwnTarget
    /// The last look found that version under the final name, or whatever is there may be replaced.
    var mayReplace: Bool
    package private(set) var unremoved: [ResumePoint] = []
    /// A look under the final name found nothing, or the server did not tell.
    private var isFree = false
    /// The file that has the final name, as far as the last look before the bytes could tell; seen only where they go there.
    var before = NameBefore.unseen
    /// When the last exchange ended.
    private(set) var now = Timestamp(milliseconds: 0)

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: DavPlan, after lastID: Int = 0) {
        self.plan = plan
        self.lastID = lastID
        facts = plan.facts
        own = OwnTarget(plan.subject)
        mayReplace = plan.subject.ifExists == .replace
        point =
            plan.resume
            ?? DavResumePoint(temporary: plan.address.target, generation: plan.subject.firstGeneration)
        renames = RenameHistory(wasIntended: plan.resume?.publishing == true && !plan.subject.hasChanged)
        folders = DavMessages.folders(above: plan.address)
        if plan.subject.hasChanged { (point.unanswered, point.vanished) = (nil, nil) }
        if let compared = point.compared, !plan.subject.hasChanged { (digest, isCompared) = (compared, true) }
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
        case .looking(let id), .probing(let id), .clearing(let id, _), .sending(let id), .making(let id, _),
            .checking(let id, _), .lookingAgain(let id), .moving(let id, _), .proving(let id, _, _), .inTheWay(let id),
            .recalling(let id, _), .confirming(let id, _), .comparing(let id, _), .leaving(let id, _),
            .reading(let id, _, _):
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
        case .looking, .probing, .recalling, .checking, .lookingAgain, .proving, .confirming, .inTheWay, .comparing:
            return found(end)
        case .ready, .digesting, .matching, .over: return []
        }
    }

    /// An answer to the question what is there.
    private mutating func found(_ end: ExchangeEnd) -> [ProtocolAction] {
        let finding = DavFinding(end, host: host, hasAccepted: wasWhole)
        if finding == .unknownMethod, !asksByHead {
            asksByHead = true
            return askAgain()
        }
        if case .confirming(_, let answer) = state { return confirmed(finding, answer) }
        if case .other(let meaning) = finding, let refusal = meaning.refusal { return over(refusal) }
        switch state {
        case .looking:
            see(finding)
            guard case .found(let file) = finding else {
                isFree = true
                return fresh()
            }
            switch judge(file) {
            case .ours?: return fresh()
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
            case .foreign?: return over(existing(file, isFirst: false))
            // An earlier attempt may have sent it.
            case nil where facts.cannotRename == true && mayHaveSent: return recognise(file)
            case nil: return over(existing(file, isFirst: true))
            }
        case .probing: return probed(finding)
        case .recalling(_, let isTarget): return recalled(finding, isTarget)
        case .checking(_, let word): return checked(finding, word)
        case .lookingAgain: return lookedAgain(finding)
        case .proving(_, let isTarget, let demand): return proved(finding, isTarget, demand)
        case .inTheWay: return stood(finding)
        case .comparing(_, let file): return compared(finding, file)
        default: return []
        }
    }

    private mutating func askAgain() -> [ProtocolAction] {
        switch state {
        case .looking: ask(plan.address) { .looking($0) }
        case .probing: ask(temporary) { .probing($0) }
        case .recalling(_, let isTarget):
            ask(isTarget ? plan.address : temporary) { .recalling($0, isTarget: isTarget) }
        case .checking(_, let word): ask(temporary) { .checking($0, word) }
        case .lookingAgain: ask(plan.address) { .lookingAgain($0) }
        case .proving(_, let isTarget, let demand):
            ask(isTarget ? plan.address : temporary) { .proving($0, isTarget: isTarget, demand) }
        case .confirming(_, let answer): ask(plan.address) { .confirming($0, answer) }
        case .inTheWay: ask(plan.address) { .inTheWay($0) }
        case .comparing(_, let file): ask(temporary) { .comparing($0, file) }
        default: []
        }
    }

    // MARK: Beginning

    private mutating func begin() -> [ProtocolAction] {
        if plan.resume != nil {
            return claim() + (plan.subject.hasChanged ? recall() : ask(temporary) { .probing($0) })
        }
        // A small file is sent and refused as fast as it is asked for.
        let isSmall = plan.subject.size <= Self.unlooked && !own.isKnown
        if plan.subject.ifExists == .replace || isSmall { return fresh() }
        return ask(plan.address) { .looking($0) }
    }

    private mutating func see(_ finding: DavFinding) {
        switch finding {
        case .found(let file): before = .file(StandingFile(file))
        case .missing: before = .nothing
        case .unknownMethod, .other: break
        }
    }

    private mutating func probed(_ finding: DavFinding) -> [ProtocolAction] {
        if isStraight { see(finding) }
        switch finding {
        case .found(let file) where file.size == plan.subject.size && !isStraight:
            if let until = point.busyUntil, now < until {
                let latest = now.advanced(by: .hour)
                guard until > latest else { return [.accepted(plan.subject.size)] + lookLater() }
                // By a clock that was set since.
                point.busyUntil = latest
                return [.accepted(plan.subject.size), .persist(durable)] + lookLater()
            }
            // By its length alone it would pass for less than was asked; only the answer to a PUT tells more.
            if mustCompare { return startOver("the server's SHA-256 of the file was not heard") }
            isMeasured = true
            return [.resumed(at: plan.subject.size)] + whole()
        case .missing where point.publishing: return ask(plan.address) { .proving($0, isTarget: true, nil) }
        case .found where !isStraight: return again() + clear()
        // Straight at the target it may be anybody's.
        case .found(let file):
            _ = judge(file)
            return mayReplace ? again() + fresh() : recognise(file)
        default:
            isFree = isStraight
            return again() + fresh()
        }
    }

    private mutating func recognise(_ file: DavResource) -> [ProtocolAction] {
        guard !file.isFolder, let look = BeginningLook(length: file.size, sourceSize: plan.subject.size) else {
            return notOurs()
        }
        return read(look, file)
    }

    private mutating func read(_ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        perform(.http(HTTPExchange(.get, plan.address, headers: look.headers, sink: look.sink))) {
            .reading($0, look, file)
        }
    }

    private mutating func read(_ end: ExchangeEnd, _ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        if let demand = end.passing(host: host) { return over(.wait(demand)) }
        var look = look
        switch look.read(end) {
        case .empty: return replace(file)
        case .bytes(let theirs):
            state = .matching(theirs, look, file)
            return [.digestRange(look.range, [theirs.algorithm])]
        case .other: return notOurs()
        }
    }

    private mutating func matched(_ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        var look = look
        if look.goOn() { return read(look, file) }
        guard look.isWhole else { return replace(file) }
        var receipt = Receipt(.digest, bytes: plan.subject.size, verified: .digest)
        (receipt.foundThere, receipt.etag) = (true, file.etag)
        return over(.finish(receipt))
    }

    /// An earlier attempt has sent what has the target's name.
    private mutating func replace(_ file: DavResource) -> [ProtocolAction] {
        mayReplace = true
        own.found(StandingFile(file))
        return again() + fresh()
    }

    private mutating func notOurs() -> [ProtocolAction] {
        over(.fail(.unsure(at: host, "nothing tells whether what is there is a part of the file")))
    }

    /// Bytes of an earlier attempt, or of an earlier version of the source, may have the target's name.
    private var mayHaveSent: Bool { plan.subject.begunBefore != nil || plan.resume != nil }

    /// Says that bytes were lost, when some surely were sent.
    private func again() -> [ProtocolAction] {
        guard point.wasCut || plan.subject.begunBefore != nil else { return [] }
        return [.startOver(reason: "WebDAV cannot go on in the middle of a file")]
    }

    /// Begins under a name that nobody uses. It is durable before the first byte.
    mutating func fresh() -> [ProtocolAction] {
        if mustLookStraight { return claim() + ask(plan.address) { .looking($0) } }
        let path =
            facts.cannotRename == true
            ? plan.address.target
            : DavMessages.temporary(plan.address, token: plan.subject.token, generation: point.generation)
        let (unanswered, vanished) = (point.unanswered, point.vanished)
        point = DavResumePoint(temporary: path, generation: point.generation)
        (point.unanswered, point.vanished) = (unanswered, vanished)
        renames.forget()
        if plan.subject.verify == .digest, digest == nil {
            state = .digesting
            return [.persist(durable), .digestSource]
        }
        return [.persist(durable)] + send()
    }

    /// The file goes straight to the target, and nothing but a condition, which not every server heeds, would spare what is there.
    private var mustLookStraight: Bool { facts.cannotRename == true && !mayReplace && !isFree }

    /// Another file of ours is not to get the target's name between the look at it and the PUT.
    private func claim() -> [ProtocolAction] {
        facts.cannotRename == true && !mayReplace ? [.claimName(RawPath(plan.address.target))] : []
    }

    /// Before anything of the earlier version is thrown away it is asked whether it has the final name, or may yet get it.
    private mutating func recall() -> [ProtocolAction] {
        let matters = plan.subject.ifExists != .replace || point.busyUntil != nil
        guard point.publishing, matters, !isStraight else { return clear() }
        return ask(temporary) { .recalling($0, isTarget: false) }
    }

    private mutating func recalled(_ finding: DavFinding, _ isTarget: Bool) -> [ProtocolAction] {
        switch finding {
        case .found where !isTarget:
            // A server that copies until an hour is over brings the old version after the new one.
            if let until = point.busyUntil, now < until, until <= now.advanced(by: .hour) { return lookLater() }
            return clear()
        case .missing: return isTarget ? clear() : ask(plan.address) { .recalling($0, isTarget: true) }
        case .found(let file):
            if plan.subject.ifExists == .replace { return clear() }
            let seconds = file.modified.map { $0.milliseconds / 1000 }
            let standing = (point.version ?? plan.subject.earlierVersion)?.standing(size: file.size, modified: seconds)
            // The version before that one may have the name still.
            if standing != .ours, judge(file) == .ours { return clear() }
            switch file.isFolder ? .foreign : standing {
            case .ours?:
                own.found(StandingFile(file))
                return clear(owns: true)
            case .foreign?: return disclaim(throwsAway: true) + over(existing(file, isFirst: false))
            case .unknown?, nil: break
            }
        case .unknownMethod, .other: if plan.subject.ifExists == .replace { return clear() }
        }
        return over(.fail(.unsureOfEarlier(at: plan.address.server)))
    }

    /// Throws away what is there, and begins with another name: a dead PUT may still hold a lock on the old one.
    /// - Parameter owns: an earlier version of the source was recognised under the final name.
    mutating func clear(owns: Bool = false) -> [ProtocolAction] {
        let old = DavResumePoint(temporary: point.temporary, generation: point.generation)
        let wasStraight = isStraight
        let disclaimed = disclaim(throwsAway: true, owns: owns)
        hadWhole = hadWhole || isWhole
        isWhole = false
        point.generation += 1
        // Under its own name it is replaced by what is sent.
        if wasStraight { return fresh() }
        let address = HTTPAddress(plan.address, target: old.temporary)
        return disclaimed + perform(.http(DavMessages.remove(address))) { .clearing($0, old) }
    }

    /// A temporary file that the server has not removed by its own word is known as left.
    private mutating func noteRemoval(of point: DavResumePoint, _ end: ExchangeEnd) {
        if !end.isGone { unremoved.append(ResumePoint(point)) }
    }

    mutating func startOver(_ reason: String) -> [ProtocolAction] { [.startOver(reason: reason)] + clear() }

    /// Compares our earlier version with a file that has the target's name.
    mutating func judge(_ file: DavResource) -> NamedVersion.Standing? {
        let standing = file.isFolder && own.isKnown ? .foreign : own.standing(StandingFile(file))
        mayReplace = plan.subject.ifExists == .replace || standing == .ours
        return standing
    }

    // MARK: Words

    var host: String { plan.address.server }
    /// The server has had every byte of this task once: a 403 then means that the permission is gone.
    var wasWhole: Bool { isWhole || hadWhole || plan.resume?.publishing == true }
    var temporary: HTTPAddress { HTTPAddress(plan.address, target: point.temporary) }
    /// A digest is asked for, and the server has told none of what it has.
    var mustCompare: Bool { plan.subject.verify == .digest && !isCompared }
    /// There is no temporary name: the server cannot rename.
    var isStraight: Bool { point.temporary == plan.address.target }
    /// The source's time, in seconds since 1970.
    var modified: Int64 { plan.subject.modifiedNanoseconds / 1_000_000_000 }

    mutating func ask(_ address: HTTPAddress, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        perform(asksByHead ? DavMessages.head(address) : DavMessages.stat(address), next)
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
