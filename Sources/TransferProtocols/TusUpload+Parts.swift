import Digests
import TransferModel

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
        if hasNews, held < plan.subject.size { actions.append(persist()) }
        if held == 0, let lossReason { actions.append(.startOver(reason: lossReason)) }
        lossReason = nil
        if isResuming, held > 0 {
            actions.append(.resumed(at: held))
        } else if held != told || isResuming {
            actions.append(.accepted(held))
        }
        isResuming = false
        told = held
        return actions
    }

    private mutating func conclusion() -> [ProtocolAction] {
        if parts.allSatisfy({ $0.state == .full }) { return parts.count > 1 ? join() : finished() }
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
        var receipt = Receipt(bytes: plan.subject.size, verified: checksum == nil ? .size : .digest)
        receipt.foundThere = !hasSent && plan.subject.size > 0
        receipt.response = response
        return over(.finish(receipt))
    }

    // MARK: Requests

    private mutating func create(_ index: Int) -> ProtocolAction {
        let part = parts[index]
        let isPartial = parts.count > 1
        let takesData =
            creationTakesData && !isPartial && checksum == nil && part.length <= min(Self.smallFile, limit ?? .max)
            && facts.tusExtensions?.contains("creation-with-upload") == true
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
    private var limit: Int64? {
        [plan.chunk, facts.chunk, facts.largestBody, checksum == nil ? nil : Self.checkedChunk].compactMap { $0 }.min()
    }

    mutating func rangeDigested(_ range: Range<Int64>, _ values: [TransferDigest]) -> [ProtocolAction] {
        digests[range] = values.first
        guard let index = parts.firstIndex(where: { $0.state == .hashing(range) }) else { return [] }
        return append(index)
    }

    // MARK: Answers

    mutating func partEnded(_ id: ExchangeID, _ end: ExchangeEnd) -> [ProtocolAction] {
        guard let index = parts.firstIndex(where: { $0.exchange == id }) else { return [] }
        let address = parts[index].chain.address
        let length = parts[index].length
        switch parts[index].state {
        case .creating(_, let body):
            let answer = TusAnswer(
                creation: end, at: address, isConditional: messages.isConditional && parts.count == 1,
                isKnown: plan.resume?.parts.isEmpty == false)
            return created(index, body, answer, end)
        case .asking: return asked(index, TusAnswer(asking: end, at: address, length: length))
        case .appending(_, let range):
            let answer = TusAnswer(append: end, at: address, length: length)
            if !end.body.isEmpty, let head = end.answer { response = TransferResponse(head, body: end.body) }
            return appended(index, range, answer, end)
        default: return []
        }
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
        case .fail(let error) where parts.count > 1 && Self.meansNoParts(error): return withoutParts()
        case .fail(let error): return over(.fail(error))
        case .stands, .gone, .corrupted: stop(index, WaitDemand(.backoff, .noAnswer(parts[index].chain.address)))
        }
        return advance()
    }

    private mutating func asked(_ index: Int, _ answer: TusAnswer) -> [ProtocolAction] {
        parts[index].state = .unknown
        switch answer {
        case .stands(let offset):
            let learnt = parts[index].cut.flatMap { $0.showsBuffering(at: offset) ? chunks() : nil } ?? []
            parts[index].stands(at: offset)
            return learnt + advance()
        case .gone: return gone(index)
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
            let hasGained = offset > parts[index].held
            parts[index].stands(at: offset)
            // A server that says yes and takes nothing, again and again.
            return hasGained || offset == parts[index].length
                ? advance() : rest(index, .noAnswer(parts[index].chain.address))
        case .gone:
            parts[index].cut = cut
            return gone(index)
        case .disagrees(let error):
            parts[index].tries += 1
            parts[index].state = .unknown
            if parts[index].tries > Self.pauses.count { stop(index, WaitDemand(.backoff, error)) }
            return advance()
        case .busy(let error): return rest(index, error)
        case .tooLarge(let error): return shrink(range, error)
        case .corrupted:
            parts[index].corruptions += 1
            guard parts[index].corruptions < 3 else { return over(.fail(.keepsArrivingDamaged(plan.endpoint))) }
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

    /// What the answers to a question and to bytes have in common.
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

    // MARK: Ways on

    private mutating func stop(_ index: Int, _ demand: WaitDemand) { parts[index].state = .stopped(demand) }

    /// Asks again in a moment, at the same address; after the last pause the attempt ends.
    private mutating func rest(_ index: Int, _ error: TransferError) -> [ProtocolAction] {
        let pause = parts[index].tries
        guard pause < Self.pauses.count else {
            stop(index, WaitDemand(.backoff, error))
            return advance()
        }
        parts[index].tries += 1
        parts[index].state = .resting
        return advance() + [.wake(.repeatRequest, after: Self.pauses[pause])]
    }

    /// The connection broke: the attempt ends, unless others of the file go on; then this one goes on beside them.
    private mutating func interrupted(_ index: Int, _ error: TransferError) -> [ProtocolAction] {
        guard error.isRetryable else { return over(.fail(error)) }
        let isAlone = !parts.indices.contains { $0 != index && parts[$0].isBusy }
        if !isAlone { return rest(index, error) }
        stop(index, WaitDemand(.backoff, error))
        return advance()
    }

    private mutating func gone(_ index: Int) -> [ProtocolAction] {
        let isInDoubt = isJoining || (parts.count == 1 && parts[index].wasSentWhole)
        if isInDoubt, plan.subject.ifExists != .replace {
            parts[index].state = .unknown
            let since = plan.resume?.begun ?? plan.subject.begunBefore ?? begun
            return [persist()] + lookElsewhere(since: since) { $0.refused() }
        }
        restarts += 1
        guard restarts <= Self.mostRestarts * parts.count else {
            stop(index, WaitDemand(.backoff, .noAnswer(parts[index].chain.address)))
            return advance()
        }
        let hasExpired = expires.map { $0 <= begun } ?? false
        let reason = hasExpired ? "the upload expired at the server" : "the server has lost the upload"
        guard parts.count > 1, !isJoining else { return [.startOver(reason: reason)] + anew() }
        parts[index].forget(endpoint: plan.endpoint)
        isPrepared = false
        lossReason = reason
        return advance()
    }

    /// A body of that size is refused: half of it from now on, and never again so much to this host.
    private mutating func shrink(_ range: Range<Int64>, _ error: TransferError) -> [ProtocolAction] {
        let size = range.upperBound - range.lowerBound
        guard size > Self.smallestBody else { return over(.fail(error)) }
        var smaller = max(Self.smallestBody, min(size / 2, 64 << 20))
        // Some hosts take multiples of 256 KiB only.
        if smaller > 256 << 10 { smaller = (smaller >> 18) << 18 }
        var learnt = HostFacts()
        learnt.largestBody = smaller
        facts.largestBody = smaller
        return [.learned(learnt)] + advance()
    }

    /// A cut lost everything that was sent: bodies are held back until they are whole, so they must be small.
    private mutating func chunks() -> [ProtocolAction]? {
        if let limit, limit <= UploadCut.remedy { return nil }
        var learnt = HostFacts()
        learnt.chunk = UploadCut.remedy
        facts.chunk = UploadCut.remedy
        return [.learned(learnt)]
    }
}
