import TransferModel

/// The way to the final name, and what becomes of a file that is there already.
extension SFTPUpload {
    // MARK: What is there

    /// What a file under the final name means; `nil`: go on. It is ours, or the same by chance, when size and time of modification
    /// agree: SFTP keeps both.
    /// - Parameter temporaryIsThere: `nil`: nobody looked, because no earlier attempt is in doubt.
    mutating func verdict(_ target: SFTPAttributes, temporaryIsThere: Bool?) -> ProtocolAction? {
        if target.isFolder {
            let message = "a folder of that name is there already, at \(plan.host): choose another name"
            return .fail(TransferError(.destinationExists, message))
        }
        // A file that is being gathered under its final name.
        if isDirect, plan.resume?.temporary == plan.path { return nil }
        let skips = plan.subject.ifExists == .skip
        if isOurVersion(target, plan.subject.size, plan.modified) {
            return .finish(skips && !isInDoubt ? skipped : found)
        }
        if let old = plan.resume, plan.subject.hasChanged, isOurVersion(target, old.size, old.modified) {
            mayReplace = true
            return nil
        }
        // The rename has happened only if the temporary file is gone.
        if isInDoubt, temporaryIsThere == false {
            if target.size == plan.subject.size, isNotOlderThanAttempt(target) { return .finish(found) }
            if plan.subject.ifExists != .replace, !skips, plan.resume != nil || plan.subject.size <= Self.small {
                return .fail(.unsure(at: plan.host, "what is there is not the same file"))
            }
        }
        switch plan.subject.ifExists {
        case .replace: return nil
        case .skip: return .finish(skipped)
        case .fail, .rename, .resume: return .fail(.exists(at: plan.host))
        }
    }

    /// An attempt may have come to the rename without anybody knowing.
    private var isInDoubt: Bool { plan.subject.begunBefore != nil || plan.resume?.publishing == true }

    private func isOurVersion(_ target: SFTPAttributes, _ size: Int64, _ modified: Int64) -> Bool {
        target.size == size && target.modified == modified
    }

    /// Servers that keep no times give a file the moment of its last byte.
    private func isNotOlderThanAttempt(_ target: SFTPAttributes) -> Bool {
        guard let modified = target.modified, let begun = plan.subject.begunBefore else { return false }
        return modified + 2 >= begun.milliseconds / 1000
    }

    // MARK: The rename

    /// All bytes are there.
    mutating func stored(isMeasured: Bool) -> [ProtocolAction] {
        if !isMeasured, plan.subject.verify == .size {
            return over(.fail(.unverifiable(at: plan.host, "took the file but does not tell its size")))
        }
        self.isMeasured = isMeasured
        if isDirect { return over(.finish(receipt)) }
        // OpenSSH, which has the one rename that replaces, refuses to replace by the other. Elsewhere nobody knows.
        if !hasAskedTarget, !mayReplace, !features.renamesOver {
            hasAskedTarget = true
            return perform(.askingTarget, [.status(plan.path)])
        }
        return rename()
    }

    mutating func askedTarget(_ group: Group) -> [ProtocolAction] {
        guard let target = group.last?.attributes, let action = verdict(target, temporaryIsThere: true) else {
            return rename()
        }
        return tidy([], then: action)
    }

    mutating func rename() -> [ProtocolAction] {
        perform(.renaming, [.rename(point.temporary, to: plan.path, replaces: mayReplace && features.renamesOver)])
    }

    mutating func renamed(_ group: Group) -> [ProtocolAction] {
        guard let end = group.last else { return [] }
        if end.outcome == .done { return over(.finish(receipt)) }
        if let broken = end.brokenOff {
            // The answer is lost; the rename may have happened.
            guard case .wait(let demand) = broken, demand.reason == .backoff else { return over(broken) }
            return check(lost: demand.error)
        }
        guard let (status, text) = end.refusal else { return over(SFTPMeaning.odd(host: plan.host)) }
        if status == .permissionDenied || SFTPMeaning.saysFull(text) {
            return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
        }
        return check(lost: nil)
    }

