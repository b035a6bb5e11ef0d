import Digests
import TransferModel
import WireOperations

/// The parts of a tus upload: made, asked after, filled.
extension TusUpload {
    // MARK: What is done next

    /// Sets everything in motion that can move, once the file's parts are all known.
    mutating func advance() -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        for index in parts.indices {
            switch parts[index].state {
            case .unmade: actions.append(create(index))
            case .unknown: actions.append(ask(index))
            default: break
            }
        }
        if !isPrepared {
            if parts.contains(where: \.isPreparing) { return actions }
            // Where one part's offset is not known the file's is not: nothing is sent.
            if parts.contains(where: \.isStopped) { return actions + conclusion() }
            // A whole upload has replaced what was there, if anything was.
            if replaces, plan.subject.ifExists != .replace, !isFull {
                return actions + restart(UploadSubject.mayNotReplace)
            }
            isPrepared = true
            actions += prepared()
        } else if told != held {
            actions.append(.accepted(held))
            told = held
        }
        for index in parts.indices where parts[index].state == .standing { actions += append(index) }
        return actions + conclusion()
    }

    private var held: Int64 { parts.reduce(0) { $0 + $1.held } }

    /// All parts have an address and an offset: addresses become durable before a byte goes to one.
    private mutating func prepared() -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        let held = held
        if held == 0, let lossReason {
            actions.append(.startOver(reason: lossReason))
            hasNews = true
        }
        lossReason = nil
        if hasNews, held < plan.subject.size { actions.append(persist()) }
        if isResuming, held > 0 {
            actions.append(.resumed(at: held))
        } else if held != told || isResuming {
            actions.append(.accepted(held))
        }
        isResuming = false
        told = held
        return actions
    }

    var isFull: Bool { parts.allSatisfy { $0.state == .full } }

    private mutating func conclusion() -> [ProtocolAction] {
        if isFull { return parts.count > 1 ? joinOnce() : finished() }
        if parts.contains(where: \.isBusy) { return [] }
        let demands = parts.compactMap { part -> WaitDemand? in
            if case .stopped(let demand) = part.state { return demand }
            return nil
        }
        // What needs a person says more than a cut.
        guard let demand = demands.first(where: { $0.reason != .backoff }) ?? demands.first else { return [] }
        return (hasNews && parts.contains { $0.url != nil } ? [persist()] : []) + over(.wait(demand))
    }

    mutating func persist() -> ProtocolAction {
        hasNews = false
        return .persist(point)
    }

    mutating func finished() -> [ProtocolAction] {
        let isSized = plan.subject.verify != VerificationWish.none
        // Its own word on an upload that only we know of.
        var receipt = Receipt(
            hasSent ? .answered : .token, bytes: plan.subject.size,
            verified: checksum != nil ? .digest : isSized ? .size : .none)
        receipt.foundThere = !hasSent && plan.subject.size > 0
        receipt.response = response
        receipt.etag = lastHead?.etag
        receipt.shown = lastHead?.date.map { $0.milliseconds / 1000 }
        return compared() ?? over(.finish(receipt))
    }

    // MARK: Requests

    private mutating func create(_ index: Int) -> ProtocolAction {
        let part = parts[index]
        let isPartial = parts.count > 1
        // Should the answer be lost, who tells digests of files by their names can be asked whether it has this one. At another server it would
        // lie there twice, so that one makes the upload first: what is lost with that answer is empty.
        let takesData =
            creationTakesData && !isPartial && checksum == nil
            && part.length <= min(UploadPace.smallFile, limit ?? .max)
            && facts.tusExtensions?.contains("creation-with-upload") == true && facts.tellsDigests == true
        let body = takesData ? part.range : part.range.lowerBound..<part.range.lowerBound
        if !body.isEmpty { hasSent = true }
        let id = nextID()
        parts[index].state = .creating(id, body: body)
        return .perform(id, messages.create(part.chain, length: part.length, isPartial: isPartial, body: body))
    }

    private mutating func ask(_ index: Int) -> ProtocolAction {
        let id = nextID()
        parts[index].state = .asking(id)
        return .perform(id, messages.head(parts[index].chain))
    }

    /// The whole rest in one request, unless something on the way cannot take that.
    private mutating func append(_ index: Int) -> [ProtocolAction] {
        let range = chunk(at: parts[index].position, of: parts[index])
        digests = digests.filter {
            !parts[index].range.contains($0.key.lowerBound) || $0.key.lowerBound >= range.lowerBound
        }
        var sum: (algorithm: String, base64: String)?
        if let checksum {
            guard let bytes = digests[range].flatMap({ Hexadecimal.decode($0.value) }) else {
                let isAsked = parts[index].state == .hashing(range)
                parts[index].state = .hashing(range)
                return isAsked ? [] : digest(range)
            }
            sum = (checksum, Base64.encode(bytes))
        }
        let id = nextID()
        parts[index].state = .appending(id, range)
        hasSent = true
        let request = messages.append(parts[index].chain, at: parts[index].held, range, checksum: sum)
        // The next chunk's digest is computed while this one is on its way.
        let next = chunk(at: range.upperBound, of: parts[index])
        let ahead = checksum != nil && !next.isEmpty && digests[next] == nil ? digest(next) : []
        return [.perform(id, request)] + ahead
    }

    private func chunk(at start: Int64, of part: TusPart) -> Range<Int64> {
        start..<min(part.range.upperBound, start + min(limit ?? part.length, part.length))
    }

    private func digest(_ range: Range<Int64>) -> [ProtocolAction] {
        [.digestRange(range, [checksum.flatMap(TusChecksum.engineName) ?? ""])]
    }

    /// The largest body that is sent.
    var limit: Int64? {
        [plan.chunk, facts.chunk, facts.largestBody, checksum == nil ? nil : Self.checkedChunk].compactMap { $0 }.min()
    }

    mutating func rangeDigested(_ range: Range<Int64>, _ values: [TransferDigest]) -> [ProtocolAction] {
        digests[range] = values.first
        guard let index = parts.firstIndex(where: { $0.state == .hashing(range) }) else { return [] }
        return append(index)
    }
}
