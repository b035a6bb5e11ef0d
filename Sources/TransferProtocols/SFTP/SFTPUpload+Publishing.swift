import TransferModel
import WireOperations

/// The way to the final name, and what becomes of a file that is there already.
extension SFTPUpload {
    // MARK: What is there

    /// The known facts beside a file under the final name.
    struct TargetLook {
        /// `nil`: nobody looked, because no earlier attempt is in doubt.
        var temporaryIsThere: Bool?
        /// The temporary file of an earlier version of the source.
        var oldIsThere: Bool?
        /// This task has not looked at that name before.
        var isFirst: Bool
    }

    enum Verdict {
        case goOn
        case end(ProtocolAction)
        /// Only its bytes tell.
        case readBack
    }

    /// Decides what a file under the final name means.
    ///
    /// Only our rename takes a temporary file away, and before it is asked for it is written down, unless the file is small. Size and time
    /// count for what stood there before anything of ours could have had that name.
    mutating func verdict(_ target: SFTPAttributes, _ look: TargetLook) -> Verdict {
        if target.isFolder {
            return .end(.fail(.folderStands(at: plan.host)))
        }
        let subject = plan.subject
        // A file that was gathered under its final name.
        if let old = plan.resume, old.temporary == plan.path {
            let isOurs = subject.hasArrived || old.owned?.covers(target.size) == true
            mayReplace = mayReplace || isOurs
            if isOurs || isDirect && target.size == 0 || subject.ifExists == .replace { return .goOn }
        }
        if isDirect, plan.resume?.temporary == plan.path {
            if !subject.hasChanged, subject.size <= Self.small, target.size == subject.size { return .readBack }
            let why = "it cannot rename files, and nothing tells whether what is there is ours"
            return .end(.fail(.unsure(at: plan.host, why)))
        }
        let isSameSize = target.size == subject.size
        let standing = own.standing(StandingFile(target))
        if plan.resume?.publishing == true, look.temporaryIsThere == false, isSameSize, isRenamed(target, standing) {
            return .end(.finish(found(.token)))
        }
        if subject.ifExists == .replace { return .goOn }
        if standing == .ours {
            mayReplace = true
            return .goOn
        }
        if look.oldIsThere == false, mayBeEarlier {
            switch earlierVersion?.standing(size: target.size, modified: target.modified) {
            case .ours?:
                own.found(StandingFile(target))
                (mayReplace, isDurable) = (true, false)
                return .goOn
            case .foreign?: break
            case .unknown?, nil:
                if isSameSize, subject.size <= Self.small { return .readBack }
                return .end(.fail(.unsureOfEarlier(at: plan.host)))
            }
        }
        if standing == .unknown { return .end(.fail(.unsureOfEarlier(at: plan.host))) }
        let skips = subject.ifExists == .skip
        if !subject.hasChanged, subject.begunBefore != nil, subject.size <= Self.small, look.temporaryIsThere == false {
            if isSameSize { return .readBack }
            return .end(isOther)
        }
        if look.isFirst, standing == nil, subject.countsMarks, isSameSize, target.modified == plan.modified {
            return .end(.finish(skips ? .skipped(subject.size) : found(.stoodThere)))
        }
        return .end(skips ? .finish(.skipped(subject.size)) : .fail(.exists(at: plan.host)))
    }

    /// An earlier version of the source may have got the final name: that was written down, or a small file was begun.
    private var mayBeEarlier: Bool {
        guard plan.subject.hasChanged, !plan.subject.targetIsOther else { return false }
        guard let resume = plan.resume else { return plan.subject.begunBefore != nil }
        // A kill leaves no word of a small file's rename, whatever was written down before it.
        return resume.publishing || resume.size <= Self.small && plan.subject.begunBefore != nil
    }

    private var earlierVersion: NamedVersion? {
        if let resume = plan.resume { return NamedVersion(size: resume.size, modified: resume.modified) }
        return plan.subject.earlierVersion.map {
            NamedVersion(size: $0.size, modified: SFTPUploadPlan.kept($0.modified))
        }
    }

    /// False when the temporary file was seen with our time and the target has another: a rename would have kept it.
    private func isTimely(_ target: SFTPAttributes) -> Bool {
        point.keepsTime != true || target.modified == plan.modified
    }

