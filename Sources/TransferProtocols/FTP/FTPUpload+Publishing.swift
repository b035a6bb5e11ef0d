import TransferModel
import WireOperations

/// Gives the temporary file the target's name, and finds out what happened when the answer to that is lost.
extension FTPUpload {
    /// The action that the rule for existing files demands for a file that has the target's name.
    /// - Parameter isFirst: nothing of this task could have had that name yet: then size and time count.
    func existing(_ size: Int64, _ modified: Timestamp?, isFirst: Bool) -> ProtocolAction {
        if plan.subject.ifExists == .skip { return .finish(.skipped(plan.subject.size)) }
        // Size alone is never the same; MDTM knows seconds.
        let seconds = plan.subject.modifiedNanoseconds / 1_000_000_000
        guard isFirst, plan.subject.countsMarks, plan.subject.verify != .digest, size == plan.subject.size,
            let modified, modified.milliseconds / 1000 == seconds
        else {
            return .fail(.exists(at: plan.host))
        }
        var receipt = Receipt(.stoodThere, bytes: plan.subject.size, verified: .size)
        receipt.foundThere = true
        return .finish(receipt)
    }

    /// Every byte is there and compared; now its name. RNTO may replace what has it, and servers have their own mind on which names are the
    /// same: the target is asked for once more, while no other file of ours gets a name like it.
    mutating func prepare() -> [ProtocolAction] {
        if isStraight || plan.subject.ifExists == .replace { return publish(removesOld: false) }
        return [.claimName(plan.path)] + ask(plan.path) { .lookingAgain($0, refusal: nil) }
    }

    /// Durable before it is asked for: then a missing temporary file means that it happened.
    private mutating func publish(removesOld: Bool) -> [ProtocolAction] {
        let exchange = FTPMessages.publish(
            point.temporary, as: plan.path, modified: plan.subject.modifiedNanoseconds / 1_000_000_000,
            removesOld: removesOld)
        let unasked = unasked
        point.publishing = true
        point.version = NamedVersion(plan.subject)
        renames.asked()
        if removesOld { point.removesOld = true }
        return [.persist(durable), .compareSource(keeping: unasked)]
            + perform(exchange) { .publishing($0, removesOld: removesOld) }
    }

