import TransferModel
import WireOperations

/// Turns the chunks into the file, and finds out what happened when the answer to that is lost.
extension NextcloudUpload {
    /// The action that the rule for existing files demands for a file that has the target's name.
    /// - Parameter isFirst: nothing of this task could have had that name yet: then size and time count.
    func existing(_ file: DavResource, isFirst: Bool) -> ProtocolAction {
        if plan.subject.ifExists == .skip { return .finish(.skipped(plan.subject.size)) }
        // Size alone is never the same; Nextcloud keeps the source's time.
        guard isFirst, plan.subject.countsMarks, plan.subject.verify != .digest, !file.isFolder,
            file.size == plan.subject.size, let theirs = file.modified,
            theirs.milliseconds / 1000 == plan.subject.modifiedNanoseconds / 1_000_000_000
        else { return .fail(.exists(at: plan.address.server, httpStatus: 412)) }
        var receipt = Receipt(.stoodThere, bytes: plan.subject.size, verified: .size)
        receipt.foundThere = true
        return .finish(receipt)
    }

    mutating func assemble() -> [ProtocolAction] {
        if plan.subject.verify == .digest, digest == nil {
            state = .digesting
            return askDigest()
        }
        // Whoever has put another file there since is not to lose it.
        if own.isKnown, plan.subject.ifExists != .replace { return ask(plan.address) { .lookingAgain($0) } }
        return move(overwrites: plan.subject.ifExists == .replace)
    }

    mutating func lookedAgain(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch finding(end) {
        case .found(let file):
            switch judge(file) {
            case .ours?: return move(overwrites: true)
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
            case .foreign?, nil: return leave(existing(file, isFirst: false))
            }
        case .missing, .unknownMethod: return move(overwrites: false)
        case .other(let meaning): return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        }
    }

    /// Durable before it is asked for.
    private mutating func move(overwrites: Bool) -> [ProtocolAction] {
        guard let place else { return [] }
        let unasked = unasked
        renames.asked()
        point.isAssembling = true
        point.version = NamedVersion(plan.subject)
        moves += 1
        let time = HeaderField("X-OC-Mtime", "\(plan.subject.modifiedNanoseconds / 1_000_000_000)")
        let checksum = digest.map(DavMessages.checksum) ?? []
        let exchange = DavMessages.move(
            place.whole(in: point.folder), to: plan.address, overwrites: overwrites, headers: [total, time] + checksum)
        return [.persist(durable), .compareSource(keeping: unasked)] + perform(exchange) { .assembling($0) }
    }

    mutating func assembled(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else {
            guard case .wait = refusal(end) else {
                renames.refused()
                return refused(end)
            }
            return lostAnswer(end)
        }
        if answer.status == 202 || answer.isPageForYes { return lostAnswer(end) }
        if answer.isSuccess { return ask(plan.address) { .confirming($0, answer) } }
        // A lock on its own is somebody else's; after a lost answer it is our own MOVE that still goes on.
        if answer.status == 423, renames.mayHaveHappened { return lostAnswer(end) }
        // What Nextcloud itself says is an end; what a gateway says is not.
        if 500..<600 ~= answer.status, answer.status != 507, !DavMessages.isOwnWord(end.body) { return lostAnswer(end) }
        renames.refused()
        switch answer.status {
        case 412: return ask(plan.address) { .inTheWay($0) }
        case 409 where folders.canBegin: return make(folderAt: 0)
        // It has them all no more, or never had them all.
        case 400 where moves < 3, 404 where moves < 3:
            return ask(plan.address) { .polling($0, .once) }
        default: return refused(end)
        }
    }

    /// From now on the server has an hour; later attempts know when it began.
    private mutating func lostAnswer(_ end: ExchangeEnd) -> [ProtocolAction] {
        renames.lostAnswer()
        hasLostMoveAnswer = true
        point.lostAt = end.at
        return [.persist(durable)] + rest(.afterLostAnswer)
    }

    /// The MOVE did not happen: the next attempt asks for it again. An earlier one may still go on, and stays written down.
    private mutating func refused(_ end: ExchangeEnd) -> [ProtocolAction] {
        (renames.isRefusal ? forgetRename() : []) + stop(end)
    }

    // MARK: Folders above the target

    private mutating func make(folderAt place: Int) -> [ProtocolAction] {
        perform(folders.make(place)) { .placing($0, place) }
    }

