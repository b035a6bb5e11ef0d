import TransferModel
import WireOperations

/// An upload over SFTP version 3: written at exact offsets into a temporary file beside the target, measured, and
/// renamed when it is whole. The temporary file's size is the truth for going on. Its name is made of the task's token, so a small file
/// needs no resume point: the next attempt finds the same name.
///
/// Round trips of a new file: open (and the question whether the target is there, unless the file is tiny); all the rest of the file's
/// life in one list; rename.
/// The rename never goes out before the size was seen, so a reader of the final name sees no torso.
///
/// The states are here; `+Opening` finds what is there, `+Payload` sends and measures, `+Publishing` is the way to the final name, `+Target`
/// judges a file that has it.
package struct SFTPUpload: ProtocolMachine, RenamingUpload {
    /// A list of operations whose ends are looked at together.
    enum Step: Equatable {
        /// Asks what is there of earlier attempts: the target, the temporary file, that of an earlier version of the source. Next:
        /// `opening`, `over`.
        case looking(hasRestored: Bool)
        /// The temporary file of an earlier version, for which the old file was removed, gets the final name. Next: `looking`, `over`.
        case restoring
        /// A temporary file that is not gone on with is removed; the stored point still names it, and `unremoved` after a refusal. These
        /// operations follow. Next: `opening`, `over`.
        case clearing(RawPath, then: [SFTPOperation])
        /// The temporary file is opened; the target's state was asked before where it matters. Next: `measuring`, `sending`,
        /// `makingFolder`, `tidying`, `over`.
        case opening(asksTarget: Bool)
        /// The folder is missing. Next: `opening`, `over`.
        case makingFolder
        /// Asks for the length of the opened file. `had`: before it was opened. Next: `sending`, `over`.
        case measuring(SFTPHandle, had: Int64?)
        /// A write was refused, perhaps because the disk is full. Next: `opening` (whole file), `over`.
        case askingSpace(WriteRefusal)
        /// Asks late whether the target is there: this server's rename may replace it. Next: `renaming`, `tidying`, `over`.
        case askingTarget
        /// The whole file gets its final name. Next: `checking`, `over`.
        case renaming
        /// The rename was refused, or its answer was lost. Next: `renaming`, `replacing`, `opening` (no rename there), `tidying`, `over`.
        case checking(RenameDoubt)
        /// The target is removed and the rename asked again, where a server has no other way. Next: `checking`, `opening` (no rename
        /// there), `over`.
        case replacing
        /// The target is opened to be read back: nothing else tells whether an earlier attempt has put it there. Next: `readingBack`, `over`.
        case openingBack
        /// Its bytes are read for their digest. Next: `comparing`, `over`.
        case readingBack(SFTPHandle)
        /// The temporary file is removed by these operations, then this is said. Next: `over`.
        case tidying([SFTPOperation], then: ProtocolAction)
    }

    /// A write that the server refused.
    struct WriteRefusal: Equatable {
        var status: SFTPStatus
        var text: String
        /// Bytes before it were taken.
        var madeProgress = true
        /// The first one of this attempt began where an earlier attempt stood.
        var isOnResume = false
    }

    /// Requests for the final name. After the second the next attempt goes on.
    enum Naming {
        case first
        /// The first was refused, and no other task of ours may give its file this name meanwhile.
        case claimed
        case second
    }

    /// The reason why it is looked whether a rename happened.
    enum RenameDoubt: Equatable {
        case lost(TransferError)
        case refused(SFTPStatus, String)
    }

    /// The payload under way: pieces in their order, within `reach` of the first that is not acknowledged; behind the last the list that ends
    /// the file.
    struct Sending: Equatable {
        var handle: SFTPHandle
        var start: Int64
        var next: Int64
        var pieces: [Piece] = []
        /// Operations behind the last piece.
        var closing: Group?
        /// Every byte before this offset is acknowledged.
        var acknowledged: Int64 { pieces.first?.range.lowerBound ?? next }

        struct Piece: Equatable {
            var id: ExchangeID
            var range: Range<Int64>
        }
    }

    struct Group: Equatable {
        var ids: [ExchangeID]
        var ends: [ExchangeID: SFTPEnd] = [:]
        var isComplete: Bool { ends.count == ids.count }
        subscript(_ index: Int) -> SFTPEnd? { ends[ids[index]] }
        var last: SFTPEnd? { ids.last.flatMap { ends[$0] } }
    }

    enum State: Equatable {
        /// Nothing is asked yet. Next: `working` (looking, opening), `over`.
        case ready
        /// Next: `working`, `sending`, `over`.
        case working(Step, Group)
        /// Next: itself, `working` (askingSpace, opening, renaming), `over`.
        case sending(Sending)
        /// The engine computes the source's digest, for the one of the target. Next: `over`.
        case comparing(TransferDigest)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// Payload bytes that an upload has on its way at first, and at most. Two of OpenSSH's longest packets are what a short line needs; a
    /// longer line gets more once the resume point tells of it. After a cut the upload sends what was on its way, and as much before it
    /// once more: a file's size does not tell of a hole.
    package static let leastReach: Int64 = 2 * 255 << 10
    package static let mostReach: Int64 = 8 << 20
    /// Pieces in a reach: the line does not run dry while one of them ends.
    static let piecesInReach: Int64 = 4
    /// Up to this a file is sent again whole: its resume point is not worth a commit.
    package static let small: Int64 = 1 << 20
    /// Up to this, which is one packet, a file is sent before anybody asks whether the target is there: the rename says it.
    package static let tiny: Int64 = 32 << 10

    let plan: SFTPUploadPlan
    var state = State.ready
    var facts: HostFacts
    var features = SFTPFeatures()
    /// The file that takes the bytes: the temporary file, or the target where the server cannot rename.
    var point: SFTPResumePoint
    /// This attempt found nothing under the final name, and has not opened it since.
    var isFree = false
    /// Bytes from the start of the temporary file that the server had confirmed, by what the queue knows. Of another file nothing is.
    var confirmed: Int64
    /// True when the point is durable.
    var isDurable = false
    /// An earlier version of the source that got the final name.
    var own: OwnTarget
    /// The server's word on what was sent, right after it.
    var seen: SFTPAttributes?
    /// Bytes of this task that the server has taken, in this attempt or before.
    var hasAccepted: Bool
    var beginning = PayloadBeginning.goesOn(from: nil)
    var hasMadeFolder = false
    /// True when this attempt has asked whether the target is there.
    var hasAskedTarget = false
    var naming = Naming.first
    var renames: RenameHistory
    /// A temporary file is there, or may be.
    var isLeft = false
    package internal(set) var unremoved: [ResumePoint] = []
    private var lastID = 0

    package init(_ plan: SFTPUploadPlan) {
        self.plan = plan
        own = OwnTarget(plan.subject)
        facts = plan.facts
        let goesOn = plan.resume != nil && !plan.subject.hasChanged
        renames = RenameHistory(wasIntended: goesOn && plan.resume?.publishing == true)
        if let resume = plan.resume, goesOn {
            point = resume
        } else {
            // After a change a half-dead server may still write the old bytes: they must not meet the new ones.
            let next = plan.subject.hasChanged ? (plan.resume?.generation ?? 1) + 1 : 1
            let generation = max(next, plan.subject.firstGeneration)
            point = SFTPResumePoint(
                temporary: TemporaryName.beside(plan.path, token: plan.subject.token, generation: generation),
                generation: generation, size: plan.subject.size, modified: plan.modified)
            point.reach = Self.leastReach
        }
        hasAccepted = goesOn
        confirmed = plan.subject.hasChanged ? 0 : plan.subject.confirmed
        // A file that was begun under its final name stays there: under another one nothing would tell that those bytes are ours.
        if facts.cannotRename == true || plan.resume?.temporary == plan.path { point.temporary = plan.path }
        if let resume = plan.resume, isDirect, resume.temporary == plan.path {
            (point.owned, point.longest) = (resume.owned, resume.longest)
        }
        isDurable = goesOn && plan.resume == point
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.working(let step, var group), .sftpEnded(let id, let end)) where group.ids.contains(id):
            group.ends[id] = end
            features = end.features
            state = .working(step, group)
            return group.isComplete ? take(step, group) : []
        case (.sending(let sending), .sftpEnded(let id, let end)): return take(sending, id, end)
        case (.comparing(let theirs), .digested(let ours)): return compared(ours, theirs)
        default:
            // What belongs to an abandoned or finished operation comes too late.
            return []
        }
    }

    // MARK: Beginning

    var isDirect: Bool { point.temporary == plan.path }

    private mutating func begin() -> [ProtocolAction] {
        if plan.subject.verify == .digest {
            return over(.fail(.unverifiable(at: plan.host, "tells no digest of a file over SFTP")))
        }
        let inDoubt =
            plan.subject.begunBefore != nil || plan.resume != nil || plan.subject.hasChanged || own.isKnown
        // Some servers empty what is opened: under the final name nothing is opened before it is known whose it is.
        let claims: [ProtocolAction] = isDirect ? [.claimName(plan.path)] : []
        if inDoubt || (isDirect && !own.mayReplace) { return claims + look() }
        return claims + open(asksTarget: !own.mayReplace && (isDirect || plan.subject.size > Self.tiny))
    }

    mutating func look(hasRestored: Bool = false) -> [ProtocolAction] {
        let old = earlier.map { [SFTPOperation.status($0)] } ?? []
        return perform(.looking(hasRestored: hasRestored), [.status(plan.path), .status(point.temporary)] + old)
    }

    /// The temporary file of an earlier version of the source; a small one has left no resume point.
    var earlier: RawPath? {
        guard plan.subject.hasChanged else { return nil }
        if let resume = plan.resume { return resume.temporary }
        return plan.subject.begunBefore == nil || isDirect ? nil : unrecorded
    }

    /// The temporary file of the first version, of which no resume point tells.
    var unrecorded: RawPath { TemporaryName.beside(plan.path, token: plan.subject.token) }

    /// The point is durable before the first byte: of a large file, whose bytes are worth it, and of one that has a name of another than the
    /// first version. What is left under that nobody could guess.
    var isWorthRecording: Bool { plan.subject.size > Self.small || point.generation > 1 }

    package var remains: ResumePoint? {
        if renames.isRefusal { return unasked }
        return isLeft && !isDurable && !isDirect ? durable : nil
    }

    mutating func open(asksTarget: Bool, first operations: [SFTPOperation] = []) -> [ProtocolAction] {
        hasAskedTarget = hasAskedTarget || asksTarget
        isLeft = true
        // Under the final name even an empty file must be known as ours before it is made.
        return (isDirect || point.generation > 1 || !unremoved.isEmpty ? makeDurable() : [])
            + perform(
                .opening(asksTarget: asksTarget),
                operations + (asksTarget ? [.status(plan.path)] : []) + [.openForWriting(point.temporary)])
    }

    mutating func makeDurable() -> [ProtocolAction] {
        if isDurable { return [] }
        isDurable = true
        return [.persist(durable)]
    }

    private mutating func take(_ step: Step, _ group: Group) -> [ProtocolAction] {
        if case .tidying(let operations, let action) = step { return tidied(operations, group, then: action) }
        if case .renaming = step { return renamed(group) }
        if case .replacing = step { return replaced(group) }
        if let broken = group.ids.lazy.compactMap({ group.ends[$0]?.brokenOff }).first {
            return brokenOff(step, broken)
        }
        switch step {
        case .looking(let hasRestored): return looked(group, hasRestored: hasRestored)
        case .restoring: return restored(group)
        case .clearing(let old, let first):
            // From here on the point that names the old file is replaced.
            if !hasRemoved(old, group.last) { isDurable = false }
            return open(asksTarget: false, first: first)
        case .opening(let asksTarget): return opened(group, asksTarget: asksTarget)
        case .makingFolder: return madeFolder(group)
        case .measuring(let handle, let had): return measured(handle, had: had, group)
        case .askingSpace(let refusal): return askedSpace(refusal, group)
        case .askingTarget: return askedTarget(group)
        case .checking(let doubt): return checked(group, doubt)
        case .openingBack: return openedBack(group)
        case .readingBack(let handle): return readBack(group, handle)
        case .tidying, .renaming, .replacing: return []
        }
    }

    // MARK: Words

    mutating func startOver(_ reason: String) -> ProtocolAction {
        confirmed = 0
        return .startOver(reason: reason)
    }

    mutating func learned(_ change: (inout HostFacts) -> Void) -> ProtocolAction {
        change(&facts)
        return .learned(HostFacts(change))
    }

    mutating func perform(_ step: Step, _ operations: [SFTPOperation]) -> [ProtocolAction] {
        perform(step, operations.map { .sftp($0) })
    }

    mutating func perform(_ step: Step, _ exchanges: [Exchange]) -> [ProtocolAction] {
        let ids = exchanges.map { _ in nextID() }
        state = .working(step, Group(ids: ids))
        return zip(ids, exchanges).map { .perform($0, $1) }
    }

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        if case .finish = action { isLeft = false }
        return disown(before: action) + ending(action)
    }

    /// Nothing of ours came where nothing was: what is there later is somebody else's.
    private mutating func disown(before action: ProtocolAction) -> [ProtocolAction] {
        if case .finish = action { return [] }
        guard isFree, isDirect, isDurable else { return [] }
        point.owned = nil
        return [.persist(durable)]
    }
}