    /// - Parameter refusal: the rename was refused: is there a file in its way?
    mutating func lookedAgain(_ end: FTPEnd, _ refusal: FTPEnd?) -> [ProtocolAction] {
        look(end)
        let replaces = plan.subject.ifExists == .replace && refusal != nil
        if replaces, end.size != nil || end.isUnknownCommand { return publish(removesOld: true) }
        if let size = end.size {
            switch own.standing(StandingFile(end)) {
            case .ours?: return publish(removesOld: refusal != nil)
            case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.host)))
            case .foreign?, nil: break
            }
            let action = existing(size, end.modified, isFirst: false)
            return disclaim() + perform(FTPMessages.remove(point.temporary)) { .leaving($0, action) }
        }
        guard let refusal else {
            if end.isFree { return publish(removesOld: false) }
            guard end.isUntold else { return stop(end) }
            let unseen = TransferError.cannotProtect(at: plan.host)
            return disclaim() + perform(FTPMessages.remove(point.temporary)) { .leaving($0, .fail(unseen)) }
        }
        guard end.isRefusal, end.reply >= 500, !end.isLoginRefused, end.reply != 530 else { return stop(end) }
        return perform(.ftp(.enter(plan.path))) { .entering($0, refusal: refusal) }
    }

    mutating func entered(_ end: FTPEnd, _ refusal: FTPEnd) -> [ProtocolAction] {
        guard end.isDone else { return end.isRefusal && end.reply != 421 ? stop(whole: refusal) : stop(end) }
        let folder = TransferError.folderStands(at: plan.host)
        return disclaim() + perform(FTPMessages.remove(point.temporary)) { .leaving($0, .fail(folder)) }
    }

    mutating func published(_ end: FTPEnd, _ removesOld: Bool) -> [ProtocolAction] {
        // Under its final name already, only its time was set, and that may fail.
        if end.isDone || isStraight {
            let canRename = !isStraight && facts.refusedRenames ?? 0 > 0
            return (canRename ? [.learned(HostFacts { $0.refusedRenames = 0 })] : [])
                + over(.finish(receipt(.answered)))
        }
        if !end.isRefusal || end.reply == 421 {
            guard case .wait(let demand) = meaning(end) else { return stop(end) }
            renames.lostAnswer()
            return ask(point.temporary) { .proving($0, isTarget: false, .now(demand)) }
        }
        // Whatever the reason, this rename does not happen any more.
        renames.refused()
        if end.isLoginRefused || end.reply == 530 { return stop(end) }
        if end.isUnknownCommand {
            return goStraight("the server cannot rename files", lesson: HostFacts { $0.cannotRename = true })
        }
        if end.reply < 500 { return stop(end) }
        if end.command == "RNFR" { return ask(point.temporary) { .proving($0, isTarget: false, .refused(end)) } }
        // Only what is in the way is worth removing: no room comes of that. To forbid may mean to replace by a rename.
        if removesOld || end.saysFull { return stop(whole: end) }
        return ask(plan.path) { .lookingAgain($0, refusal: end) }
    }

    /// Every byte is there: whoever refuses the name takes a permission away.
    private mutating func stop(whole refusal: FTPEnd) -> [ProtocolAction] {
        over(FTPMeaning(refusal, host: plan.host, hasAccepted: true).action)
    }

    mutating func proved(_ end: FTPEnd, _ isTarget: Bool, _ doubt: Doubt) -> [ProtocolAction] {
        if isTarget { look(end) }
        let standing = isTarget && end.size != nil ? own.standing(StandingFile(end)) : nil
        switch (isTarget, end.size) {
        case (false, _?):
            // It still has its old name.
            switch doubt {
            case .earlier: return stop(end)
            case .now(let demand): return over(.wait(demand))
            case .refused(let refusal): return renameRefused(refusal)
            }
        case (false, nil):
            guard end.isMissing else { return stop(end) }
            return ask(plan.path) { .proving($0, isTarget: true, doubt) }
        case (true, plan.subject.size?):
            guard isRenamed(end, standing) else {
                if standing == .ours { return vanishedEarlier() }
                if doubt != .earlier, plan.subject.ifExists != .replace {
                    return over(.fail(.unsure(at: plan.host, "nothing tells whether what is there is the same file")))
                }
                return vanishedEarlier()
            }
            var receipt = receipt(.token)
            receipt.foundThere = doubt == .earlier
            return over(.finish(receipt))
        case (true, let other?):
            // The wish is that what is there goes, whosever it is.
            if plan.subject.ifExists == .replace || standing == .ours { return vanishedEarlier() }
            return over(.fail(.unsure(at: plan.host, "what is there has \(other) bytes, not \(plan.subject.size)")))
        case (true, nil):
            guard end.isMissing else { return stop(end) }
            let demand: WaitDemand
            switch doubt {
            case .earlier: return vanishedEarlier()
            case .now(let lost): demand = lost
            case .refused:
                demand = WaitDemand(
                    .backoff,
                    TransferError(.networkConnectionLost, "\(plan.host) does not find the temporary file", .again))
            }
            // Where an answer was lost the next attempt asks once more, and counts.
            return renames.isRefusal ? vanished(else: demand) : over(.wait(demand))
        }
    }

    /// The server has the temporary file whole and does not let it be renamed: that may pass, or be its rule (a drop box). A server that
    /// refuses time after time gets this file under its final name, and after some such files all.
    private mutating func renameRefused(_ end: FTPEnd) -> [ProtocolAction] {
        if end.saysFull { return stop(whole: end) }
        let refused = min(point.refusedRenames ?? 0, HostFacts.mostRefusedRenames) + 1
        if refused >= HostFacts.mostRefusedRenames {
            return goStraight(
                "the server refuses to rename it, time after time", lesson: HostFacts { $0.refusedRenames = 1 })
        }
        point.refusedRenames = refused
        let refusal = TransferError(.http, "\(plan.host) answered \(end.reply)\(end.quoted) to the rename", .again)
        // The end takes the intent back, unless an earlier rename may yet happen.
        return (renames.isRefusal ? [] : [.persist(durable)]) + over(.wait(WaitDemand(.backoff, refusal).ofFile))
    }

    private func isRenamed(_ target: FTPEnd, _ standing: NamedVersion.Standing?) -> Bool {
        renames.explains(
            targetUnder: own.rule(plan.subject.ifExists, standing), hasOurTime: plan.subject.hasTime(target.modified))
    }

    private func receipt(_ proof: ArrivalProof) -> Receipt {
        let isCompared = plan.subject.verify != VerificationWish.none
        var receipt = Receipt(
            proof, bytes: plan.subject.size, verified: digest != nil ? .digest : isCompared ? .size : .none)
        receipt.digest = digest
        receipt.shown = shown
        return receipt
    }
}

extension StandingFile {
    init(_ end: FTPEnd) { self.init(size: end.size, modified: end.modified.map { $0.milliseconds / 1000 }) }
}

extension NameBefore {
    init(_ end: FTPEnd) {
        if end.size != nil { self = .file(StandingFile(end)) } else { self = end.isFree ? .nothing : .untold }
    }
}
