import DisplayText
import TransferModel
import WireOperations

/// An upload to Nextcloud in chunks: a folder of its own, chunks in any order, and one MOVE that puts them
/// together. The folder is asked what it has before going on and before the MOVE.
///
/// Up to a chunk's length ``DavUpload`` is the way, and for servers that have such paths but no folders of chunks (ownCloud Infinite
/// Scale): what then is the state `whole`. The states are here; `NextcloudUpload+Chunks` has the chunks, `NextcloudUpload+Assembling` the MOVE.
package struct NextcloudUpload: RenamingUpload {
    enum State {
        /// Nothing is asked yet. Next: `discarding`, `looking`, `listing`, `clearing`, `polling`.
        case ready
        /// The temporary file of an attempt that sent the file whole goes, whatever the server's answer. Next: `looking`, `over`.
        case discarding(ExchangeID)
        /// Asks what has the target's name, and in which version, before anything is sent. Next: `making`, `over`.
        case looking(ExchangeID)
        /// MKCOL of the folder of chunks. Next: `sending`, `listing`, `over`.
        case making(ExchangeID)
        /// Asks which chunks are there. Next: `making`, `sending`, `over`.
        case listing(ExchangeID)
        /// An old folder goes, whatever the server's answer. Next: `making`, `over`.
        case clearing(ExchangeID, NextcloudResumePoint)
        /// Chunks are on their way. Next: `reviewing`, `listing`, `clearing`, `over`.
        case sending
        /// Are they all there, just before the MOVE? Next: `assembling`, `sending`, `making`, `polling`.
        case reviewing(ExchangeID)
        /// All chunks are there, and the engine still computes the source's digest. Next: `assembling`.
        case digesting
        /// Does our earlier version still have the target's name, right before the MOVE? Next: `assembling`, `leaving`, `over`.
        case lookingAgain(ExchangeID)
        /// The MOVE. Next: `confirming`, `polling`, `placing`, `inTheWay`, `listing`, `over`.
        case assembling(ExchangeID)
        /// The folder above the target at that place is made. Next: itself, `assembling`, `over`.
        case placing(ExchangeID, Int)
        /// The MOVE may still go on: the target is looked at, again and again. Next: itself, `searching`, `reviewing`, `over`.
        case polling(ExchangeID?, Poll)
        /// Is the folder of chunks still there? Next: `polling`, `reviewing`, `clearing`, `over`.
        case searching(ExchangeID, Poll, target: DavResource?)
        /// It was put together: has it the length? Next: `over`.
        case confirming(ExchangeID, HTTPAnswer)
        /// 412: what has the target's name? Next: `leaving`, `over`.
        case inTheWay(ExchangeID)
        /// It has our length: is the folder of chunks gone, so that an earlier MOVE put it there? Next: `leaving`, `over`.
        case comparing(ExchangeID, DavResource)
        /// Our folder goes; then this is said. Next: `over`.
        case leaving(ExchangeID, ProtocolAction)
        /// There are no folders of chunks: plain WebDAV is at work.
        case whole(DavUpload)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    let plan: NextcloudPlan
    let place: NextcloudPlace?
    var state = State.ready
    var point: NextcloudResumePoint
    var lastID = 0
    /// Chunks that the server has whole.
    var stored: Set<Int> = []
    /// Those that are neither there nor on their way, the next one last.
    var queue: [Int] = []
    var inFlight: [ExchangeID: Int] = [:]
    /// The last action, set when no more chunks are to be begun; said when those on their way have ended.
    var ending: ProtocolAction?
    /// Times that this attempt found chunks gone.
    var repairs = 0
    var folders: MissingFolders
    /// Times that this attempt asked for the MOVE.
    var moves = 0
    /// The answer to a MOVE of this attempt was lost: the server may go on with it for an hour, and it is not asked for again here.
    var hasLostMoveAnswer = false
    /// The MOVEs that were asked for.
    var renames: RenameHistory
    /// Digest of the source, where the server is to compare it: computed while the chunks go.
    var digest: TransferDigest?
    private var hasAskedDigest = false
    private var refusedRemovals: [ResumePoint] = []
    /// The source has changed, and the MOVE of its earlier version is asked after.
    var isRecalling = false
    /// An earlier version of the source that got the final name.
    var own: OwnTarget
    /// MKCOL of a folder of chunks was answered 405: it is there already, or there are none.
    private var mayLackFolders = false
    /// The folder of chunks is gone by an answer that may be a gateway's.
    private var wasLost = false

    package init(_ plan: NextcloudPlan) {
        self.plan = plan
        place = NextcloudPlace(plan.address)
        own = OwnTarget(plan.subject)
        folders = MissingFolders(above: plan.address)
        let first = plan.subject.firstGeneration
        point =
            plan.resume
            ?? NextcloudResumePoint(folder: Self.folder(plan, first), generation: first, chunk: Self.chunk(plan))
        if plan.subject.hasChanged { point.vanished = nil }
        renames = RenameHistory(wasIntended: plan.resume?.isAssembling == true && !plan.subject.hasChanged)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)): return begin(at: now)
        case (.sending, .ended(let id, let end)):
            guard let number = inFlight.removeValue(forKey: id) else { return [] }
            return sent(number, end)
        case (.polling(nil, let poll), .timerFired(.probeAgain)):
            return ask(plan.address) { .polling($0, poll) }
        case (.whole(var upload), _):
            let actions = upload.handle(event)
            state = .whole(upload)
            return actions
        case (_, .digested(let ours)):
            digest = ours
            if case .digesting = state { return assemble() }
            return []
        case (_, .ended(let id, let end)) where id == current: return ended(end)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    /// The exchange that the state waits for.
    private var current: ExchangeID? {
        switch state {
        case .discarding(let id), .looking(let id), .making(let id), .listing(let id), .clearing(let id, _),
            .reviewing(let id), .lookingAgain(let id), .assembling(let id), .placing(let id, _),
            .searching(let id, _, _), .confirming(let id, _), .inTheWay(let id), .comparing(let id, _),
            .leaving(let id, _):
            id
        case .polling(let id, _): id
        case .ready, .sending, .digesting, .whole, .over: nil
        }
    }

    private mutating func ended(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch state {
        // Not even asked: the next attempt does that, for the point that names what is to go is still the one that is stored.
        case .discarding where end.isUnasked, .clearing where end.isUnasked: return stop(end)
        case .discarding:
            if let whole = plan.whole { noteRemoval(of: whole, end) }
            return look()
        case .looking: return looked(end)
        case .making: return made(end)
        case .listing, .reviewing: return listed(end)
        case .clearing(_, let old):
            noteRemoval(of: old, end)
            return make()
        case .lookingAgain: return lookedAgain(end)
        case .assembling: return assembled(end)
        case .placing(_, let place): return placed(end, place)
        case .polling(_, let poll): return polled(end, poll)
        case .searching(_, let poll, let target): return searched(end, poll, target)
        case .confirming(_, let answer): return confirmed(end, answer)
        case .inTheWay: return stood(end)
        case .comparing(_, let file): return compared(end, file)
        // Nobody was asked to remove it: after an end nothing would tell of it any more.
        case .leaving(_, let action) where action.isSkip && end.isUnasked: return stop(end)
        case .leaving(_, let action):
            noteRemoval(of: bare(point), end)
            return over(action)
        case .ready, .sending, .digesting, .whole, .over: return []
        }
    }

    // MARK: Beginning

    private mutating func begin(at now: Timestamp) -> [ProtocolAction] {
        guard place != nil else {
            return over(
                .fail(
                    TransferError(
                        .unsupported, "\(plan.address.server): this is no address of a file in Nextcloud",
                        .step("check it"))))
        }
        guard plan.resume != nil else {
            guard let whole = plan.whole, whole.temporary != plan.address.target else { return look() }
            let old = HTTPAddress(plan.address, target: whole.temporary)
            return perform(.http(DavMessages.remove(old))) { .discarding($0) }
        }
        // Cut into more chunks than there may be: the point is damaged.
        let isOutdated = plan.subject.hasChanged || point.chunk < Self.fewest(plan.subject.size)
        // An earlier version may have got the name, or may get it yet: after the new one, if nobody waits for it.
        isRecalling = plan.subject.hasChanged
        let poll = Poll.again(point, plan.subject.size, at: now)
        if point.isAssembling, isRecalling || !isOutdated { return ask(plan.address) { .polling($0, poll) } }
        return isOutdated ? clear() : list()
    }

    private mutating func look() -> [ProtocolAction] { ask(plan.address) { .looking($0) } }

    private mutating func looked(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch finding(end) {
        case .found(let file):
            switch judge(file) {
            case .ours?: break
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
            case .foreign?: return over(existing(file, isFirst: false))
            case nil: if plan.subject.ifExists != .replace { return over(existing(file, isFirst: true)) }
            }
            point.before = RemoteVersion(file)
            return make()
        case .missing, .unknownMethod: return make()
        case .other(let meaning): return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        }
    }

    /// The folder's name is durable before there is one.
    private mutating func make() -> [ProtocolAction] {
        guard let place else { return [] }
        keep([])
        return [.persist(durable)]
            + perform(DavMessages.makeFolder(place.folder(point.folder), headers: [destination])) { .making($0) }
    }

    private mutating func made(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return stop(end) }
        switch answer.status {
        // It was made before a kill could say so, or nothing can be made there.
        case 405:
            mayLackFolders = true
            // A gateway may have said that it is gone.
            if wasLost { (point.isMade, wasLost) = (true, false) }
            return list()
        case 501: return goWhole(at: end.at, learns: true)
        // No such place: it has none, or the address names nobody.
        case 404, 409: return goWhole(at: end.at, learns: false)
        default: break
        }
        guard answer.isSuccess else { return stop(end) }
        point.isMade = true
        return [.persist(durable)] + send()
    }

    mutating func list() -> [ProtocolAction] {
        guard let place else { return [] }
        return perform(DavMessages.stat(place.folder(point.folder), depth: 1)) { .listing($0) }
    }

    private mutating func listed(_ end: ExchangeEnd) -> [ProtocolAction] {
        var isReview = false
        if case .reviewing = state { isReview = true }
        guard let answer = end.answer else { return stop(end) }
        if mayLackFolders, !point.isMade, [404, 405, 501].contains(answer.status) {
            // What an attempt before this one has made may have become the file between the two questions.
            let isFirst = plan.resume == nil && plan.subject.begunBefore == nil
            return goWhole(at: end.at, learns: answer.status != 404 || isFirst)
        }
        if answer.isAbsence {
            // A MOVE whose answer was lost may have ended between two looks.
            if isReview, renames.mayHaveHappened, repaired() { return ask(plan.address) { .polling($0, .once) } }
            let wasMade = point.isMade
            (point.isMade, point.isAssembling) = (false, false)
            guard repaired() else { return over(.wait(WaitDemand(.backoff, lostChunks))) }
            wasLost = wasMade && !DavMessages.isOwnWord(end.body)
            return (wasMade ? lost(end) : []) + make()
        }
        guard answer.status == 207 else { return stop(end) }
        guard end.failure == nil, let resources = DavListing.read(end.body) else {
            return over(
                .wait(
                    WaitDemand(
                        .backoff,
                        end.failure?.error
                            ?? TransferError(
                                .badServerResponse, "\(host) answered PROPFIND with what is no list", .again))))
        }
        if !point.isMade {
            // That it was made is durable before the first chunk: these are not of this version of the source.
            return repaired() ? clear() : over(.wait(WaitDemand(.backoff, lostChunks)))
        }
        keep(Set(resources.compactMap { whole($0) }))
        if stored.count == count {
            // Asked for once in each attempt: nobody waits with a slot for a server that never comes to an end.
            if isReview, hasLostMoveAnswer { return over(.wait(WaitDemand(.backoff, unassembled))) }
            return isReview ? assemble() : announced() + assemble()
        }
        if isReview, !repaired() { return over(.wait(WaitDemand(.backoff, lostChunks))) }
        return (isReview ? [.accepted(bytesStored)] : announced()) + send()
    }

    /// The folder of chunks is not there.
    func lost(_ end: ExchangeEnd) -> [ProtocolAction] {
        (DavMessages.isOwnWord(end.body) ? [] : [.doubtAbsence()])
            + [.startOver(reason: "the server does not have the chunks any more")]
    }

    /// Digests are computed while the chunks go, which takes longer.
    private mutating func send() -> [ProtocolAction] {
        (plan.subject.verify == .digest && digest == nil ? askDigest() : []) + fill()
    }

    mutating func askDigest() -> [ProtocolAction] {
        defer { hasAskedDigest = true }
        return hasAskedDigest ? [] : [.digestSource]
    }

    /// There are no folders of chunks: this file goes whole, and where the server said so itself all after it.
    private mutating func goWhole(at now: Timestamp, learns: Bool) -> [ProtocolAction] {
        var upload = DavUpload(
            DavPlan(address: plan.address, subject: plan.subject, facts: plan.facts), after: lastID)
        let actions = upload.handle(.began(at: now))
        state = .whole(upload)
        return (learns ? [.learned(HostFacts { $0.cannotChunk = true })] : []) + actions
    }

    private func announced() -> [ProtocolAction] {
        stored.isEmpty ? [] : [.resumed(at: bytesStored), .accepted(bytesStored)]
    }

    /// The number of a chunk that is there with its exact length.
    private func whole(_ resource: DavResource) -> Int? {
        let name =
            resource.path.split(separator: UInt8(ascii: "/")).last.map { String(peer: $0) } ?? ""
        guard name.utf8.count == 5, let number = Int(name), (1...count).contains(number) else { return nil }
        return resource.size == Int64(range(number).count) ? number : nil
    }

    /// Throws the folder away, and begins with another.
    /// - Parameter owned: an earlier version of the source, as it was seen under the final name.
    mutating func clear(owned: DavResource? = nil) -> [ProtocolAction] {
        guard let place else { return [] }
        isRecalling = false
        if let owned {
            own.found(StandingFile(owned))
            point.before = RemoteVersion(owned)
        }
        let old = bare(point)
        let disclaimed = disclaim(throwsAway: true, owns: owned != nil)
        let generation = point.generation + 1
        let (before, vanished) = (point.before, point.vanished)
        point = NextcloudResumePoint(
            folder: Self.folder(plan, generation), generation: generation, chunk: Self.chunk(plan))
        (point.before, point.vanished) = (before, vanished)
        return disclaimed + perform(.http(DavMessages.remove(place.folder(old.folder)))) { .clearing($0, old) }
    }

    package var unremoved: [ResumePoint] {
        if case .whole(let upload) = state { refusedRemovals + upload.unremoved } else { refusedRemovals }
    }

    /// Keeps what the server has not removed, by its own word, known as left.
    private mutating func noteRemoval(of point: some ResumePointContent, _ end: ExchangeEnd) {
        if !end.isGone { refusedRemovals.append(ResumePoint(point)) }
    }

    /// The folder's name without what was known of its chunks.
    private func bare(_ point: NextcloudResumePoint) -> NextcloudResumePoint {
        NextcloudResumePoint(folder: point.folder, generation: point.generation, chunk: point.chunk)
    }

    /// Compares our earlier version with a file that has the target's name.
    mutating func judge(_ file: DavResource) -> NamedVersion.Standing? {
        own.standing(StandingFile(file), isFolder: file.isFolder)
    }

    // MARK: Words

    var host: String { plan.address.server }
    var destination: HeaderField { DavMessages.destination(plan.address) }
    var total: HeaderField { HeaderField("OC-Total-Length", "\(plan.subject.size)") }

    func finding(_ end: ExchangeEnd) -> DavFinding { DavFinding(end, host: host, hasAccepted: !stored.isEmpty) }

    /// The last action that an exchange's end means.
    func refusal(_ end: ExchangeEnd) -> ProtocolAction {
        let meaning =
            end.answer.map { AnswerMeaning.withoutRedirects($0, host: host, hasAccepted: !stored.isEmpty, at: end.at) }
            ?? DavFinding.unanswered(end, host)
        return meaning.refusal
            ?? .fail(
                TransferError(.badServerResponse, "\(host) answered what was not asked", .step("check the address")))
    }

    mutating func stop(_ end: ExchangeEnd) -> [ProtocolAction] { over(refusal(end)) }

    mutating func ask(_ address: HTTPAddress, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        perform(DavMessages.stat(address), next)
    }

    mutating func perform(_ exchange: Exchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, exchange)]
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }

    var lostChunks: TransferError {
        TransferError(.badServerResponse, "\(host) loses chunks that it has taken", .again)
    }

    var unassembled: TransferError {
        TransferError(
            .timedOut, "\(host) has all chunks and did not make a file of them in an hour",
            .again("look at its limits of time and memory"))
    }
}
