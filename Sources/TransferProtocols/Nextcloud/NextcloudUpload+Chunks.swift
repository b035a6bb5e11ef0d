import TransferModel
import WireOperations

/// The chunks: how the file is cut, which are on their way, and what their answers mean.
extension NextcloudUpload {
    /// The server has these and no others.
    mutating func keep(_ found: Set<Int>) {
        stored = found
        queue = (1...count).reversed().filter { !found.contains($0) }
    }

    mutating func fill() -> [ProtocolAction] {
        guard let place else { return [] }
        state = .sending
        var actions: [ProtocolAction] = []
        while ending == nil, inFlight.count < plan.parallel, let number = queue.popLast() {
            lastID += 1
            let id = ExchangeID(rawValue: lastID)
            inFlight[id] = number
            let put = HTTPExchange(
                .put, place.chunk(number, in: point.folder), headers: [destination, total],
                body: .source(range(number)))
            actions.append(.perform(id, .http(put)))
        }
        if !inFlight.isEmpty { return actions }
        if let ending { return over(ending) }
        return perform(DavMessages.stat(place.folder(point.folder), depth: 1)) { .reviewing($0) }
    }

    mutating func sent(_ number: Int, _ end: ExchangeEnd) -> [ProtocolAction] {
        if let answer = end.answer, answer.isSuccess, !answer.isPageForYes, end.bytesSent >= Int64(range(number).count)
        {
            stored.insert(number)
            return [.accepted(bytesStored)] + fill()
        }
        guard let answer = end.answer else { return finish(with: refusal(end)) }
        switch answer.status {
        // The folder is gone, or was never there: it says so itself.
        case 404, 409:
            let others = abandonAll()
            guard repaired() else { return others + over(.wait(WaitDemand(.backoff, lostChunks))) }
            return others + list()
        case 413:
            guard let smaller = UploadPace.smallerBody(than: point.chunk, floor: Self.least(plan.subject.size)) else {
                return finish(with: refusal(end))
            }
            let others =
                abandonAll() + [
                    .learned(HostFacts { $0.largestBody = smaller }),
                    .startOver(reason: "the server wants smaller chunks"),
                ]
            let next = clear()
            point.chunk = smaller
            return others + next
        case 200 where answer.isPage: return finish(with: .wait(WaitDemand(.backoff, .page(at: host))))
        // An early yes leaves doubt: the chunk is sent again after a pause.
        case 200..<300:
            return finish(
                with: .wait(
                    WaitDemand(
                        .backoff,
                        TransferError(.badServerResponse, "\(host) answered before it had the whole chunk", .again))))
        default: return finish(with: refusal(end))
        }
    }

    /// Lets what is on its way arrive, and then ends so.
    mutating func finish(with action: ProtocolAction) -> [ProtocolAction] {
        ending = ending ?? action
        return fill()
    }

    mutating func abandonAll() -> [ProtocolAction] {
        defer { inFlight = [:] }
        return inFlight.keys.sorted { $0.rawValue < $1.rawValue }.map { .abandon($0) }
    }

    mutating func repaired() -> Bool {
        repairs += 1
        return repairs <= 3
    }

    // MARK: Numbers

    /// The length with which the file has as many chunks as the server takes.
    static func fewest(_ size: Int64) -> Int64 { ResumeBounds.pieces(size, of: NextcloudPlan.mostChunks) }

    /// The least length of a chunk that the server takes.
    static func least(_ size: Int64) -> Int64 { max(NextcloudPlan.smallestChunk, fewest(size)) }

    static func chunk(_ plan: NextcloudPlan) -> Int64 {
        max(
            least(plan.subject.size),
            min(plan.chunk, plan.facts.largestBody ?? Int64.max, ResumeBounds.chunks.upperBound))
    }

    static func folder(_ plan: NextcloudPlan, _ generation: Int) -> String {
        "martlet-\(plan.subject.token.prefix(16))" + (generation == 1 ? "" : "-\(generation)")
    }

    /// Number of chunks; they are numbered from 1.
    var count: Int { Int(max(1, ResumeBounds.pieces(plan.subject.size, of: point.chunk))) }

    func range(_ number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * point.chunk
        return start..<start + min(point.chunk, plan.subject.size - start)
    }

    var bytesStored: Int64 {
        // The last one is shorter.
        let last = stored.contains(count)
        return Int64(stored.count - (last ? 1 : 0)) * point.chunk + (last ? Int64(range(count).count) : 0)
    }
}

extension NextcloudUpload {
    package var partStandings: [PartStanding] {
        // The chunks of a damaged point may be beyond counting.
        guard place != nil, point.chunk >= Self.fewest(plan.subject.size), count > 1 else { return [] }
        let flying = Dictionary(inFlight.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        return (1...count).map { number in
            let bytes = Int64(range(number).count)
            if stored.contains(number) { return PartStanding(.completed, bytes: bytes, held: bytes) }
            guard let id = flying[number] else { return PartStanding(.waiting, bytes: bytes) }
            return PartStanding(.running, bytes: bytes, exchange: id)
        }
    }
}
