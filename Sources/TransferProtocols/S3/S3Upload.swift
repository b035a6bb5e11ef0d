import Digests
import TransferModel

/// An upload to S3: small files by one PUT, larger ones in equal parts, several at a time, resumed by asking which parts
/// are there.
///
/// Every object carries the task's token and the source's time. So an answer that was lost is resolved by a HEAD: only an object
/// with our token is taken for ours, never one that merely lies there.
package struct S3Upload: ProtocolMachine {
    /// The question that a HEAD is to answer.
    enum Question: Hashable {
        /// Nothing of this attempt went out yet.
        case before
        /// The last request's answer was lost: did it happen?
        case afterSilence(TransferError)
        /// 412: what is it that lies there?
        case afterRefusal
        /// The server knows no condition: is anything there?
        case afterUnknownCondition
        /// The multipart upload is not there any more: did an earlier Complete happen? `isWhole`: all of its parts were there.
        case afterLoss(isWhole: Bool)
        /// Somebody else wrote the object while ours was put together: what is there now? The upload is still there.
        case afterConflict
        /// All parts are there. The first look may be days old, and a server that heeds no condition would replace what came since.
        case beforeComplete
        /// The server said that it has the object, and a person wants its length asked for.
        case afterStored(Receipt)
    }

    /// The step after an old upload is thrown away.
    enum Errand: Hashable {
        case begin
        case finish(Receipt)
    }

    enum State: Hashable {
        /// Next: `sweeping`, `aborting` (what an earlier version left), `looking`, `listing`, `hashing`, `sending`, `creating`, `over`.
        case ready
        /// Takes away what a Create whose answer nobody heard may have left. Next: itself, `looking`, `creating`, `sending`, `over`.
        case sweeping(ExchangeID, S3Sweep)
        /// An upload that is of no use is thrown away; how that ends does not matter. Next: `looking`, `over`.
        case aborting(ExchangeID, S3Channel, S3ResumePoint, Errand)
        /// A HEAD. Next: itself, `resting`, `comparing`, `hashing`, `sending`, `creating`, `completing`, `aborting`, `over`.
        case looking(ExchangeID, Question)
        /// An answer was lost and nothing is there yet: the server gets a moment. Next: `looking`.
        case resting(TransferError)
        /// The file is compared with what lies there. Next: itself, `aborting`, `over`.
        case comparing(S3Comparison)
        /// The digests of a file that goes in one request. Next: `sending`.
        case hashing
        /// The one PUT. Next: itself, `hashing`, `looking`, `over`.
        case sending(ExchangeID, S3Digests)
        /// A multipart upload is begun. Next: itself, `sendingParts`, `over`.
        case creating(ExchangeID)
        /// Asks which parts are there. Next: itself (pages), `sendingParts`, `looking`, `over`.
        case listing(ExchangeID, S3Listing)
        /// Parts are hashed and sent; what each of them does stands in `parts`. Next: `looking`, `completing`, `over`.
        case sendingParts
        /// The parts are joined. Next: itself, `listing` (repair), `looking`, `over`.
        case completing(ExchangeID)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// The kind of the resume points that mean this machine.
    package static var kind: String { S3ResumePoint.kind }

    let plan: S3Plan
    var state = State.ready
    /// `nil`: the region is none, nothing can be sent.
    var channel: S3Channel?
    /// The condition that protects other people's files; what a look found decides it.
    var protection = S3Condition.ifAbsent
    /// The multipart upload that goes on, and its parts.
    var upload: S3ResumePoint?
    var parts = S3Parts.none
    var pace = S3Pace()
    /// The reason why the attempt ends once nothing is on its way any more.
    var draining: WaitDemand?
    /// Parts that failed since one succeeded.
    var failures = 0
    /// Bodies that arrived damaged, by the server's word.
    var damages = 0
    /// A tag of a part was found to be its MD5, so others are, too.
    var hasOwnTags = false
    /// A part that was there differs from the file, or has a tag that is no MD5: sending it again will tell.
    var isInDoubt = false
    /// The parts that Complete did not like were looked at again.
    var hasRepaired = false
    /// Complete was answered that there is no such upload, with nothing of it at the place.
    var hasLostWhole = false
    /// The upload was lost and begun anew.
    var hasBegunAnew = false
    /// An answer without a code of S3, as a gateway gives it, has said that the upload is gone.
    var lacksWord = false
    var hasRested = false
    /// MD5 of the file, when it went in one request.
    var sentMD5: [UInt8]?
    /// A 412 was followed by another try.
    var hasTriedAgain = false
    /// When something was heard last.
    var now = Timestamp(milliseconds: 0)
    package private(set) var unremoved: [ResumePoint] = []
    private var lastID = 0

    package init(_ plan: S3Plan) {
        self.plan = plan
        channel = S3Channel(plan.address, plan.facts)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        guard channel != nil else {
            return state == .over
                ? [] : over(.fail(.noRegion(plan.facts.region?.rawValue ?? plan.address.place.region ?? "")))
        }
        if state == .ready, plan.address.key.text == nil { return over(.fail(.noKey(plan.address.key))) }
        if case .ended(_, let end) = event { now = end.at }
        switch (state, event) {
        case (.ready, .began(let now)):
            self.now = now
            return begin()
        case (.sweeping(let id, let sweep), .ended(let ended, let end)) where ended == id: return swept(end, sweep)
        case (.aborting(let id, let channel, let upload, let errand), .ended(let ended, let end)) where ended == id:
            return aborted(end, channel, upload, errand)
        case (.looking(let id, let question), .ended(let ended, let end)) where ended == id:
            return looked(end, question)
        case (.resting(let error), .timerFired(.probeAgain)): return look(.afterSilence(error))
        case (.comparing(let comparison), .rangeDigested(let range, let digests)):
            return compared(comparison, range, S3Digests(digests))
        case (.hashing, .rangeDigested(0..<plan.subject.size, let digests)): return put(S3Digests(digests))
        case (.sending(let id, let digests), .ended(let ended, let end)) where ended == id:
            return putEnded(end, digests)
        case (.creating(let id), .ended(let ended, let end)) where ended == id: return created(end)
        case (.listing(let id, let listing), .ended(let ended, let end)) where ended == id: return listed(end, listing)
        case (.sendingParts, .rangeDigested(let range, let digests)): return partDigested(range, S3Digests(digests))
        case (.sendingParts, .ended(let id, let end)): return partEnded(id, end)
        case (.completing(let id), .ended(let ended, let end)) where ended == id: return completed(end)
        default:
            // Heads are looked at when the exchange ends; what belongs to an abandoned or finished one comes too late.
            return []
        }
    }

    // MARK: The beginning

    private mutating func begin() -> [ProtocolAction] {
        if let point = plan.resume {
            if let sweep = S3Sweep(point, facts: plan.facts) { return ask(sweep) }
            if point.isOf(plan), let parts = S3Parts(size: point.size, partSize: point.partSize) {
                upload = point
                self.parts = parts
                return list()
            }
            let isAnother = point.address != plan.address && !plan.subject.hasChanged
            return (isAnother ? [.startOver(reason: "the file goes to another place")] : [])
                + abort(point, then: .begin)
        }
        return beginAnew()
    }

    /// Looks first where something of ours may lie, where a refusal would come only after all parts were sent, and where it may not come.
    mutating func beginAnew() -> [ProtocolAction] {
        let mayLie = plan.subject.begunBefore != nil || plan.subject.hasChanged || hasBegunAnew
        let isGuarded = plan.isSingle && plan.facts.heedsConditions == true
        let refusalComesLate = !isGuarded && plan.subject.ifExists != .replace
        return mayLie || refusalComesLate ? look(.before) : sendPayload()
    }

    mutating func sendPayload() -> [ProtocolAction] {
        guard plan.isSingle else { return create() }
        guard !digestsWanted.isEmpty else { return put(S3Digests()) }
        if plan.subject.size == 0 { return put(.ofNothing) }
        state = .hashing
        return [.digestRange(0..<plan.subject.size, digestsWanted)]
    }

    /// Throws an upload away that is of no use; best effort.
    mutating func abort(_ point: S3ResumePoint, then errand: Errand) -> [ProtocolAction] {
        guard let channel = point.address == plan.address ? channel : S3Channel(point.address, plan.facts) else {
            return perform(errand)
        }
        let id = nextID()
        state = .aborting(id, channel, point, errand)
        return [.perform(id, S3Messages.abort(point, channel))]
    }

    private mutating func aborted(
        _ end: ExchangeEnd, _ channel: S3Channel, _ point: S3ResumePoint, _ errand: Errand
    ) -> [ProtocolAction] {
        var channel = channel
        switch channel.judge(end, lesson: channel.lessons, hasAccepted: true) {
        case .again(let learnt):
            if point.address == plan.address { self.channel = channel }
            let id = nextID()
            state = .aborting(id, channel, point, errand)
            return learned(learnt) + [.perform(id, S3Messages.abort(point, channel))]
        // The server was not even asked: the next attempt does that.
        case .silent(let error, mayHaveArrived: false) where errand == .begin && error.isRetryable:
            return over(.wait(WaitDemand(.backoff, error)))
        // A server that does not throw it away must take the file all the same. Its parts cost money as long as they lie there, so they stay
        // known.
        case .silent, .refused:
            if !end.isGone { unremoved.append(ResumePoint(point)) }
            return perform(errand)
        case .success: return perform(errand)
        }
    }

    private mutating func perform(_ errand: Errand) -> [ProtocolAction] {
        switch errand {
        case .begin: beginAnew()
        case .finish(let receipt): over(.finish(receipt))
        }
    }

    // MARK: Words

    /// Digest algorithms that a body needs before it is sent. MD5: for Content-MD5, by which every server refuses a damaged body, and for
    /// the comparison with its tag. It is signed with the other fields, so it holds on an open line, too: nobody finds other bytes to a
    /// given MD5, and SHA-256 besides would hash every byte twice. Where no digest is compared the signature has the SHA-256 over http.
    var digestsWanted: [String] { comparesDigests ? ["md5"] : channel?.hashesPayload == true ? ["sha-256"] : [] }

    /// The condition under which the object is written. Where any file may be replaced there is none, whatever was found.
    var condition: S3Condition { plan.subject.ifExists == .replace ? .always : protection }

    var comparesDigests: Bool { plan.subject.verify == nil || plan.subject.verify == .digest }
    var host: String { channel?.host ?? plan.address.bucket }

    mutating func judge(_ end: ExchangeEnd, lesson: Int? = nil, hasAccepted: Bool? = nil) -> S3Channel.Verdict {
        // `handle` lets nothing through without a channel.
        guard var channel else { return .silent(.noRegion(""), mayHaveArrived: false) }
        defer { self.channel = channel }
        return channel.judge(end, lesson: lesson ?? channel.lessons, hasAccepted: hasAccepted ?? (upload != nil))
    }

    /// Performs a request under a new id, in the state that waits for it.
    mutating func request(_ exchange: Exchange?, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        guard let exchange else { return [] }
        let id = nextID()
        state = next(id)
        return [.perform(id, exchange)]
    }

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    func learned(_ facts: HostFacts?) -> [ProtocolAction] { facts.map { [.learned($0)] } ?? [] }

    mutating func giveUp(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    mutating func conclude(_ decision: S3Channel.Decision) -> [ProtocolAction] {
        switch decision {
        case .wait(let demand): over(.wait(demand))
        case .fail(let error): over(.fail(error))
        }
    }

    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}

extension S3ResumePoint {
    /// True when it was made for that file and that place.
    func isOf(_ plan: S3Plan) -> Bool {
        !plan.subject.hasChanged && address == plan.address && size == plan.subject.size
            && modifiedNanoseconds == plan.subject.modifiedNanoseconds
    }
}
