import TransferModel
import WireOperations

/// Gives the temporary file the target's name, and finds out what happened when the answer to that is lost.
extension DavUpload {
    /// The action that the rule for existing files demands for a file that has the target's name.
    /// - Parameter isFirst: nothing of this task could have had that name yet: then size and time count.
    func existing(_ file: DavResource, isFirst: Bool) -> ProtocolAction {
        if plan.subject.ifExists == .skip { return .finish(.skipped(plan.subject.size)) }
        // Size alone is never the same; a server that does not keep the source's time has another one.
        guard isFirst, plan.subject.countsMarks, plan.subject.verify != .digest, !file.isFolder,
            file.size == plan.subject.size, let theirs = file.modified, theirs.milliseconds / 1000 == modified
        else { return .fail(.exists(at: plan.address.server, httpStatus: 412)) }
        var receipt = Receipt(.stoodThere, bytes: plan.subject.size, verified: .size)
        receipt.foundThere = true
        return .finish(receipt)
    }

    /// Durable before it is asked for: then a missing temporary file means that it happened.
    mutating func publish() -> [ProtocolAction] {
        if isStraight { return over(.finish(receipt(.answered, nil))) }
        // Whoever has put another file there since is not to lose it. Where an earlier attempt may have been told that the name is taken,
        // a lost answer and a server that clears up must not make that file ours.
        if own.isKnown || wasWholeBefore, plan.subject.ifExists != .replace { return ask(.lookingAgain) }
        return name()
    }

    mutating func lookedAgain(_ finding: DavFinding) -> [ProtocolAction] {
        guard case .found(let file) = finding else {
            own.forgetLook()
            return name()
        }
        switch judge(file) {
        case .ours?: return name()
        case .unknown?: return over(.fail(.unsureOfEarlier(at: plan.address.server)))
        case .foreign?: return leave(existing(file, isFirst: false))
        case nil: return stood(finding)
        }
    }

    private mutating func name() -> [ProtocolAction] {
        point.busyUntil = nil
        let unasked = unasked
        point.publishing = true
        point.version = NamedVersion(plan.subject)
        return [.persist(durable), .compareSource(keeping: unasked)] + move(pathOnly: false)
    }

    private mutating func move(pathOnly: Bool) -> [ProtocolAction] {
        renames.asked()
        let exchange = DavMessages.move(
            temporary, to: plan.address, overwrites: own.mayReplace, pathOnly: pathOnly)
        return perform(exchange) { .moving($0, pathOnly: pathOnly) }
    }

