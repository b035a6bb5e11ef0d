import TransferModel
import WireOperations

/// A resumable upload that is there: asked after, filled.
extension ResumableUpload {
    // MARK: What is there

    mutating func ask() -> [ProtocolAction] {
        let id = nextID()
        state = .asking(id)
        return [.perform(id, ResumableMessages.head(chain, version: version, target: plan.address))]
    }

    mutating func asked(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(chain.address)) }
        switch answer.status {
        case 200..<300: return told(answer)
        case 307, 308: return follow(answer) ?? ask()
        case 401, 407, 408, 421, 425, 429, 300..<400, 500...: return usual(answer, end, hasAccepted: true)
        case 403: return over(.wait(.refused(answer, chain.address)))
        case 409, 423: return rest(refusal(answer))
        case 412: return taken()
        default: return gone(isOwnWord: answer.status == 410)
        }
    }

    mutating func told(_ answer: HTTPAnswer) -> [ProtocolAction] {
        let size = plan.subject.size
        let isComplete = ResumableAnswer.completion(answer) == true
        guard let offset = ResumableAnswer.offset(answer) ?? (isComplete ? size : nil) else {
            // A login page, a cache: whatever it is, it is not the server that made the upload.
            return over(.wait(WaitDemand(.backoff, .noAnswer(chain.address))))
        }
        if let told = UploadLimit(answer) { limit = told }
        isMeasured = ResumableAnswer.offset(answer) == size
        guard offset <= size, ResumableAnswer.length(answer) ?? size == size, !isComplete || offset == size else {
            return gone(isOwnWord: true)
        }
        // By the draft an offset never goes back: what is there cannot be trusted.
        if offset < held { return restart("the server has lost bytes that it had confirmed") }
        let learnt = cut.flatMap { $0.showsBuffering(at: offset) ? chunks() : nil } ?? []
        return learnt + stands(at: offset, isComplete: isComplete)
    }

    mutating func stands(at offset: Int64, isComplete: Bool) -> [ProtocolAction] {
        // A complete upload has replaced what was there, if anything was.
        if replaces, plan.subject.ifExists != .replace, !isComplete { return restart(UploadSubject.mayNotReplace) }
        var actions: [ProtocolAction] = []
        let isLost = cut?.isLost(at: offset) ?? false
        cut = nil
        if isResuming, offset > 0 {
            actions.append(.resumed(at: offset))
        } else if isResuming, isLost {
            actions += [.startOver(reason: UploadCut.lossReason), persist()]
        } else if isResuming || offset != held {
            actions.append(.accepted(offset))
        }
        isResuming = false
        if isComplete || ProgressRule.isWorthwhile(offset - reached, of: plan.subject.size) {
            (reached, tries) = (offset, 0)
        }
        held = offset
        if isComplete { return actions + finish(HTTPAnswer(status: 200), []) }
        return actions + append()
    }

    // MARK: Bytes

    mutating func append() -> [ProtocolAction] {
        if let look = lookFirst() { return look }
        let size = plan.subject.size
        let most = max(largestAppend ?? .max, limit?.smallestAppend ?? 0, 1)
        let isLast = size - held <= most
        // A request for each few bytes would never end: that is no server for this file.
        if !isLast, most < Self.smallestAppend { return over(.fail(.smallPieces(chain.address, most))) }
        let range = held..<(isLast ? size : held + most)
        let id = nextID()
        state = .appending(id, range, isLast: isLast)
        hasSent = true
        return [
            .perform(
                id,
                ResumableMessages.append(chain, range, isLast: isLast, version: version, plan))
        ]
    }

    /// A server that takes less at once, of a larger file, gets none of it.
    private static let smallestAppend: Int64 = 4 << 10

    var largestAppend: Int64? {
        [plan.chunk, facts.chunk, facts.largestBody, limit?.largestAppend].compactMap { $0 }.min()
    }

    mutating func appended(_ range: Range<Int64>, isLast: Bool, _ end: ExchangeEnd) -> [ProtocolAction] {
        let count = range.upperBound - range.lowerBound
        guard let answer = end.answer else { return broken(end, end.failure?.error ?? .noAnswer(chain.address)) }
        // Before its completion is looked at: the refusal of an append says how the upload stands, not what became of it.
        if answer.status == 409 { return mismatched(answer) }
        if let told = UploadLimit(answer) { limit = told }
        let completion = ResumableAnswer.completion(answer)
        if answer.isSuccess {
            // A page that something on the way shows, or a server that wants a sign-in, says nothing of the upload.
            if answer.isPageForYes, completion == nil, ResumableAnswer.offset(answer) == nil {
                cut = UploadCut(offset: held, sent: end.bytesSent)
                return [persist()] + again()
            }
            if completion == true || completion == nil && isLast && end.failure == nil && end.bytesSent >= count {
                isMeasured = ResumableAnswer.offset(answer) == plan.subject.size
                return finish(answer, end.body)
            }
            let offset = ResumableAnswer.offset(answer) ?? (end.bytesSent >= count ? range.upperBound : nil)
            guard let offset, !isLast, (held...range.upperBound).contains(offset) else { return again() }
            // Each answer but a whole one costs what was sent for it.
            guard offset == range.upperBound || ProgressRule.isWorthwhile(offset - held, of: plan.subject.size) else {
                return rest(.noAnswer(chain.address))
            }
            return stands(at: offset, isComplete: false)
        }
        if answer.status == 412 { return taken() }
        if completion == true {
            // The verdict on the whole: it must not be gone on with.
            return [
                .persist(ResumePoint(StoredVersion(stored: false, etag: nil))),
                .startOver(reason: "the server refused the finished upload"),
            ] + usual(answer, end, hasAccepted: true)
        }
        switch answer.status {
        case 307, 308: return follow(answer) ?? append()
        case 403: return over(.wait(.refused(answer, chain.address)))
        case 404, 410:
            cut = UploadCut(offset: held, sent: end.bytesSent)
            return gone(isOwnWord: answer.status == 410)
        case 413: return shrink(count, answer)
        case 423: return rest(refusal(answer))
        case 400 where ResumableAnswer.problem(end) == .completed: return again()
        case 400 where ResumableAnswer.problem(end) == .inconsistentLength:
            return over(.fail(.otherLength(chain.address)))
        case 400...499: return usual(answer, end, hasAccepted: true)
        default:
            cut = UploadCut(offset: held, sent: end.bytesSent)
            return [persist()] + usual(answer, end, hasAccepted: true)
        }
    }

    mutating func mismatched(_ answer: HTTPAnswer) -> [ProtocolAction] {
        tries += 1
        guard tries <= UploadPace.pauses.count else { return over(.wait(WaitDemand(.backoff, refusal(answer)))) }
        guard let offset = ResumableAnswer.offset(answer), ResumableAnswer.completion(answer) != true,
            (held...plan.subject.size).contains(offset)
        else { return ask() }
        return stands(at: offset, isComplete: false)
    }

    /// The answer says too little: the server is asked, but not for ever.
    mutating func again() -> [ProtocolAction] {
        tries += 1
        return tries <= UploadPace.pauses.count
            ? ask() : over(.wait(WaitDemand(.backoff, .noAnswer(chain.address))))
    }

    mutating func broken(_ end: ExchangeEnd, _ error: TransferError) -> [ProtocolAction] {
        cut = UploadCut(offset: held, sent: end.bytesSent)
        return [persist()] + refuseOrWait(error)
    }
}
