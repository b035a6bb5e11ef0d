import TransferModel

/// Goes on from what an earlier attempt left, once it is known to be ours and does not move any more.
extension FTPUpload {
    mutating func measured(_ end: FTPEnd) -> [ProtocolAction] {
        if let size = end.size {
            if isStraight { before = NameBefore(end) }
            if size > 0, isStraight {
                // To our own earlier version nothing can be added.
                if !point.publishing, own.standing(StandingFile(end)) == .ours { return replaceOwn() }
                if !point.mayBe(size), plan.subject.ifExists == .replace {
                    return startOver("what is there cannot be what was sent")
                }
                guard point.mayBe(size) else {
                    let why = "it cannot rename files, and nothing tells whether what is there is ours"
                    return over(.fail(.unsure(at: plan.host, why)))
                }
                point.owned = .written
                // Nor to what stood there before it was begun, and may stand there still.
                if point.unanswered != nil { return replaceOwn() }
            }
            if size > 0, size < plan.subject.size, facts.cannotResume != true {
                state = .settling(nil, last: size, round: 1)
                return [.wake(.probeAgain, after: .milliseconds(250))]
            }
            return stands(at: size)
        }
        if end.isMissing {
            if isStraight { look(end) }
            if point.publishing { return ask(plan.path) { .proving($0, isTarget: true, .earlier) } }
            let wasThere = point.seen > 0
            return (wasThere ? [.startOver(reason: "the temporary file is not there any more")] : []) + fresh()
        }
        if end.isUnknownCommand { return startOver("the server does not tell how much it has") }
        return stop(end)
    }

    mutating func settled(_ end: FTPEnd, _ last: Int64, _ round: Int) -> [ProtocolAction] {
        guard let size = end.size else { return end.isMissing ? measured(end) : stop(end) }
        // A minute: a server that is still at it by then reads from a line that is not quite dead.
        if size != last, size < plan.subject.size, round < 120 {
            state = .settling(nil, last: size, round: round + 1)
            return [.wake(.probeAgain, after: .milliseconds(500))]
        }
        return stands(at: size)
    }

    /// The server has so much of the temporary file, and it does not move.
    private mutating func stands(at size: Int64) -> [ProtocolAction] {
        if size > plan.subject.size { return startOver("the temporary file is longer than the source") }
        if size == 0, plan.subject.size > 0 { return takeEmpty() + send(0..<plan.subject.size) }
        if size == plan.subject.size { return [.resumed(at: size)] + whole() }
        if facts.cannotResume == true { return startOver("the server cannot go on in the middle") }
        return [.resumed(at: size)] + goOn(at: size)
    }

    /// Under the final name an empty file is taken for ours, like none.
    private mutating func takeEmpty() -> [ProtocolAction] {
        guard isStraight, point.owned == nil else { return [] }
        point.owned = .free(upTo: plan.subject.size)
        return [.persist(durable)]
    }

    mutating func goOn(at size: Int64) -> [ProtocolAction] {
        // Nothing came of the last attempt. A server whose disk is full may break the line off, and is heard on it only when all that it
        // was sent fits into the pipes.
        let isStuck = size > 0 && point.seen == size
        let end = isStuck ? min(plan.subject.size, size + Self.question) : plan.subject.size
        accepted = size
        point.seen = size
        return [.accepted(size), .persist(durable)] + send(size..<end)
    }

    /// Bytes that are sent to hear what the server says.
    private static let question: Int64 = 4096

    // MARK: An earlier version of the source

    /// Before anything of the earlier version is thrown away it is asked whether it has the final name. Where any file may be replaced that
    /// matters only when the old one was removed for it.
    mutating func recall() -> [ProtocolAction] {
        let matters = point.publishing && plan.subject.ifExists != .replace
        guard matters || point.removesOld == true else { return clear() }
        return ask(point.temporary) { .recalling($0, .temporary) }
    }

    mutating func recalled(_ end: FTPEnd, _ recall: Recall) -> [ProtocolAction] {
        let isMissing = end.isFree
        switch recall {
        case .temporary:
            if end.size != nil, point.removesOld != true { return clear() }
            if end.size != nil || isMissing { return askTarget(temporaryIsThere: end.size != nil) }
            guard end.isUnknownCommand else { return stop(end) }
            return point.removesOld == true ? nameEarlier() : over(.fail(.unsureOfEarlier(at: plan.host)))
        case .target(let temporaryIsThere):
            if isMissing { return temporaryIsThere ? nameEarlier() : clear() }
            guard let size = end.size else { return stop(end) }
            if temporaryIsThere || plan.subject.ifExists == .replace { return clear() }
            let file = StandingFile(end)
            let named = point.version ?? plan.subject.earlierVersion
            let standing = named?.standing(size: size, modified: file.modified)
            // The version before that one may have the name still.
            if standing != .ours, own.standing(file) == .ours { return clear() }
            switch standing {
            case .ours?:
                own.found(file)
                return clear(owns: true)
            case .foreign?: return disclaim(throwsAway: true) + over(existing(size, end.modified, isFirst: false))
            case .unknown?, nil: return over(.fail(.unsureOfEarlier(at: plan.host)))
            }
        case .naming:
            if end.isDone {
                own.named(point.version ?? plan.subject.earlierVersion)
                return clear(owns: true)
            }
            if end.command == "RNFR", isMissing { return clear() }
            return over(FTPMeaning(end, host: plan.host, hasAccepted: true).action)
        }
    }

    private mutating func askTarget(temporaryIsThere: Bool) -> [ProtocolAction] {
        [.claimName(plan.path)]
            + ask(plan.path) { .recalling($0, .target(temporaryIsThere: temporaryIsThere)) }
    }

    /// The old file is gone, and what was gathered for it is all that is left.
    private mutating func nameEarlier() -> [ProtocolAction] {
        perform(FTPMessages.rename(point.temporary, to: plan.path)) { .recalling($0, .naming) }
    }
}
