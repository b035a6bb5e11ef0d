import TransferModel
import WireOperations

/// The remains of earlier attempts, and the name that the bytes go to.
extension DavUpload {
    mutating func begin() -> [ProtocolAction] {
        if plan.resume != nil {
            return claim() + (plan.subject.hasChanged ? recall() : ask(.probing))
        }
        // To look first costs a small file as much as to send it and be refused.
        let isSmall = plan.subject.size <= Self.unlooked && !own.isKnown
        if plan.subject.ifExists == .replace || isSmall { return fresh() }
        return ask(.looking)
    }

    mutating func probed(_ finding: DavFinding) -> [ProtocolAction] {
        if isStraight { before = NameBefore(finding) }
        switch finding {
        case .found(let file) where file.size == plan.subject.size && !isStraight:
            if let until = point.busyUntil, now < until {
                let latest = now.advanced(by: .hour)
                guard until > latest else { return [.accepted(plan.subject.size)] + lookLater() }
                // The clock was set since: no wait is longer than an hour.
                point.busyUntil = latest
                return [.accepted(plan.subject.size), .persist(durable)] + lookLater()
            }
            // An equal length would pass as size only. A digest is wanted, which only the answer to a PUT tells.
            if mustCompare { return startOver("the server's SHA-256 of the file was not heard") }
            isMeasured = true
            wasWholeBefore = true
            return [.resumed(at: plan.subject.size)] + whole()
        case .missing where point.publishing: return ask(.proving(isTarget: true, nil))
        case .found where !isStraight: return again() + clear()
        // Without a temporary name the file may be anybody's.
        case .found(let file):
            _ = judge(file)
            return own.mayReplace ? again() + fresh() : recognise(file)
        default: return again() + fresh()
        }
    }

    mutating func recognise(_ file: DavResource) -> [ProtocolAction] {
        guard !file.isFolder, let look = BeginningLook(length: file.size, sourceSize: plan.subject.size) else {
            return notOurs()
        }
        return read(look, file)
    }

    private mutating func read(_ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        perform(.http(HTTPExchange(.get, plan.address, headers: look.headers, sink: look.sink))) {
            .reading($0, look, file)
        }
    }

    mutating func read(_ end: ExchangeEnd, _ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        if let demand = end.passing(host: host) { return over(.wait(demand)) }
        var look = look
        switch look.read(end) {
        case .empty: return replace(file)
        case .bytes(let theirs):
            state = .matching(theirs, look, file)
            return [.digestRange(look.range, [theirs.algorithm])]
        case .other: return notOurs()
        }
    }

    mutating func matched(_ look: BeginningLook, _ file: DavResource) -> [ProtocolAction] {
        var look = look
        if look.goOn() { return read(look, file) }
        guard look.isWhole else { return replace(file) }
        var receipt = Receipt(.digest, bytes: plan.subject.size, verified: .digest)
        (receipt.foundThere, receipt.etag) = (true, file.etag)
        return over(.finish(receipt))
    }

    /// An earlier attempt has sent what has the target's name.
    private mutating func replace(_ file: DavResource) -> [ProtocolAction] {
        own.found(StandingFile(file))
        own.recognised()
        return again() + fresh()
    }

    mutating func notOurs() -> [ProtocolAction] {
        over(.fail(.unsure(at: host, "nothing tells whether what is there is a part of the file")))
    }

    /// Bytes of an earlier attempt, or of an earlier version of the source, may have the target's name.
    var mayHaveSent: Bool { plan.subject.begunBefore != nil || plan.resume != nil }

    /// Says that bytes were lost, when some surely were sent.
    private func again() -> [ProtocolAction] {
        guard point.wasCut || plan.subject.begunBefore != nil else { return [] }
        return [.startOver(reason: "WebDAV cannot go on in the middle of a file")]
    }

