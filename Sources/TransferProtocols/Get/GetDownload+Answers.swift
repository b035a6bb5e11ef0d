import TransferModel
import WireOperations

/// Decides by an answer's head about the bytes that follow.
extension GetDownload {
    mutating func answered(
        _ answer: HTTPAnswer, to request: Request, _ id: ExchangeID, at now: Timestamp
    ) -> [ProtocolAction] {
        if [200, 203, 206].contains(answer.status), answer.hasImpossibleLength {
            return over(id, .fail(.impossibleLength(at: chain.address.server, status: answer.status)))
        }
        switch answer.status {
        case 200, 203: return whole(answer, to: request, id, at: now)
        case 206: return part(answer, to: request, id, at: now)
        case 416 where request.offset > 0: return outside(answer, id)
        case 412 where request.offset > 0: return changed(id)
        default: break
        }
        if let actions = misunderstood(answer, request, at: now) { return [.abandon(id)] + actions }
        switch AnswerMeaning(answer, host: chain.address.server, hasAccepted: accepted > 0, at: now) {
        case .success:
            let finding = AnswerMeaning.finding(answer.status, host: chain.address.server)
            return over(id, .fail(TransferError(.badServerResponse, finding, httpStatus: answer.status)))
        case .redirect:
            if let error = chain.follow(answer, keepsMethod: false) { return over(id, .fail(error)) }
            return [.abandon(id)] + ask(request)
        case .wait(let demand): return over(id, .wait(demand))
        case .fail(let error):
            if let firstReading { return [.abandon(id)] + refusedAgain(firstReading, answer.status) }
            return over(id, .fail(error))
        }
    }

    /// The whole file: the first time, because the version changed, or because the server ignores ranges.
    private mutating func whole(
        _ answer: HTTPAnswer, to request: Request, _ id: ExchangeID, at now: Timestamp
    ) -> [ProtocolAction] {
        let version = RemoteVersion(answer)
        if let page = pageInstead(answer) { return instead(id, page) }
        if let firstReading, firstReading.version.showsChange(to: version), let refusal = refuseChange(id) {
            return refusal
        }
        guard request.offset > 0, let known else {
            return open(id, version, answer, from: GateOpening(offset: 0, total: version.total), at: now)
        }
        let isSame = known.isSame(as: version)
        if isSame, request.isGuarded, !request.isSecondTry {
            return [.abandon(id)] + ask(from: request.offset, isSecondTry: true)
        }
        if !isSame, let refusal = refuseChange(id) { return refusal }
        return startOver(isSame ? "the server sends whole files only" : "changed at the server", isOther: !isSame)
            + open(id, version, answer, from: GateOpening(offset: 0, total: version.total), at: now)
    }

    mutating func part(
        _ answer: HTTPAnswer, to request: Request, _ id: ExchangeID, at now: Timestamp
    ) -> [ProtocolAction] {
        guard let range = answer.field("content-range").flatMap(ContentRange.init), let bytes = range.bytes else {
            // Without a range header, or with several in a multipart body: neither was asked for.
            if request.offset > 0 { return again(id, "the server's partial answer cannot be placed") }
            return over(id, .wait(WaitDemand(.backoff, badRange)))
        }
        let version = RemoteVersion(answer)
        if let page = pageInstead(answer) { return instead(id, page) }
        if request.offset > 0 {
            guard let known = plan.resume, known.version.isSame(as: version) else { return changed(id) }
            if let mine = known.promised, let theirs = answer.fileDigest, mine != theirs { return changed(id) }
        }
        // Without the file's length nothing shows whether the part goes on to the end.
        let total = range.total ?? (request.offset > 0 ? plan.resume?.version.total : nil)
        guard let total, bytes.lowerBound <= request.offset, bytes.upperBound >= request.offset,
            bytes.upperBound == total - 1
        else {
            if request.offset > 0 { return again(id, "the server's partial answer does not fit") }
            return over(id, .wait(WaitDemand(.backoff, badRange)))
        }
        let opening = GateOpening(
            offset: request.offset, skip: request.offset - bytes.lowerBound, total: total)
        return (request.offset > 0 ? [.resumed(at: request.offset)] : [])
            + open(id, version, answer, from: opening, at: now)
    }

