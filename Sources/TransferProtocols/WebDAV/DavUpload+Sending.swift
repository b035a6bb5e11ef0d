import TransferModel
import WireOperations

/// The PUT, the folders that it needs, and whether everything arrived.
extension DavUpload {
    mutating func send() -> [ProtocolAction] {
        var headers: [HeaderField] = []
        if isStraight, plan.subject.ifExists != .replace { headers.append(straightCondition) }
        if plan.isCloud {
            headers.append(HeaderField("X-OC-Mtime", "\(modified)"))
            if let digest { headers += DavMessages.checksum(digest) }
        }
        return perform(DavMessages.put(temporary, size: plan.subject.size, headers: headers)) { .sending($0) }
    }

    /// Nothing is replaced there, or our earlier version alone, where the look before has found it.
    private var straightCondition: HeaderField {
        guard own.mayReplace, let tag = own.version?.etag, tag.hasPrefix("\"") else {
            return own.mayReplace ? HeaderField("If-Match", "*") : HeaderField("If-None-Match", "*")
        }
        return HeaderField("If-Match", tag)
    }

    mutating func sent(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end) }
        switch answer.status {
        case 404 where folders.canBegin, 409 where folders.canBegin: return make(0)
        // It still is: then what was said of it was the truth.
        case 404, 409: if let refusal = folders.refusal { return over(refusal) }
        case 412 where isStraight: return ask(.inTheWay)
        case 400 where digest != nil && plan.isCloud: return differs()
        default: break
        }
        let meaning = AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: wasWhole, at: end.at)
        if case .wait(let demand) = meaning, end.mayHaveBeenActedOn, end.bytesSent >= plan.subject.size {
            return ask(.checking(.lost(demand)))
        }
        if let refusal = meaning.refusal { return lost(end) + over(refusal) }
        if answer.isPageForYes, mustCompare {
            return ask(.checking(.lost(WaitDemand(.backoff, .page(at: host)))))
        }
        if plan.subject.verify == .digest, let digest {
            guard let theirs = DavMessages.digest(of: answer) else {
                let error = TransferError.unverifiable(
                    at: plan.address.server, "took the file but tells no SHA-256 of it")
                return leave(.fail(error))
            }
            guard theirs == digest.value else { return differs() }
            point.compared = digest
        }
        let isSure = end.bytesSent >= plan.subject.size && answer.status != 202 && !answer.isPageForYes
        if isSure, plan.subject.verify != .size, plan.subject.size <= Self.unlooked { return whole() }
        let word = isSure ? PutWord.yes : .doubtful(.doubtful(answer.status, at: host))
        return ask(.checking(word))
    }

    /// No answer. Without the last byte sent no server that keeps to HTTP has the file; with it, it may.
    private mutating func unanswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        let meaning = DavFinding.unanswered(end, host)
        if case .wait(let demand) = meaning, end.bytesSent >= plan.subject.size,
            end.failure?.mayHaveReachedServer ?? true
        {
            return ask(.checking(.lost(demand)))
        }
        return lost(end) + over(meaning.refusal ?? .fail(.cutOff(by: host)))
    }

    /// The next attempt begins again, and is to be seen to.
    private mutating func lost(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard end.bytesSent > 0, !point.wasCut else { return [] }
        point.wasCut = true
        return [.persist(durable)]
    }

    private mutating func differs() -> [ProtocolAction] {
        sendOnceMore("the server has other bytes (their SHA-256 differs)")
            ?? different("took the file but has other bytes (its SHA-256 differs)")
    }

    /// Begins anew with what the server has not stored as it was sent; `nil`: it did so before.
    private mutating func sendOnceMore(_ reason: String) -> [ProtocolAction]? {
        if isRepaired { return nil }
        isRepaired = true
        return startOver(reason)
    }

    /// A file under a temporary name is taken away; straight at the target it stays, and must not pass for the file at the next attempt.
    private mutating func different(_ why: String) -> [ProtocolAction] {
        let error = TransferError.differing(at: plan.address.server, why)
        let receipt = Receipt(.answered, bytes: plan.subject.size, verified: .none)
        return leave(isStraight ? .mismatch(receipt, error) : .fail(error))
    }

    // MARK: Folders

    /// Makes the folder at that place above the target.
    private mutating func make(_ place: Int) -> [ProtocolAction] {
        perform(folders.make(place)) { .making($0, place) }
    }

    mutating func made(_ end: ExchangeEnd, _ place: Int) -> [ProtocolAction] {
        guard let answer = end.answer else {
            return over(DavFinding.unanswered(end, host).refusal ?? .fail(.cutOff(by: host)))
        }
        let meaning = AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at)
        let refusal = meaning.refusal ?? .fail(.cutOff(by: host))
        switch folders.answered(answer, at: place, refusal: refusal) {
        case .make(let next): return make(next)
        case .areThere: return send()
        case .refused: return over(refusal)
        }
    }

    // MARK: Checking

    mutating func checked(_ finding: DavFinding, _ word: PutWord) -> [ProtocolAction] {
        if case .found(let file) = finding {
            let hasLength = file.size == plan.subject.size
            if case .lost(let doubt) = word, hasLength, mustCompare {
                let why = "has the file, but its answer with the SHA-256 of it was lost, time after time"
                return unproven(doubt, orElse: .unverifiable(at: plan.address.server, why))
            }
            if hasLength, !isStraight || proves(word, file) {
                isMeasured = true
                return whole()
            }
            if file.size == nil, word == .yes, plan.subject.verify == VerificationWish.none { return whole() }
        }
        switch word {
        case .lost(let doubt) where isStraight && finding != .missing:
            return unproven(doubt, orElse: .unsure(at: plan.address.server, UnprovenFiles.answersAreLost))
        case .lost(let doubt):
            point.wasCut = true
            return [.persist(durable)] + over(.wait(doubt))
        case .doubtful(let doubt) where isStraight:
            let never = TransferError.unsure(at: plan.address.server, UnprovenFiles.isNeverShown)
            return unproven(WaitDemand(.backoff, doubt), orElse: never)
        case .yes, .doubtful: break
        }
        guard case .found(let file) = finding, let length = file.size else {
            return over(.fail(.unverifiable(at: plan.address.server, "took the file but does not tell its size")))
        }
        let size = plan.subject.size
        return sendOnceMore("the server has \(length) of \(size) bytes")
            ?? different("took the file but has \(length) of \(size) bytes")
    }

    /// Returns true when a file of the length under the final name is the one that was sent. It may be another one's, or of another version.
    private func proves(_ word: PutWord, _ file: DavResource) -> Bool {
        switch word {
        case .yes: true
        case .doubtful: before.isReplaced(by: StandingFile(file))
        case .lost: false
        }
    }

    /// All was sent, and nothing proves what is there: it is sent again, but not for ever.
    private mutating func unproven(_ doubt: WaitDemand, orElse last: TransferError) -> [ProtocolAction] {
        point.unanswered = UnprovenFiles.count(after: point.unanswered)
        if point.unanswered == nil { return [.persist(durable)] + over(.fail(last)) }
        point.wasCut = true
        return [.persist(durable)] + over(.wait(doubt))
    }

    mutating func whole() -> [ProtocolAction] {
        hasBeenWhole = true
        return [.accepted(plan.subject.size)] + publish()
    }
}
