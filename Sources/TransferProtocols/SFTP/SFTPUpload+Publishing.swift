import TransferModel
import WireOperations

/// The way to the final name.
extension SFTPUpload {
    /// All bytes are there.
    mutating func stored() -> [ProtocolAction] {
        if seen?.size == nil, plan.subject.verify == .size {
            return over(.fail(.unverifiable(at: plan.host, "took the file but does not tell its size")))
        }
        if isDirect { return over(.finish(receipt(.answered))) }
        // OpenSSH's plain rename never replaces a file. Other servers may, even when they offer posix-rename, too: there the name is claimed and
        // asked for right before the rename.
        // Another client may have replaced our earlier version since it was looked at.
        let mustLook = own.isKnown && plan.subject.ifExists != .replace
        if mustLook || !own.mayReplace && !features.isOpenSSH {
            return [.claimName(plan.path)] + perform(.askingTarget, [.status(plan.path)])
        }
        return rename()
    }

    mutating func askedTarget(_ group: Group) -> [ProtocolAction] {
        let look = TargetLook(temporaryIsThere: true, oldIsThere: true, isFirst: !hasAskedTarget)
        hasAskedTarget = true
        own.forgetLook()
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
        let replaces = features.renamesOver && (own.mayReplace || isLast)
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
            if own.isKnown { _ = own.standing(StandingFile(target), isFolder: target.isFolder) }
            if case .refused(let status, let text) = doubt, own.mayReplace, !target.isFolder {
                return replaceRefused(status, text)
            }
            let look = TargetLook(temporaryIsThere: true, oldIsThere: true, isFirst: !hasAskedTarget)
            hasAskedTarget = true
            if case .end(let action) = verdict(target, look) { return tidy([], then: action) }
            return lost == nil ? replace() : renameAgain(doubt)
        case (nil, .some):
            if case .refused(let status, let text) = doubt, naming == .second || status == .unsupported {
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

    /// Once more: the target may have gone meanwhile, or the first rename never arrived.
    private mutating func renameAgain(_ doubt: RenameDoubt) -> [ProtocolAction] {
        var isLast = false
        switch doubt {
        case .lost(let error) where naming == .second: return over(.wait(WaitDemand(.backoff, error)))
        case .lost: break
        case .refused: isLast = point.refusedRenames ?? 0 >= HostFacts.mostRefusedRenames - 1
        }
        if isLast, features.renamesOver, !own.mayReplace, naming == .first {
            // It replaces whatever is there by then: nothing of ours may come between the look at the target and that.
            naming = .claimed
            return [.claimName(plan.path)] + check(doubt)
        }
        naming = .second
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
        beginning.beginAnew()
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
        let checks = plan.subject.verify != VerificationWish.none && seen?.size != nil
        var receipt = Receipt(proof, bytes: plan.subject.size, verified: checks ? .size : .none)
        receipt.shown = seen?.modified
        return receipt
    }

    /// Its length was looked at where it stands.
    func measured(_ proof: ArrivalProof) -> Receipt {
        let checks = plan.subject.verify != VerificationWish.none
        return Receipt(proof, bytes: plan.subject.size, verified: checks ? .size : .none)
    }
}