    private mutating func check(lost: TransferError?) -> [ProtocolAction] {
        perform(.checking(lost: lost), [.status(plan.path), .status(point.temporary)])
    }

    mutating func checked(_ group: Group, lost: TransferError?) -> [ProtocolAction] {
        switch (group[0]?.attributes, group[1]?.attributes) {
        case (let target?, nil) where target.size == plan.subject.size && !target.isFolder:
            // Only our rename takes the temporary file away.
            return over(.finish(receipt))
        case (let target?, .some):
            if lost == nil, mayReplace, !target.isFolder { return replace() }
            if let action = verdict(target, temporaryIsThere: true) { return tidy([], then: action) }
            return lost == nil ? replace() : renameAgain(lost)
        case (nil, .some):
            if lost != nil || !hasRenamedTwice { return renameAgain(lost) }
            return goDirect()
        case (_, nil):
            let message = "what was sent to \(plan.host) is gone before it had its name: Martlet tries again by itself"
            return over(.wait(WaitDemand(.backoff, lost ?? TransferError(.badServerResponse, message))))
        }
    }

    /// Once more: the target may have gone meanwhile, or the first rename never arrived.
    private mutating func renameAgain(_ lost: TransferError?) -> [ProtocolAction] {
        if let lost, hasRenamedTwice { return over(.wait(WaitDemand(.backoff, lost))) }
        hasRenamedTwice = true
        return rename()
    }

    /// For a moment there is neither; a server without `posix-rename` knows no better way.
    private mutating func replace() -> [ProtocolAction] {
        perform(.replacing, [.remove(plan.path), .rename(point.temporary, to: plan.path, replaces: false)])
    }

    mutating func replaced(_ group: Group) -> [ProtocolAction] {
        guard let end = group.last else { return [] }
        if end.outcome == .done { return over(.finish(receipt)) }
        if let broken = end.brokenOff {
            guard case .wait(let demand) = broken, demand.reason == .backoff else { return over(broken) }
            return check(lost: demand.error)
        }
        guard let (status, text) = end.refusal else { return over(SFTPMeaning.odd(host: plan.host)) }
        // With nothing at the target any more, a server that still refuses knows no rename.
        if group[0]?.outcome == .done, status != .permissionDenied { return goDirect() }
        return over(SFTPMeaning.action(status, text, .rename, host: plan.host, hasAccepted: hasAccepted))
    }

    /// A server without rename: the file is sent again whole, under its final name.
    private mutating func goDirect() -> [ProtocolAction] {
        let temporary = point.temporary
        point.temporary = plan.path
        isDurable = false
        isWhole = true
        return [learned { $0.cannotRename = true }, .startOver(reason: "the server cannot rename files")]
            + open(asksTarget: false, first: [.remove(temporary)])
    }

    /// Something broke in the middle. A lost rename is remembered, so that the next attempt asks before it sends.
    mutating func brokenOff(_ step: Step, _ broken: ProtocolAction) -> [ProtocolAction] {
        guard case .checking(.some) = step else { return over(broken) }
        point.publishing = true
        return [.persist(ResumePoint(point))] + over(broken)
    }

    // MARK: Ends

    /// Takes away what serves nothing any more, then says it. What a failed task has gathered stays: its resume point names it, so that a
    /// retry goes on and `leftovers` finds it.
    mutating func tidy(_ first: [SFTPExchange], then action: ProtocolAction) -> [ProtocolAction] {
        var operations = first
        if case .fail = action, isDurable {} else if !isDirect { operations.append(.remove(point.temporary)) }
        return operations.isEmpty ? over(action) : perform(.tidying(then: action), operations)
    }

    private var receipt: Receipt {
        let checks = plan.subject.verify != VerificationWish.none && isMeasured
        return Receipt(bytes: plan.subject.size, verified: checks ? .size : .none)
    }

    private var found: Receipt {
        var found = Receipt(bytes: plan.subject.size, verified: .size)
        found.foundThere = true
        return found
    }

    private var skipped: Receipt {
        var skipped = Receipt(bytes: plan.subject.size, verified: .none)
        skipped.skipped = true
        return skipped
    }
}