    mutating func moved(_ end: ExchangeEnd, pathOnly: Bool) -> [ProtocolAction] {
        guard let answer = end.answer else {
            switch DavFinding.unanswered(end, host) {
            case .wait(let demand):
                // Whether it arrived is not known either: it has as long as copying at a mebibyte a second takes.
                let mayHaveArrived = end.failure?.mayHaveReachedServer ?? true
                if mayHaveArrived { renames.lostAnswer() }
                return prove(demand, busy: mayHaveArrived ? leastPatience : nil)
            case let meaning: return over(meaning.refusal ?? .fail(.cutOff(by: host)))
            }
        }
        if answer.status == 202 || answer.status == 207 {
            renames.lostAnswer()
            return prove(WaitDemand(.backoff, undone(answer)), busy: answer.status == 202 ? .hour : nil)
        }
        if answer.isPageForYes {
            renames.lostAnswer()
            return prove(WaitDemand(.backoff, .page(at: host)))
        }
        if answer.isSuccess {
            // A server that cuts the name says yes, too.
            if DavMessages.mayBeMisread(plan.address) { return ask(.confirming(answer)) }
            return over(.finish(receipt(.answered, answer, body: end.body)))
        }
        switch answer.status {
        case 412:
            renames.refused()
            return ask(.inTheWay)
        case 405, 501: return goStraight()
        // The name in Destination is not the server's own: behind a proxy it knows itself by another.
        case 502 where !pathOnly && !plan.isCloud:
            // Or a gateway has lost the server, which may have done it.
            if !DavMessages.isOwnWord(end.body) { renames.lostAnswer() }
            return move(pathOnly: true)
        case 404:
            renames.refused()
            let error = TransferError(
                .networkConnectionLost, "\(host) does not find the temporary file", .again, httpStatus: 404)
            return prove(WaitDemand(.backoff, error))
        default: break
        }
        switch AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: true, at: end.at) {
        // Whatever stands between us and the server may have given up before the server did.
        case .wait(let demand) where answer.status >= 500 && answer.status != 507 || answer.status == 408:
            renames.lostAnswer()
            return prove(demand, busy: DavMessages.isOwnWord(end.body) ? nil : .hour)
        // A lock on its own is somebody else's; after a lost answer it is our own MOVE that still goes on.
        case .wait(let demand) where answer.status == 423 && plan.isCloud && renames.mayHaveHappened:
            return prove(demand, busy: .hour)
        case let meaning:
            renames.refused()
            return over(meaning.refusal ?? .fail(.cutOff(by: host)))
        }
    }

    /// - Parameter busy: how long the server may still be at it. Nextcloud copies where others rename, and a MOVE that is asked for
    ///   again meanwhile makes it copy without end.
    private mutating func prove(_ demand: WaitDemand, busy: Duration? = nil) -> [ProtocolAction] {
        guard plan.isCloud, let busy else { return ask(.proving(isTarget: false, demand)) }
        point.busyUntil = now.advanced(by: busy)
        return [.persist(durable)] + ask(.proving(isTarget: false, demand))
    }

    /// The next look is an attempt of its own: nobody else waits for this file meanwhile.
    mutating func lookLater(_ error: TransferError? = nil) -> [ProtocolAction] {
        over(.wait(WaitDemand(.backoff, error ?? .unnamed(at: host), retryAfter: .seconds(30))))
    }

    private var leastPatience: Duration { .seconds(min(3600, max(60, plan.subject.size >> 20))) }

    /// - Parameter demand: why it is not known; `nil`: an earlier attempt asked for it.
    mutating func proved(_ finding: DavFinding, _ isTarget: Bool, _ demand: WaitDemand?) -> [ProtocolAction] {
        if !isTarget {
            if case .found = finding {
                if let demand { return point.busyUntil == nil ? over(.wait(demand)) : lookLater(demand.error) }
            }
            return ask(.proving(isTarget: true, demand))
        }
        let standing = if case .found(let file) = finding { judge(file) } else { NamedVersion.Standing?.none }
        switch finding {
        case .found(let file) where file.size == plan.subject.size && isRenamed(file, standing):
            isMeasured = true
            var receipt = receipt(.token, nil)
            receipt.etag = file.etag
            receipt.foundThere = demand == nil
            return ask(.sealing(receipt))
        case .found(let file) where file.size == plan.subject.size:
            // A gateway may have asked twice, and brought the second answer.
            if demand != nil, plan.subject.ifExists != .replace, standing != .ours {
                return over(
                    .fail(.unsure(at: plan.address.server, "nothing tells whether what is there is the same file")))
            }
            return vanished()
        case .found(let file):
            // The wish is that what is there goes, whosever it is.
            if plan.subject.ifExists == .replace || standing == .ours { return vanished() }
            let doubt =
                file.size.map { "what is there has \($0) bytes, not \(plan.subject.size)" }
                ?? "it does not tell the size of what is there"
            return over(.fail(.unsure(at: plan.address.server, doubt)))
        default:
            guard let demand else { return vanished() }
            // Where an answer was lost the next attempt asks once more, and counts.
            guard finding == .missing, renames.isRefusal else { return over(.wait(demand)) }
            let last = point.vanish(at: host) ?? .wait(demand)
            return forgetRename() + over(last)
        }
    }

    /// The temporary file's absence may have been the word of a gateway that did not find its server, which has answered since.
    mutating func sealed(_ finding: DavFinding, _ receipt: Receipt) -> [ProtocolAction] {
        if case .found = finding { return over(.wait(WaitDemand(.backoff, .unnamed(at: host)))) }
        return over(.finish(receipt))
    }

    /// Sends it again, unless the server takes it away each time.
    private mutating func vanished() -> [ProtocolAction] {
        if let last = point.vanish(at: host) { return forgetRename() + over(last) }
        return [.doubtAbsence(), .startOver(reason: "the temporary file is not there any more")] + fresh()
    }

    private func isRenamed(_ target: DavResource, _ standing: NamedVersion.Standing?) -> Bool {
        renames.explains(
            targetUnder: own.rule(plan.subject.ifExists, standing), hasOurTime: plan.subject.hasTime(target.modified))
    }

    /// The server did not overwrite.
    mutating func stood(_ finding: DavFinding) -> [ProtocolAction] {
        guard case .found(let file) = finding else {
            return leave(.fail(.exists(at: plan.address.server, httpStatus: 412)))
        }
        let isEarlier = plan.resume != nil || plan.subject.begunBefore != nil
        // It may be ours, and neither its size nor its time proves that.
        if isStraight, isEarlier {
            return over(.fail(.unsure(at: plan.address.server, "nothing tells whether what is there is the same file")))
        }
        let verdict = existing(file, isFirst: !isEarlier && plan.subject.size <= Self.unlooked)
        let isRefused = if case .fail = verdict { true } else { false }
        // Nothing of ours is skipped.
        if isRefused || renames.mayHaveHappened, !isStraight, !file.isFolder, file.size == plan.subject.size {
            return ask(.comparing(file))
        }
        return leave(verdict)
    }

    /// Only a MOVE of ours takes the temporary file away: one that a killed engine had asked for, or that the line brought twice. Where it is
    /// there, none has happened, unless what a killed engine had sent has made it once more after that.
    mutating func compared(_ finding: DavFinding, _ file: DavResource) -> [ProtocolAction] {
        if finding == .missing, isRenamed(file, judge(file)) {
            return ask(.proving(isTarget: true, WaitDemand(.backoff, .unnamed(at: host))))
        }
        if finding != .missing, plan.resume?.publishing == true, plan.subject.ifExists != .skip {
            return over(.fail(.unsure(at: plan.address.server, "nothing tells whether what is there is the same file")))
        }
        return leave(existing(file, isFirst: false))
    }

    /// The server said that the file has its name; is it this name?
    mutating func confirmed(_ finding: DavFinding, _ answer: HTTPAnswer) -> [ProtocolAction] {
        switch finding {
        case .found(let file) where file.size == plan.subject.size:
            isMeasured = true
            return over(.finish(receipt(.answered, answer)))
        case .found, .missing: return over(.fail(.misnamed(at: plan.address.server)))
        case .unknownMethod, .other: return over(.finish(receipt(.answered, answer)))
        }
    }

    /// The server cannot rename: from here on under the final name.
    private mutating func goStraight() -> [ProtocolAction] {
        facts.cannotRename = true
        return [.learned(HostFacts { $0.cannotRename = true })] + startOver("the server cannot rename files")
    }

    private func undone(_ answer: HTTPAnswer) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) has not given the file its name yet (\(answer.status))", .again,
            httpStatus: answer.status)
    }

    private func receipt(_ proof: ArrivalProof, _ answer: HTTPAnswer?, body: [UInt8] = []) -> Receipt {
        let isSized = isMeasured && plan.subject.verify != VerificationWish.none
        var receipt = Receipt(proof, bytes: plan.subject.size, verified: isCompared ? .digest : isSized ? .size : .none)
        if isCompared { receipt.digest = digest }
        receipt.etag = answer?.cloudTag
        receipt.status = answer?.status
        receipt.shown = answer?.date.map { $0.milliseconds / 1000 }
        if let answer, !body.isEmpty { receipt.response = TransferResponse(answer, body: body) }
        return receipt
    }
}

extension TransferError {
    fileprivate static func unnamed(at host: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) may still be giving the file its name",
            .automatic("Martlet looks again by itself"))
    }
}

extension TransferError {
    static func misnamed(at host: String) -> TransferError {
        TransferError(
            .destinationUnwritable, "\(host) said that it has the file, yet nothing of its length has that name",
            .step("it may have cut the name at a ; or ?; look there, and send the file under another name"))
    }
}

extension Duration {
    /// A gateway gave up, the server did not: PHP may copy for so long.
    static var hour: Duration { .seconds(3600) }
}