    mutating func placed(_ end: ExchangeEnd, _ place: Int) -> [ProtocolAction] {
        guard let answer = end.answer else { return refused(end) }
        switch folders.answered(answer, at: place, refusal: refusal(end)) {
        case .make(let next): return make(folderAt: next)
        case .areThere: return assemble()
        case .refused: return refused(end)
        }
    }

    // MARK: Waiting

    private mutating func rest(_ poll: Poll) -> [ProtocolAction] {
        var poll = poll
        let pause = poll.pause
        poll.patience -= pause
        poll.round += 1
        state = .polling(nil, poll)
        return [.wake(.probeAgain, after: pause)]
    }

    /// The target, as it is now.
    mutating func polled(_ end: ExchangeEnd, _ poll: Poll) -> [ProtocolAction] {
        guard let place else { return [] }
        // A later time is one of a clock that was set since.
        if let lost = point.lostAt, lost > end.at { point.lostAt = end.at }
        switch finding(end) {
        case .found(let file) where isRecalling:
            return perform(DavMessages.stat(place.folder(point.folder))) { .searching($0, poll, target: file) }
        case .found(let file) where file.size == plan.subject.size && isNew(file):
            return perform(DavMessages.stat(place.folder(point.folder))) { .searching($0, poll, target: file) }
        case .other(let meaning):
            if case .fail(let error) = meaning { return over(.fail(error)) }
            return meaning.refusal.map { over($0) } ?? rest(poll)
        case .found, .missing, .unknownMethod:
            return perform(DavMessages.stat(place.folder(point.folder))) { .searching($0, poll, target: nil) }
        }
    }

    /// The MOVE gave it the source's time, but none of the first day of 1970, which Nextcloud does not take. The server takes chunks away by
    /// itself, too, after a day.
    private func hasOurTime(_ file: DavResource) -> Bool {
        let seconds = plan.subject.modifiedNanoseconds / 1_000_000_000
        guard let modified = file.modified, seconds > 86_400 else { return true }
        return modified.milliseconds / 1000 == seconds
    }

    /// The folder of chunks, as it is now: our MOVE takes it away, when the file is whole.
    /// - Parameter target: a file of our length that has the name.
    mutating func searched(_ end: ExchangeEnd, _ poll: Poll, _ target: DavResource?) -> [ProtocolAction] {
        switch finding(end) {
        case .missing where isRecalling && (target != nil || poll.patience <= .zero): return recalled(target)
        case .missing where target.map(hasOurTime) == false:
            // The wish is that what is there goes, whosever it is.
            if plan.subject.ifExists == .replace || target.flatMap({ judge($0) }) == .ours { return startAnew(end) }
            return over(
                .fail(.unsure(at: plan.address.server, "the chunks are gone, and the file there has another time")))
        case .missing where target != nil:
            if plan.subject.verify == .digest { return over(.fail(unheard)) }
            var receipt = receipt(.token, nil)
            receipt.etag = target?.etag
            receipt.foundThere = poll.isEarlier
            return over(.finish(receipt))
        case .other(let meaning): return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        case .missing where poll.patience > .zero:
            // It went between the two looks, or the file did not come of it.
            var last = poll
            last.patience = .zero
            return ask(plan.address) { .polling($0, last) }
        case .missing: return startAnew(end)
        case .found, .unknownMethod:
            if poll.patience > .zero { return rest(poll) }
            return isRecalling ? clear() : review()
        }
    }

    /// Nothing of the earlier version is under way any more: whose is the file that has the name?
    private mutating func recalled(_ target: DavResource?) -> [ProtocolAction] {
        guard let target, plan.subject.ifExists != .replace else { return clear() }
        let seconds = target.modified.map { $0.milliseconds / 1000 }
        let standing = (point.version ?? plan.subject.earlierVersion)?.standing(size: target.size, modified: seconds)
        // The version before that one may have the name still.
        if standing != .ours, judge(target) == .ours { return clear() }
        switch target.isFolder || !isNew(target) ? .foreign : standing {
        case .ours?: return clear(owned: target)
        case .foreign?: return disclaim(throwsAway: true) + over(existing(target, isFirst: false))
        case .unknown?, nil: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
        }
    }

    private mutating func startAnew(_ end: ExchangeEnd) -> [ProtocolAction] {
        if let last = point.vanish(at: host) { return forgetRename() + over(last) }
        return lost(end) + clear()
    }

