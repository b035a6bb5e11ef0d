import TransferModel
import WireOperations

/// The PUT, the folders that it needs, and whether everything arrived.
extension DavUpload {
    mutating func send() -> [ProtocolAction] {
        var headers: [HeaderField] = []
        isCompared = false
        if isStraight, plan.subject.ifExists != .replace { headers.append(straightCondition) }
        if plan.isCloud {
            headers.append(HeaderField("X-OC-Mtime", "\(modified)"))
            if let digest { headers += DavMessages.checksum(digest) }
        }
        return perform(DavMessages.put(temporary, size: plan.subject.size, headers: headers)) { .sending($0) }
    }

    /// Nothing is replaced there, or our earlier version alone, where the look before has found it.
    private var straightCondition: HeaderField {
        guard mayReplace, let tag = own.version?.etag, tag.hasPrefix("\"") else {
            return mayReplace ? HeaderField("If-Match", "*") : HeaderField("If-None-Match", "*")
        }
        return HeaderField("If-Match", tag)
    }

    mutating func sent(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end) }
        switch answer.status {
        case 409 where foldersMade == 0 && !folders.isEmpty, 404 where foldersMade == 0 && !folders.isEmpty:
            return make(0)
        // It still is: then what was said of it was the truth.
        case 404, 409: if let refusal = foldersRefused.min(by: { $0.key < $1.key }) { return over(refusal.value) }
        case 412 where isStraight: return ask(plan.address) { .inTheWay($0) }
        case 400 where digest != nil && plan.isCloud: return differs()
        default: break
        }
        let meaning = AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: wasWhole, at: end.at)
        if let refusal = meaning.refusal { return lost(end) + over(refusal) }
        if plan.subject.verify == .digest, let digest {
            guard let theirs = DavMessages.digest(of: answer) else {
                let error = TransferError.unverifiable(
                    at: plan.address.server, "took the file but tells no SHA-256 of it")
                return leave(.fail(error))
            }
            guard theirs == digest.value else { return differs() }
            isCompared = true
            point.compared = digest
        }
        let isSure = end.bytesSent >= plan.subject.size && answer.status != 202
        if isSure, plan.subject.verify != .size, plan.subject.size <= Self.unlooked { return whole() }
        let word = isSure ? PutWord.yes : .doubtful(.doubtful(answer.status, at: host))
        return ask(temporary) { .checking($0, word) }
    }

    /// No answer. Without the last byte sent no server that keeps to HTTP has the file; with it, it may.
    private mutating func unanswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        let meaning = DavFinding.unanswered(end, host)
        if case .wait(let demand) = meaning, end.bytesSent >= plan.subject.size,
            end.failure?.mayHaveReachedServer ?? true
        {
            return ask(temporary) { .checking($0, .lost(demand.error)) }
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
        repairs += 1
        if repairs == 1 { return startOver("the server has other bytes (their SHA-256 differs)") }
        return leave(different("took the file but has other bytes (its SHA-256 differs)"))
    }

    /// Under a temporary name it is taken away; straight at the target it stays, and must not pass for the file at the next attempt.
    private func different(_ why: String) -> ProtocolAction {
        let error = TransferError.differing(at: plan.address.server, why)
        return isStraight
            ? .mismatch(Receipt(.answered, bytes: plan.subject.size, verified: .none), error) : .fail(error)
    }

    // MARK: Folders

    /// Makes the folder at that place above the target, the innermost being 0.
    private mutating func make(_ place: Int) -> [ProtocolAction] {
        foldersMade += 1
        return perform(DavMessages.makeFolder(folders[place])) { .making($0, place) }
    }

    mutating func made(_ end: ExchangeEnd, _ place: Int) -> [ProtocolAction] {
        guard let answer = end.answer else {
            return over(DavFinding.unanswered(end, host).refusal ?? .fail(.cutOff(by: host)))
        }
        // 405 and a redirect to the same with a slash say that it is there.
        if answer.isSuccess || answer.status == 405 || answer.status == 301 { return goDown(from: place) }
        if answer.status == 409 || answer.status == 404, place + 1 < folders.count, foldersMade <= 2 * folders.count {
            return make(place + 1)
        }
        let meaning = AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at)
        let refusal = meaning.refusal ?? .fail(.cutOff(by: host))
        // Of two files that make the same folder at the same time one comes second, and Apache calls that forbidden. Whether it is there
        // now is seen when it is used.
        let isMissing = answer.status == 409 || answer.status == 404
        guard case .fail = refusal, !isMissing, foldersRefused[place] == nil else { return over(refusal) }
        foldersRefused[place] = refusal
        return goDown(from: place)
    }

    private mutating func goDown(from place: Int) -> [ProtocolAction] {
        place == 0 ? send() : make(place - 1)
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
        case .lost(let doubt):
            point.wasCut = true
            return [.persist(durable)] + over(.wait(WaitDemand(.backoff, doubt)))
        case .doubtful(let doubt) where isStraight:
            let why = "it reported success again and again, but does not show the file"
            return unproven(doubt, orElse: .unsure(at: plan.address.server, why))
        case .yes, .doubtful: break
        }
        guard case .found(let file) = finding, let length = file.size else {
            return over(.fail(.unverifiable(at: plan.address.server, "took the file but does not tell its size")))
        }
        repairs += 1
        if repairs == 1 { return startOver("the server has \(length) of \(plan.subject.size) bytes") }
        return leave(different("took the file but has \(length) of \(plan.subject.size) bytes"))
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
    private mutating func unproven(_ doubt: TransferError, orElse last: TransferError) -> [ProtocolAction] {
        let before = min(point.unanswered ?? 0, Self.mostUnanswered)
        guard before + 1 < Self.mostUnanswered else {
            point.unanswered = nil
            return [.persist(durable)] + over(.fail(last))
        }
        point.unanswered = before + 1
        point.wasCut = true
        return [.persist(durable)] + over(.wait(WaitDemand(.backoff, doubt)))
    }

    mutating func whole() -> [ProtocolAction] {
        isWhole = true
        return [.accepted(plan.subject.size)] + publish()
    }
}