    private func isRenamed(_ target: SFTPAttributes, _ standing: NamedVersion.Standing?) -> Bool {
        isTimely(target)
            && renames.explains(
                targetUnder: own.rule(plan.subject.ifExists, standing),
                hasOurTime: target.modified == plan.modified && !plan.subject.targetIsOther)
    }

    private var isOther: ProtocolAction {
        if mayBeEarlier { return .fail(.unsureOfEarlier(at: plan.host)) }
        return plan.subject.ifExists == .skip
            ? .finish(.skipped(plan.subject.size)) : .fail(.unsure(at: plan.host, "what is there is not the same file"))
    }

    mutating func openedBack(_ group: Group) -> [ProtocolAction] {
        guard case .opened(let handle)? = group.last?.reply else {
            return over(.fail(.unsure(at: plan.host, "what is there cannot be read")))
        }
        return perform(.readingBack(handle), [.sftpDigest(handle, size: plan.subject.size)])
    }

    mutating func readBack(_ group: Group, _ handle: SFTPHandle) -> [ProtocolAction] {
        let close = ProtocolAction.perform(nextID(), .sftp(.close(handle)))
        switch group.last?.outcome {
        case .digested(let theirs)?:
            state = .comparing(theirs)
            return [close, .digestSource]
        case .longer?: return [close] + over(isOther)
        default: return [close] + over(.fail(.unsure(at: plan.host, "what is there cannot be read")))
        }
    }

    mutating func compared(_ ours: TransferDigest, _ theirs: TransferDigest) -> [ProtocolAction] {
        guard ours == theirs else { return over(isOther) }
        var receipt = Receipt(.digest, bytes: plan.subject.size, verified: .digest)
        receipt.digest = ours
        receipt.foundThere = true
        return over(.finish(receipt))
    }

    // MARK: The rename

    /// All bytes are there.
    mutating func stored(isMeasured: Bool) -> [ProtocolAction] {
        if !isMeasured, plan.subject.verify == .size {
            return over(.fail(.unverifiable(at: plan.host, "took the file but does not tell its size")))
        }
        self.isMeasured = isMeasured
        if isDirect { return over(.finish(receipt(.answered))) }
        // OpenSSH refuses to replace by the rename that is no posix-rename. Elsewhere nobody knows, not where both are offered either: there
        // nothing of ours may come between the look at the target and the rename.
        // Another client may have replaced our earlier version since it was looked at.
        let mustLook = own.isKnown && plan.subject.ifExists != .replace
        if mustLook || !mayReplace && !features.isOpenSSH {
            return [.claimName(plan.path)] + perform(.askingTarget, [.status(plan.path)])
        }
        return rename()
    }

    mutating func askedTarget(_ group: Group) -> [ProtocolAction] {
        let look = TargetLook(temporaryIsThere: true, oldIsThere: true, isFirst: !hasAskedTarget)
        hasAskedTarget = true
        mayReplace = plan.subject.ifExists == .replace
        guard let target = group.last?.attributes, case .end(let action) = verdict(target, look) else {
            return rename()
        }
        return tidy([], then: action)
    }

    /// - Parameter isLast: the rename was refused time after time, and the target was not there just now. Servers name by a hard link where
    ///   nothing may be replaced, and not every file system has these; the rename that replaces needs none.
    mutating func rename(isLast: Bool = false) -> [ProtocolAction] {
        let publishing = publishing
        renames.asked()
        let replaces = features.renamesOver && (mayReplace || isLast)
        return publishing + perform(.renaming, [.rename(point.temporary, to: plan.path, replaces: replaces)])
    }

    /// The actions before the rename. The point is written down first, where it is worth it: then a missing temporary file means that the
    /// rename happened.
    private var publishing: [ProtocolAction] {
        mutating get {
            let unasked = unasked
            let (wasSaid, wasDurable) = (point.publishing, isDurable)
            point.publishing = true
            if !wasSaid, plan.subject.size > Self.small {
                return [.persist(durable), .compareSource(keeping: unasked)]
            }
            // Of a small file whoever breaks the attempt off is told (`remains`).
            if !wasSaid { isDurable = false }
            return [.compareSource(keeping: wasDurable ? unasked : nil)]
        }
    }