    /// Nothing goes on there any more: the chunks are counted once more, and the MOVE is asked for again.
    private mutating func review() -> [ProtocolAction] {
        guard let place else { return [] }
        return perform(DavMessages.stat(place.folder(point.folder), depth: 1)) { .reviewing($0) }
    }

    /// Not what stood there before.
    private func isNew(_ file: DavResource) -> Bool {
        guard let before = point.before else { return true }
        if let old = before.etag, let now = file.etag { return old != now }
        return before.lastModified != RemoteVersion(file).lastModified || before.total != file.size
    }

    // MARK: Ends

    mutating func confirmed(_ end: ExchangeEnd, _ answer: HTTPAnswer) -> [ProtocolAction] {
        if plan.subject.verify == .digest {
            guard let theirs = DavMessages.digest(of: answer) else { return over(.fail(digestless)) }
            guard theirs == digest?.value else {
                let why = "put the file together but has other bytes (its SHA-256 differs)"
                return over(.mismatch(receipt(.answered, answer), .differing(at: plan.address.server, why)))
            }
        }
        switch finding(end) {
        case .found(let file) where file.size == nil || file.size == plan.subject.size:
            return over(.finish(receipt(.answered, answer, isMeasured: file.size != nil)))
        case .found(let file):
            let why = "put the file together but has \(file.size ?? 0) of \(plan.subject.size) bytes"
            return over(.mismatch(receipt(.answered, answer), .differing(at: plan.address.server, why)))
        case .unknownMethod: return over(.finish(receipt(.answered, answer, isMeasured: false)))
        case .missing where DavMessages.mayBeMisread(plan.address):
            return over(.fail(.misnamed(at: plan.address.server)))
        case .missing: return lostAnswer(end)
        case .other(let meaning):
            return over(meaning.refusal ?? .finish(receipt(.answered, answer, isMeasured: false)))
        }
    }

    /// The server did not overwrite.
    mutating func stood(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch finding(end) {
        case .found(let file):
            guard let place, !file.isFolder, file.size == plan.subject.size else {
                return leave(existing(file, isFirst: false))
            }
            return perform(DavMessages.stat(place.folder(point.folder))) { .comparing($0, file) }
        case .missing, .unknownMethod: return leave(.fail(.exists(at: plan.address.server, httpStatus: 412)))
        case .other(let meaning): return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        }
    }

    /// Only a MOVE of ours takes the folder of chunks away.
    mutating func compared(_ end: ExchangeEnd, _ file: DavResource) -> [ProtocolAction] {
        switch finding(end) {
        // A MOVE that was answered with no is none.
        case .missing where hasOurTime(file) && renames.mayHaveHappened:
            if plan.subject.verify == .digest { return over(.fail(unheard)) }
            var receipt = receipt(.token, nil)
            receipt.etag = file.etag
            return over(.finish(receipt))
        case .missing: return leave(existing(file, isFirst: false))
        case .found, .unknownMethod: return leave(existing(file, isFirst: false))
        case .other(let meaning): return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        }
    }

    private mutating func leave(_ action: ProtocolAction) -> [ProtocolAction] {
        guard let place else { return [] }
        return disclaim() + perform(.http(DavMessages.remove(place.folder(point.folder)))) { .leaving($0, action) }
    }

    private var digestless: TransferError {
        .unverifiable(at: plan.address.server, "put the file together but tells no SHA-256 of it")
    }

    /// The error when the answer that was lost had the server's digest in it. The intent stays: with less to be compared a retry finds the file.
    private var unheard: TransferError {
        .unverifiable(
            at: plan.address.server, "put the file together, but its answer with the SHA-256 of it was lost")
    }

    private func receipt(_ proof: ArrivalProof, _ answer: HTTPAnswer?, isMeasured: Bool = true) -> Receipt {
        let isSized = isMeasured && plan.subject.verify != VerificationWish.none
        var receipt = Receipt(proof, bytes: plan.subject.size, verified: isSized ? .size : .none)
        // `confirmed` has compared it.
        if plan.subject.verify == .digest {
            receipt.verified = .digest
            receipt.digest = digest
        }
        receipt.etag = answer?.cloudTag
        receipt.shown = answer?.date.map { $0.milliseconds / 1000 }
        return receipt
    }
}

extension RemoteVersion {
    init(_ file: DavResource) {
        self.init(
            etag: file.etag, lastModified: file.modified.map { "\($0)" }, total: file.size)
    }
}
