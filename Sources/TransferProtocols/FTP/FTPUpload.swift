import TransferModel
import WireOperations

/// An upload over FTP: to a temporary file beside the target, which SIZE measures and APPE continues, then
/// RNFR and RNTO.
///
/// SIZE is the truth, asked before going on and always after the last byte: servers say 226 and have less. The states and the
/// beginning are here; `+Resuming` goes on from what is there, `+Sending` has the bytes, `+Publishing` the name.
package struct FTPUpload: ProtocolMachine, RenamingUpload {
    enum State {
        /// Nothing is asked yet. Next: `looking`, `resuming`, `recalling`, `clearing`, `sending`.
        case ready
        /// SIZE of the target, before anything is sent. Next: `sending`, `over`.
        case looking(ExchangeID)
        /// SIZE of the file that STOR may replace under the final name: it tells what stands there after a lost answer. Next: `sending`, `over`.
        case regarding(ExchangeID)
        /// SIZE of what an earlier attempt left. Next: `settling`, `sending`, `proving`, `looking`, `clearing`, what follows a check.
        case resuming(ExchangeID)
        /// The source has changed: did its earlier version get the final name? Next: itself, `clearing`, `leaving`, `over`.
        case recalling(ExchangeID, Recall)
        /// A dead connection's last bytes may still be on their way into the file: SIZE must say the same twice. Next: itself, `sending`.
        case settling(ExchangeID?, last: Int64, round: Int)
        /// An old temporary file goes, whatever the server's answer; then it begins anew. Next: `sending`, `looking`, `over`.
        case clearing(ExchangeID, FTPResumePoint)
        /// STOR or APPE. Next: `checking`, `clearing`, `over`.
        case sending(ExchangeID, Range<Int64>)
        /// SIZE after the last byte; `doubt` when its answer was lost. Next: `sending`, `asking`, `lookingAgain`, `publishing`, `over`.
        case checking(ExchangeID, Range<Int64>, doubt: TransferError?)
        /// The server's digest of the temporary file. Next: `hashing`, `over`.
        case asking(ExchangeID)
        /// The engine computes ours. Next: as after `checking`.
        case hashing(TransferDigest)
        /// SIZE of the target once more before the rename, or after it was refused. Next: `publishing`, `entering`, `leaving`, `over`.
        case lookingAgain(ExchangeID, refusal: FTPEnd?)
        /// The rename was refused and no file is in its way: is it a folder? Next: `leaving`, `over`.
        case entering(ExchangeID, refusal: FTPEnd)
        /// RNFR, RNTO. Next: itself (over an old file), `proving`, `lookingAgain`, `clearing`, `over`.
        case publishing(ExchangeID, removesOld: Bool)
        /// Did the rename happen? SIZE of the temporary file, then of the target. Next: itself, `over`, `sending`.
        case proving(ExchangeID, isTarget: Bool, Doubt)
        /// Our temporary file goes; then this is said. Next: `over`.
        case leaving(ExchangeID, ProtocolAction)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// The reason why it is not known whether the rename happened.
    enum Doubt: Hashable {
        /// An earlier attempt asked for it.
        case earlier
        /// Its answer was lost now.
        case now(WaitDemand)
        /// The server said no to it (`RNFR`): what is not there, or may not be renamed.
        case refused(FTPEnd)
    }

    /// The questions about an earlier version of the source.
    enum Recall: Hashable {
        case temporary
        case target(temporaryIsThere: Bool)
        /// The old file was removed for it: it gets the name.
        case naming
    }

    let plan: FTPUploadPlan
    var state = State.ready
    var point: FTPResumePoint
    var facts: HostFacts
    private var lastID = 0
    /// Times that this attempt went back for bytes that the server had taken and lost.
    var repairs = 0
    /// Digest that was compared beside the size.
    var digest: TransferDigest?
    /// Bytes that the server has by its own word.
    var accepted: Int64 = 0
    /// The bytes under the final name are our own, of an earlier version of the source: they were sent there straight away.
    private var ownsTarget = false
    /// An earlier version of the source that got the final name.
    var own: OwnTarget
    /// The server's time of what was sent, right after it.
    var shown: Int64?
    /// The final name was asked for right before this.
    private var hasLooked = false
    /// The last look at the final name found nothing, and nothing was sent since.
    var isFree = false
    /// The file that had the final name, as far as the last look before STOR could tell.
    var before = NameBefore.unseen
    var renames: RenameHistory
    package private(set) var unremoved: [ResumePoint] = []

    package init(_ plan: FTPUploadPlan) {
        self.plan = plan
        own = OwnTarget(plan.subject)
        facts = plan.facts
        point = plan.resume ?? FTPResumePoint(temporary: plan.path, generation: plan.subject.firstGeneration)
        if plan.subject.hasChanged { point.vanished = nil } else { digest = point.compared }
        renames = RenameHistory(wasIntended: plan.resume?.publishing == true && !plan.subject.hasChanged)
        let hasCome = point.seen > 0 || point.publishing || point.owned != nil && plan.subject.hasArrived
        // A point that calls nothing its own was left by an attempt of which nothing came there, whatever had come before it.
        if plan.resume != nil, isStraight, hasCome { point.owned = .written }
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.settling(nil, let last, let round), .timerFired(.probeAgain)):
            return ask(point.temporary) { .settling($0, last: last, round: round) }
        case (.hashing(let theirs), .digested(let ours)): return compare(ours, theirs)
        case (_, .ftpEnded(let id, var end)) where id == current:
            end.names = [plan.path, point.temporary]
            return ended(end)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    /// The exchange that the state waits for.
    private var current: ExchangeID? {
        switch state {
        case .looking(let id), .regarding(let id), .resuming(let id), .recalling(let id, _), .clearing(let id, _),
            .sending(let id, _),
            .checking(let id, _, _), .asking(let id), .lookingAgain(let id, _), .entering(let id, _),
            .publishing(let id, _),
            .proving(let id, _, _), .leaving(let id, _):
            id
        case .settling(let id, _, _): id
        case .ready, .hashing, .over: nil
        }
    }

    private mutating func ended(_ end: FTPEnd) -> [ProtocolAction] {
        switch state {
        case .looking: return looked(end)
        case .regarding: return regarded(end)
        case .resuming: return measured(end)
        case .recalling(_, let recall): return recalled(end, recall)
        case .settling(_, let last, let round): return settled(end, last, round)
        // Not even asked: the next attempt does that, for the point that names the old file is still the one that is stored.
        case .clearing where end.failure?.mayHaveReachedServer == false: return stop(end)
        case .clearing(_, let old):
            noteRemoval(of: old, end)
            return fresh()
        case .sending(_, let range): return sent(end, range)
        case .checking(_, let range, let doubt): return checked(end, range, doubt)
        case .asking: return told(end)
        case .lookingAgain(_, let refusal): return lookedAgain(end, refusal)
        case .entering(_, let refusal): return entered(end, refusal)
        case .publishing(_, let removesOld): return published(end, removesOld)
        case .proving(_, let isTarget, let doubt): return proved(end, isTarget, doubt)
        // Nobody was asked to remove our file: after such an end nothing would tell of it any more.
        case .leaving(_, let action) where action.isSkip && end.failure?.mayHaveReachedServer == false: return stop(end)
        case .leaving(_, let action):
            noteRemoval(of: point, end)
            return over(action)
        case .ready, .hashing, .over: return []
        }
    }

    // MARK: Beginning

    private mutating func begin() -> [ProtocolAction] {
        // Who writes under the final name has it for itself, from the look on.
        let straight = facts.cannotRename == true || plan.resume != nil && isStraight
        return (straight ? [.claimName(plan.path)] : []) + beginAlone()
    }

    private mutating func beginAlone() -> [ProtocolAction] {
        guard plan.resume != nil else {
            if plan.subject.ifExists == .replace { return fresh() }
            return ask(plan.path) { .looking($0) }
        }
        if plan.subject.hasChanged {
            if isStraight, plan.subject.ifExists != .replace {
                return ask(plan.path) { .looking($0) }
            }
            ownsTarget = isStraight
            return isStraight ? clear() : recall()
        }
        // What stands under the final name may be the old file that is to be replaced: nothing can be added to that.
        // (Our own earlier version is compared first: `measured`.)
        if isStraight, plan.subject.ifExists == .replace, !point.publishing {
            return beginStraight()
        }
        return ask(point.temporary) { .resuming($0) }
    }

    private mutating func looked(_ end: FTPEnd) -> [ProtocolAction] {
        look(end)
        if let size = end.size {
            if point.mayBe(size) {
                // An earlier attempt began it, with another version of the source.
                point.owned = .written
                ownsTarget = true
                return clear()
            }
            switch own.standing(StandingFile(end)) {
            case .ours?:
                ownsTarget = true
                return plan.resume == nil ? fresh() : clear()
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.host)))
            case .foreign?: return over(existing(size, end.modified, isFirst: false))
            case nil: return over(existing(size, end.modified, isFirst: true))
            }
        }
        if end.isUnknownCommand, plan.subject.verify != VerificationWish.none { return over(.fail(sizeless)) }
        if end.isUntold { return over(.fail(.cannotProtect(at: plan.host))) }
        return end.isFree ? fresh() : stop(end)
    }

    /// Takes the answer about the final name in.
    mutating func look(_ end: FTPEnd) {
        hasLooked = true
        isFree = end.isFree
        before = NameBefore(end)
    }

    /// Begins under a name that nobody uses. The name is durable before the first byte. What was begun under the final name stays there,
    /// also when the fact that the host cannot rename has lapsed: under another name nothing would tell that those bytes are ours.
    mutating func fresh() -> [ProtocolAction] {
        let name =
            facts.cannotRename == true || (isStraight && point.owned != nil)
            ? plan.path
            : FTPMessages.temporary(plan.path, token: plan.subject.token, generation: point.generation)
        // After a temporary file the final name, which may be somebody's by now.
        if name == plan.path, plan.subject.ifExists != .replace, !hasLooked, !ownsTarget, point.owned == nil {
            return [.claimName(plan.path)] + ask(plan.path) { .looking($0) }
        }
        let old = point.temporary == name ? point.owned : nil
        let owned = isFree ? OwnedName.free(upTo: plan.subject.size) : ownsTarget ? .written : old
        let longest = longestSent
        let (vanished, unanswered) = (point.vanished, point.unanswered)
        point = FTPResumePoint(temporary: name, generation: point.generation)
        point.vanished = vanished
        if isStraight { (point.owned, point.longest) = (owned, longest) }
        // The file that stands there may be there still after a cut.
        if isStraight, case .file = before { point.unanswered = unanswered ?? 0 }
        renames.forget()
        return (isStraight ? [.claimName(plan.path)] : []) + [.persist(durable)] + sendWhole()
    }

    /// Throws away what is there, and begins with another name: a dead connection may still write to the old one.
    /// - Parameter owns: an earlier version of the source was recognised under the final name.
    mutating func clear(owns: Bool = false) -> [ProtocolAction] {
        let old = FTPResumePoint(temporary: point.temporary, generation: point.generation)
        let disclaimed = disclaim(throwsAway: true, owns: owns)
        point.generation += 1
        accepted = 0
        if old.temporary == plan.path { return fresh() }
        return disclaimed + perform(FTPMessages.remove(old.temporary)) { .clearing($0, old) }
    }

    /// A temporary file that the server has not removed by its own word is known as left.
    private mutating func noteRemoval(of point: FTPResumePoint, _ end: FTPEnd) {
        if end.isDone || end.isFree { return }
        unremoved.append(ResumePoint(FTPResumePoint(temporary: point.temporary, generation: point.generation)))
    }

    mutating func startOver(_ reason: String) -> [ProtocolAction] {
        [.startOver(reason: reason)] + clear()
    }

    /// Neither the temporary file nor the target is there, though the rename may have been asked for.
    mutating func vanishedEarlier() -> [ProtocolAction] {
        if let last = point.vanish(at: plan.host) { return forgetRename() + over(last) }
        return [.startOver(reason: "the temporary file is not there any more")] + fresh()
    }

    /// The server had every byte by its own word, and has no such file now. Nothing of it can get the name any more.
    mutating func vanished(else demand: WaitDemand) -> [ProtocolAction] {
        let last = point.vanish(at: plan.host) ?? .wait(demand)
        return forgetRename() + over(last)
    }

    // MARK: Sending

    /// Begins again under the final name, where nothing can be added to what is there.
    mutating func beginStraight() -> [ProtocolAction] {
        let lost = plan.subject.begunBefore != nil
        return (lost ? [.startOver(reason: "the server cannot rename files, so a cut file begins again")] : [])
            + sendWhole()
    }

    private mutating func sendWhole() -> [ProtocolAction] {
        if isStraight, before == .unseen { return ask(plan.path) { .regarding($0) } }
        return send(0..<plan.subject.size)
    }

    /// Takes what has the final name for our own before it is written over: a cut leaves what nobody else would know.
    mutating func replaceOwn() -> [ProtocolAction] {
        (point.longest, point.owned) = (longestSent, .written)
        (point.unanswered, point.seen, point.publishing) = (point.unanswered ?? 0, 0, false)
        return [.persist(durable)] + beginStraight()
    }

    /// The length of the longest version that was sent under the final name; `nil`: a point of an older engine does not tell.
    private var longestSent: Int64? {
        if isStraight, point.owned == .written, point.longest == nil { return nil }
        return max(isStraight ? point.longest ?? point.owned?.most ?? 0 : 0, plan.subject.size)
    }

    private mutating func regarded(_ end: FTPEnd) -> [ProtocolAction] {
        guard end.isDone || end.isRefusal, !end.isLoginRefused, end.reply != 421, end.reply != 530 else {
            return stop(end)
        }
        before = NameBefore(end)
        return send(0..<plan.subject.size)
    }

    mutating func send(_ range: Range<Int64>) -> [ProtocolAction] {
        let exchange = FTPOperation.upload(point.temporary, range, appends: range.lowerBound > 0)
        // A part of a file must not get the name of the file that was removed for it, nor pass for what was compared.
        let partial: [ProtocolAction]
        digest = nil
        if point.removesOld == true || point.compared != nil {
            (point.removesOld, point.compared) = (nil, nil)
            partial = [.persist(durable)]
        } else {
            partial = []
        }
        return partial + perform(.ftp(exchange)) { .sending($0, range) }
    }

    // MARK: Words

    /// There is no temporary name: the server cannot rename.
    var isStraight: Bool { point.temporary == plan.path }

    mutating func ask(_ path: RawPath, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        perform(.ftp(.size(path)), next)
    }

    mutating func perform(_ exchange: Exchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        // A look at the final name is worth something for the bytes that follow it at once.
        if case .ftp(.upload) = exchange {} else { (hasLooked, isFree) = (false, false) }
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, exchange)]
    }

    func meaning(_ end: FTPEnd) -> FTPMeaning {
        FTPMeaning(end, host: plan.host, hasAccepted: accepted > 0)
    }

    /// Ends the attempt for the reason that the exchange gives.
    mutating func stop(_ end: FTPEnd) -> [ProtocolAction] { over(meaning(end).action) }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return disown(before: action) + ending(action)
    }

    /// Nothing of ours came where nothing was: what is there later is somebody else's.
    private mutating func disown(before action: ProtocolAction) -> [ProtocolAction] {
        if case .finish = action { return [] }
        guard isFree, isStraight, point.owned != nil else { return [] }
        point.owned = nil
        return [.persist(durable)]
    }

    /// The server cannot rename: from here on under the final name.
    /// - Parameter lesson: what this file teaches about the server.
    mutating func goStraight(_ reason: String, lesson: HostFacts) -> [ProtocolAction] {
        facts.cannotRename = true
        return [.learned(lesson)] + startOver(reason)
    }
}
