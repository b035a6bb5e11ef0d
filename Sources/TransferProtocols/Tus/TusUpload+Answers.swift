import TransferModel
import WireOperations

/// Handles the answers to requests for one part of a tus upload.
extension TusUpload {
    mutating func partEnded(_ id: ExchangeID, _ end: ExchangeEnd) -> [ProtocolAction] {
        guard let index = parts.firstIndex(where: { $0.exchange == id }) else { return [] }
        let address = parts[index].chain.address
        let length = parts[index].length
        prolong(end)
        if parts.count == 1 { note(end) }
        switch parts[index].state {
        case .creating(_, let body):
            let answer = TusAnswer(
                creation: end, at: address, isConditional: messages.isConditional && parts.count == 1,
                isKnown: plan.resume?.parts.isEmpty == false, isPlain: plan.endpoint.scheme == "http")
            return created(index, body, answer, end)
        case .asking: return asked(index, TusAnswer(asking: end, at: address, length: length))
        case .appending(_, let range):
            let answer = TusAnswer(append: end, at: address, length: length)
            if !end.body.isEmpty, let head = end.answer, let upload = parts[index].url {
                response = TransferResponse(upload.redacted(head), body: upload.redacted(end.body, of: head))
            }
            return appended(index, range, answer, end)
        default: return []
        }
    }

    /// Bytes that came may keep an upload for longer.
    private mutating func prolong(_ end: ExchangeEnd) {
        guard parts.count == 1, let until = end.answer?.field("upload-expires").flatMap(HTTPDate.parse),
            let known = expires, until > known
        else { return }
        expires = until
        hasNews = true
    }

    private mutating func created(
        _ index: Int, _ body: Range<Int64>, _ answer: TusAnswer, _ end: ExchangeEnd
    ) -> [ProtocolAction] {
        // Whatever is not taken up below ends there.
        parts[index].state = .unmade
        switch answer {
        case .made(let url, let offset, let expires):
            parts[index].url = url
            parts[index].chain = RedirectChain(url)
            if let expires { self.expires = min(expires, self.expires ?? expires) }
            hasNews = true
            if body.isEmpty {
                parts[index].stands(at: 0)
            } else if let offset, (0...parts[index].length).contains(offset) {
                parts[index].stands(at: offset)
            } else {
                parts[index].state = .unknown
            }
        case .moved(let head):
            if let error = parts[index].chain.follow(head, keepsMethod: true) { return over(.fail(error)) }
            endpoint = parts[index].chain
        case .exists: return lookElsewhere(since: plan.subject.begunBefore ?? plan.resume?.begun) { $0.refused() }
        case .lost(let error):
            let mayBeThere =
                !body.isEmpty && end.bytesSent >= plan.subject.size && end.failure?.mayHaveReachedServer ?? true
            let now = begun
            if mayBeThere, error.isRetryable { return lookElsewhere(since: nil) { $0.unanswered(end, since: now) } }
            guard error.isRetryable else { return over(.fail(error)) }
            stop(index, WaitDemand(.backoff, error))
        case .busy(let error), .disagrees(let error), .tooLarge(let error), .noMethod(let error):
            stop(index, WaitDemand(.backoff, error))
        case .wait(let demand): stop(index, demand)
        case .fail(let error) where error.httpStatus == 413 && !body.isEmpty:
            creationTakesData = false
        case .fail(let error) where parts.count > 1 && Self.meansNoParts(error): return withoutParts(end)
        case .fail(let error) where [405, 501].contains(error.httpStatus) && plan.resume != nil:
            // A server without tus holds no upload of ours any more; a retry asks anew which way it takes files.
            return [.persist(ResumePoint(StoredVersion(stored: false, etag: nil)))] + over(.fail(error))
        case .fail(let error): return over(.fail(error))
        case .stands, .gone, .corrupted, .refused:
            stop(index, WaitDemand(.backoff, .noAnswer(parts[index].chain.address)))
        }
        return advance()
    }

    private mutating func asked(_ index: Int, _ answer: TusAnswer) -> [ProtocolAction] {
        parts[index].state = .unknown
        switch answer {
        case .stands(let offset):
            if let refusal = parts[index].refusal, offset == parts[index].held {
                parts[index].stands(at: offset)
                stop(index, refusal)
                return advance()
            }
            let learnt = parts[index].cut.flatMap { $0.showsBuffering(at: offset) ? chunks() : nil } ?? []
            parts[index].stands(at: offset)
            return learnt + advance()
        case .gone(let isOwnWord):
            return gone(index, isOwnWord: isOwnWord, wasAsked: true)
        case .exists: return taken()
        case .busy(let error): return rest(index, error)
        case .lost(let error): return interrupted(index, error)
        default: return other(index, answer)
        }
    }

    private mutating func appended(
        _ index: Int, _ range: Range<Int64>, _ answer: TusAnswer, _ end: ExchangeEnd
    ) -> [ProtocolAction] {
        let cut = UploadCut(offset: parts[index].held, sent: end.bytesSent)
        parts[index].state = .standing
        switch answer {
        case .stands(let offset):
            let gained = offset - parts[index].held
            // A server that says yes and takes nothing, or next to nothing, again and again: each answer costs what was sent for it.
            let isWorthwhile =
                gained >= range.upperBound - range.lowerBound
                || ProgressRule.isWorthwhile(gained, of: parts[index].length)
            parts[index].stands(at: offset)
            return isWorthwhile || offset == parts[index].length
                ? advance() : rest(index, .noAnswer(parts[index].chain.address))
        case .gone(let isOwnWord):
            parts[index].cut = cut
            return gone(index, isOwnWord: isOwnWord)
        case .exists: return taken()
        case .refused(let demand):
            parts[index].refusal = demand
            parts[index].cut = cut
            parts[index].tries += 1
            parts[index].state = .unknown
            if parts[index].tries > UploadPace.pauses.count { stop(index, demand) }
            return advance()
        case .disagrees(let error):
            parts[index].tries += 1
            parts[index].state = .unknown
            if parts[index].tries > UploadPace.pauses.count { stop(index, WaitDemand(.backoff, error)) }
            return advance()
        case .busy(let error): return rest(index, error)
        case .tooLarge(let error): return shrink(range, error)
        case .corrupted:
            parts[index].corruptions += 1
            guard parts[index].corruptions < 3 else {
                return [.compareSource(keeping: nil)] + over(.fail(.keepsArrivingDamaged(plan.endpoint)))
            }
            parts[index].state = .unknown
            return advance()
        case .noMethod(let error):
            if messages.overridesMethod { return over(.fail(error)) }
            messages.overridesMethod = true
            return advance()
        case .lost(let error):
            parts[index].cut = cut
            hasNews = true
            return interrupted(index, error)
        default:
            if case .wait = answer, cut.sent > 0 {
                parts[index].cut = cut
                hasNews = true
            }
            return other(index, answer)
        }
    }

    /// Handles the answers that mean the same to a question and to bytes.
    private mutating func other(_ index: Int, _ answer: TusAnswer) -> [ProtocolAction] {
        switch answer {
        case .moved(let head):
            if let error = parts[index].chain.follow(head, keepsMethod: true) { return over(.fail(error)) }
            guard head.status == 301 || head.status == 308 else { return advance() }
            parts[index].url = parts[index].chain.address
            return [persist()] + advance()
        case .wait(let demand): stop(index, demand)
        case .fail(let error): return over(.fail(error))
        default: stop(index, WaitDemand(.backoff, .noAnswer(parts[index].chain.address)))
        }
        return advance()
    }
}