    mutating func renamed(_ group: Group) -> [ProtocolAction] {
        guard let end = group.last else { return [] }
        if end.reply == .done { return named(receipt(.answered)) }
        if let broken = end.brokenOff {
            // The answer is lost; the rename may have happened.
            guard case .wait(let demand) = broken, demand.reason == .backoff else { return over(broken) }
            renames.lostAnswer()
            return check(.lost(demand.error))
        }
        guard let (status, text) = end.refusal else { return over(SFTPMeaning.odd(host: plan.host)) }
        renames.refused()
        if status == .permissionDenied || SFTPMeaning.saysFull(text) {
            return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
        }
        return check(.refused(status, text))
    }

    private mutating func check(_ doubt: RenameDoubt) -> [ProtocolAction] {
        perform(.checking(doubt), [.status(plan.path), .status(point.temporary)])
    }

    mutating func checked(_ group: Group, _ doubt: RenameDoubt) -> [ProtocolAction] {
        let lost: TransferError? = if case .lost(let error) = doubt { error } else { nil }
        switch (group[0]?.attributes, group[1]?.attributes) {
        case (let target?, nil)
        where target.size == plan.subject.size && !target.isFolder
            && isRenamed(target, own.standing(StandingFile(target))):
            return named(measured(.token))
        case (let target?, .some):
            if own.isKnown { mayReplace = plan.subject.ifExists == .replace || stands(target) }
            if case .refused(let status, let text) = doubt, mayReplace, !target.isFolder {
                return replaceRefused(status, text)
            }
            let look = TargetLook(temporaryIsThere: true, oldIsThere: true, isFirst: !hasAskedTarget)
            hasAskedTarget = true
            if case .end(let action) = verdict(target, look) { return tidy([], then: action) }
            return lost == nil ? replace() : renameAgain(doubt)
        case (nil, .some):
            if case .refused(let status, let text) = doubt, hasRenamedTwice || status == .unsupported {
                return nameRefused(status, text, isFree: group[0]?.refusal?.status == .noSuchFile)
            }
            return renameAgain(doubt)
        case (_, nil):
            let gone = TransferError(
                .badServerResponse, "what was sent to \(plan.host) is gone before it had its name", .again)
            let demand = WaitDemand(.backoff, lost ?? gone)
            // Where an answer was lost the next attempt looks once more, and counts.
            guard group[1]?.refusal?.status == .noSuchFile, renames.isRefusal else { return over(.wait(demand)) }
            let last = point.vanish(at: plan.host) ?? .wait(demand)
            isDurable = true
            return forgetRename() + over(last)
        }
    }

    private mutating func stands(_ target: SFTPAttributes) -> Bool {
        !target.isFolder && own.standing(StandingFile(target)) == .ours
    }

    /// Once more: the target may have gone meanwhile, or the first rename never arrived.
    private mutating func renameAgain(_ doubt: RenameDoubt) -> [ProtocolAction] {
        var isLast = false
        switch doubt {
        case .lost(let error) where hasRenamedTwice: return over(.wait(WaitDemand(.backoff, error)))
        case .lost: break
        case .refused: isLast = point.refusedRenames ?? 0 >= HostFacts.mostRefusedRenames - 1
        }
        if isLast, features.renamesOver, !mayReplace, !hasClaimedName {
            // It replaces whatever is there by then: nothing of ours may come between the look at the target and that.
            hasClaimedName = true
            return [.claimName(plan.path)] + check(doubt)
        }
        hasRenamedTwice = true
        return rename(isLast: isLast)
    }

    /// A server with the one rename that replaces has another reason, which may pass. Only when it does not the old file is removed.
    private mutating func replaceRefused(_ status: SFTPStatus, _ text: String) -> [ProtocolAction] {
        let mayPass = features.renamesOver && status != .unsupported
        return mayPass && point.refusedRenames ?? 0 < HostFacts.mostRefusedRenames - 1
            ? nameRefused(status, text, isFree: false) : replace()
    }

    /// For a moment there is neither; a server without `posix-rename` knows no better way.
    private mutating func replace() -> [ProtocolAction] {
        let unasked = unasked
        point.removesOld = true
        point.isComplete = true
        point.publishing = true
        renames.asked()
        return [.persist(durable), .compareSource(keeping: unasked)]
            + perform(.replacing, [.remove(plan.path), .rename(point.temporary, to: plan.path, replaces: false)])
    }

