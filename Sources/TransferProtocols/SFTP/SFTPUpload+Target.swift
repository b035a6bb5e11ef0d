import TransferModel
import WireOperations

/// The end of an upload, or its way on, where a file has the final name already.
extension SFTPUpload {
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
            let isOurs = point.owned?.covers(target.size, confirmed: confirmed, longest: point.longest) == true
            if isOurs { own.recognised() }
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
        if standing == .ours { return .goOn }
        if look.oldIsThere == false, mayBeEarlier {
            switch earlierVersion?.standing(size: target.size, modified: target.modified) {
            case .ours?:
                own.found(StandingFile(target))
                own.recognised()
                isDurable = false
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

    func isRenamed(_ target: SFTPAttributes, _ standing: NamedVersion.Standing?) -> Bool {
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

    private func found(_ proof: ArrivalProof) -> Receipt {
        var found = measured(proof)
        found.foundThere = true
        return found
    }
}

extension StandingFile {
    init(_ attributes: SFTPAttributes) { self.init(size: attributes.size, modified: attributes.modified) }
}