    /// Begins under a name that nobody uses. It is durable before the first byte.
    mutating func fresh() -> [ProtocolAction] {
        if mustLookStraight { return claim() + ask(.looking) }
        let path =
            facts.cannotRename == true
            ? plan.address.target
            : DavMessages.temporary(plan.address, token: plan.subject.token, generation: point.generation)
        let (unanswered, vanished) = (point.unanswered, point.vanished)
        point = DavResumePoint(temporary: path, generation: point.generation)
        (point.unanswered, point.vanished) = (unanswered, vanished)
        renames.forget()
        if plan.subject.verify == .digest, digest == nil {
            state = .digesting
            return [.persist(durable), .digestSource]
        }
        return [.persist(durable)] + send()
    }

    /// The file goes straight to the target, and nothing but a condition, which not every server heeds, would spare what is there.
    private var mustLookStraight: Bool { facts.cannotRename == true && !own.mayReplace && !before.isFree }

    /// Another file of ours is not to get the target's name between the look at it and the PUT.
    private func claim() -> [ProtocolAction] {
        facts.cannotRename == true && !own.mayReplace ? [.claimName(RawPath(plan.address.target))] : []
    }

    /// Before anything of the earlier version is thrown away it is asked whether it has the final name, or may yet get it.
    private mutating func recall() -> [ProtocolAction] {
        let matters = plan.subject.ifExists != .replace || point.busyUntil != nil
        guard point.publishing, matters, !isStraight else { return clear() }
        return ask(.recalling(isTarget: false))
    }

    mutating func recalled(_ finding: DavFinding, _ isTarget: Bool) -> [ProtocolAction] {
        switch finding {
        case .found where !isTarget:
            // A server that copies until an hour is over brings the old version after the new one.
            if let until = point.busyUntil, now < until, until <= now.advanced(by: .hour) { return lookLater() }
            return clear()
        case .missing: return isTarget ? clear() : ask(.recalling(isTarget: true))
        case .found(let file):
            if plan.subject.ifExists == .replace { return clear() }
            let seconds = file.modified.map { $0.milliseconds / 1000 }
            let standing = (point.version ?? plan.subject.earlierVersion)?.standing(size: file.size, modified: seconds)
            // The version before that one may still have the name.
            if standing != .ours, judge(file) == .ours { return clear() }
            switch file.isFolder ? .foreign : standing {
            case .ours?:
                own.found(StandingFile(file))
                return clear(owns: true)
            case .foreign?: return disclaim(throwsAway: true) + over(existing(file, isFirst: false))
            case .unknown?, nil: break
            }
        case .unknownMethod, .other: if plan.subject.ifExists == .replace { return clear() }
        }
        return over(.fail(.unsureOfEarlier(at: plan.address.server)))
    }

    /// Throws away what is there, and begins with another name: a dead PUT may still hold a lock on the old one.
    /// - Parameter owns: an earlier version of the source was recognised under the final name.
    mutating func clear(owns: Bool = false) -> [ProtocolAction] {
        let old = DavResumePoint(temporary: point.temporary, generation: point.generation)
        let wasStraight = isStraight
        let disclaimed = disclaim(throwsAway: true, owns: owns)
        point.generation += 1
        // The next PUT replaces a file that was sent under its final name.
        if wasStraight { return fresh() }
        let address = HTTPAddress(plan.address, target: old.temporary)
        return disclaimed + perform(.http(DavMessages.remove(address))) { .clearing($0, old) }
    }

    /// A temporary file that the server has not removed by its own word is known as left.
    mutating func noteRemoval(of point: DavResumePoint, _ end: ExchangeEnd) {
        if !end.isGone { unremoved.append(ResumePoint(point)) }
    }

    mutating func startOver(_ reason: String) -> [ProtocolAction] { [.startOver(reason: reason)] + clear() }

    /// Compares our earlier version with a file that has the target's name.
    mutating func judge(_ file: DavResource) -> NamedVersion.Standing? {
        own.standing(StandingFile(file), isFolder: file.isFolder)
    }
}