    mutating func replaced(_ group: Group) -> [ProtocolAction] {
        guard let end = group.last else { return [] }
        if end.reply == .done { return named(receipt(.answered)) }
        if let broken = end.brokenOff {
            guard case .wait(let demand) = broken, demand.reason == .backoff else { return over(broken) }
            renames.lostAnswer()
            return check(.lost(demand.error))
        }
        guard let (status, text) = end.refusal else { return over(SFTPMeaning.odd(host: plan.host)) }
        renames.refused()
        if group[0]?.reply == .done { return nameRefused(status, text, isFree: true) }
        return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
    }

    /// The server refuses the name although nothing it could not replace is in its way. That it cannot rename at all is known by its own word
    /// or by file after file that it refuses; version 3 has one word for everything else, and that may pass. What was sent stays and is
    /// named by the next attempt. A server that refuses each time gets this one file under its final name.
    /// - Parameter isFree: nothing has that name.
    private mutating func nameRefused(_ status: SFTPStatus, _ text: String, isFree: Bool) -> [ProtocolAction] {
        if status == .unsupported, !features.renamesOver {
            return goDirect("the server cannot rename files", isFree: isFree) { $0.cannotRename = true }
        }
        let mayPass = [.endOfFile, .noSuchFile, .failure, .badMessage].contains(status)
        guard mayPass, !SFTPMeaning.saysFull(text) else {
            return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
        }
        let refused = min(point.refusedRenames ?? 0, HostFacts.mostRefusedRenames) + 1
        point.refusedRenames = refused
        if refused >= HostFacts.mostRefusedRenames, !features.renamesOver {
            let lesson: ((inout HostFacts) -> Void)? = isFree ? { $0.refusedRenames = 1 } : nil
            return goDirect("the server refuses to rename it, time after time", isFree: isFree, lesson: lesson)
        }
        point.isComplete = true
        if renames.isRefusal { point.disclaim() }
        isDurable = true
        let meaning = SFTPMeaning.action(.failure, text, .rename, host: plan.host, hasAccepted: hasAccepted)
        guard case .wait(let demand) = meaning else { return [.persist(durable)] + over(meaning) }
        return [.persist(durable)] + over(.wait(demand.ofFile))
    }

    /// Without a rename: the file is sent again whole, under its final name.
    private mutating func goDirect(
        _ reason: String, isFree: Bool, lesson: ((inout HostFacts) -> Void)?
    ) -> [ProtocolAction] {
        let temporary = point.temporary
        let disclaimed = disclaim()
        point.temporary = plan.path
        self.isFree = isFree
        point.owned = isFree ? .free(upTo: plan.subject.size) : nil
        isDurable = false
        isWhole = true
        return disclaimed + [.claimName(plan.path)] + (lesson.map { [learned($0)] } ?? [])
            + [startOver(reason)] + clear(temporary)
    }

    /// Something broke in the middle. A lost rename is remembered, so that the next attempt asks before it sends.
    mutating func brokenOff(_ step: Step, _ broken: ProtocolAction) -> [ProtocolAction] {
        guard case .checking(.lost) = step else { return over(broken) }
        point.publishing = true
        return [.persist(durable)] + over(broken)
    }

    // MARK: Ends

    /// Our rename gave it the name: where others were refused before, they were refused for a reason of their own.
    private mutating func named(_ receipt: Receipt) -> [ProtocolAction] {
        (facts.refusedRenames ?? 0 > 0 ? [learned { $0.refusedRenames = 0 }] : []) + over(.finish(receipt))
    }

    private func receipt(_ proof: ArrivalProof) -> Receipt {
        let checks = plan.subject.verify != VerificationWish.none && isMeasured
        var receipt = Receipt(proof, bytes: plan.subject.size, verified: checks ? .size : .none)
        receipt.shown = shown
        return receipt
    }

    /// Its length was looked at where it stands.
    private func measured(_ proof: ArrivalProof) -> Receipt {
        let checks = plan.subject.verify != VerificationWish.none
        return Receipt(proof, bytes: plan.subject.size, verified: checks ? .size : .none)
    }

    private func found(_ proof: ArrivalProof) -> Receipt {
        var found = measured(proof)
        found.foundThere = true
        return found
    }
}

extension StandingFile {
    init(_ attributes: SFTPAttributes) { self.init(size: attributes.size, modified: attributes.modified) }
}