    /// The file is not longer than what we have: it may be exactly that.
    private mutating func outside(_ answer: HTTPAnswer, _ id: ExchangeID) -> [ProtocolAction] {
        guard let point = plan.resume, let range = answer.field("content-range").flatMap(ContentRange.init),
            range.bytes == nil, range.total == point.offset
        else { return changed(id) }
        let next = nextID()
        state = .proving(next, point)
        return [.abandon(id), .perform(next, GetMessages.head(chain, signing: channel?.signing))]
    }

    private mutating func changed(_ id: ExchangeID) -> [ProtocolAction] {
        refuseChange(id) ?? again(id, "changed at the server", isOther: true)
    }

    mutating func again(_ id: ExchangeID, _ reason: String, isOther: Bool = false) -> [ProtocolAction] {
        [.abandon(id)] + begin(anew: reason, isOther: isOther)
    }

    /// The version and both names are durable before the first byte is written.
    private mutating func open(
        _ id: ExchangeID, _ version: RemoteVersion, _ answer: HTTPAnswer, from opening: GateOpening, at now: Timestamp
    ) -> [ProtocolAction] {
        let isFolder =
            OfferedName.isFolder(answer, url: plan.address) || OfferedName.isFolder(answer, url: chain.address)
        if plan.name == nil, plan.resume?.name == nil, isFolder {
            return over(
                id,
                .fail(
                    TransferError(
                        .unsupported, "\(plan.address.harmless) is a folder's page, not a file",
                        .queued("queue the URL of a file, or, to keep the page, give its path here"))))
        }
        var point: GetResumePoint
        if let earlier = plan.resume, opening.offset > 0 {
            point = earlier
            (point.received, point.silentLooks) = (nil, nil)
            point.version.total = opening.total
            point.promised = point.promised ?? answer.fileDigest
        } else {
            let name = plan.name ?? plan.resume?.name ?? OfferedName.choose(answer, url: plan.address)
            point = GetResumePoint(version: version, offset: 0, name: name)
            if let earlier = plan.resume { point.takePlace(of: earlier) }
            if plan.takesOffers { point.promised = answer.fileDigest }
            if isFresh(version, answer, at: now) { point.isFresh = true }
        }
        state = .receiving(id, Flow(point: point, start: opening.offset, since: now))
        (known, firstReading) = (point.version, nil)
        let restarted = restart.map { startOver($0.reason, isOther: $0.isOther) } ?? []
        return restarted + [.persist(ResumePoint(point)), .openGate(id, opening)]
    }

    /// Returns true for a file that was written a moment ago, where neither a tag nor a digest would tell one version from the next.
    private func isFresh(_ version: RemoteVersion, _ answer: HTTPAnswer, at now: Timestamp) -> Bool {
        guard version.etag == nil, plan.verify != VerificationWish.none, !plan.takesOffers || answer.fileDigest == nil
        else { return false }
        return RemoteVersion.pause(of: version.total, answer.lastModified, at: answer.date ?? now) != nil
    }

    /// A page is shown to a person who was signed out: what is here is kept until that is mended. A file whose type nobody told is no page.
    private func pageInstead(_ answer: HTTPAnswer) -> TransferError? {
        guard let known, isPage(answer, insteadOf: known) else { return nil }
        return TransferError(
            .http, "\(chain.address.server) answered with a page instead of the file",
            .login("sign in there anew: "))
    }

    private mutating func instead(_ id: ExchangeID, _ page: TransferError) -> [ProtocolAction] {
        if let firstReading { return [.abandon(id)] + finish(firstReading) }
        return over(id, .wait(WaitDemand(.auth, page)))
    }

    func isPage(_ answer: HTTPAnswer, insteadOf known: RemoteVersion) -> Bool {
        answer.isPage && known.type.map(HTTPAnswer.isPage) != true && !known.isSame(as: RemoteVersion(answer))
    }
}
