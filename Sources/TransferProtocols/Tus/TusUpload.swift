import Digests
import TransferModel
import WireOperations

/// An upload by tus 1.0.0: an upload resource is made, its address made durable, bytes are appended, and
/// whenever something broke the server is asked how many of them it has.
///
/// A large file may go in parts side by side, each a resource of its own, that the server joins in the end: everything here is said of parts,
/// and the usual upload has one.
package struct TusUpload: ProtocolMachine {
    enum State {
        /// Nothing is asked yet. Next: `clearing`, `discovering`, `working`.
        case ready
        /// The leftovers of an earlier version of the source are removed, one after the other. Next: `discovering`, `working`, `over`.
        case clearing(ExchangeID, rest: [HTTPAddress])
        /// Our earlier version of the file is looked at, because no tag of it is known. Next: `discovering`, `working`, `over`.
        case recognising(ExchangeID)
        /// The server is asked what it can. Next: itself (redirect), `working`, `over`.
        case discovering(ExchangeID)
        /// The parts are at work. Next: `discovering` (begun anew), `joining`, `elsewhere`, `over`.
        case working
        /// The parts are being made one file. Next: itself (redirect), `tidying`, `clearing` (the server cannot), `elsewhere`, `over`.
        case joining(ExchangeID)
        /// The file is there. Its parts, which some servers keep, are removed one after the other. Next: `over`.
        case tidying(ExchangeID, rest: [HTTPAddress])
        /// A file is there, or may be: what is at its own address is looked at. Next: `over`, when that is.
        case elsewhere(PutUpload)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    /// Largest chunk, in bytes, that is sent with a digest: a damaged one costs no more.
    static let checkedChunk: Int64 = 8 << 20
    /// Parts of a file that go side by side, when nobody says how many.
    static let usualParts = 4
    /// A smaller file is there before several connections have gathered speed.
    static let worthParts: Int64 = 256 << 20
    /// An answer that takes so long comes from afar: there one connection seldom fills the line. Next door parts cost only the time in which
    /// the server copies them into one file.
    static let farAway: Int64 = 100
    /// Times that the file may have been made without a word of it. Each may be one more copy of it there: then a person looks.
    static let mostUnanswered = 2

    var plan: TusPlan { didSet { messages.plan = plan } }
    var state = State.ready
    var messages: TusMessages
    var facts: HostFacts
    var parts: [TusPart] = []
    /// The algorithm that each chunk is sent with.
    var checksum: String?
    var digests: [Range<Int64>: TransferDigest] = [:]
    var begun = Timestamp(milliseconds: 0)
    /// When the last exchange ended.
    private var now = Timestamp(milliseconds: 0)
    var expires: Timestamp?
    /// Address for creations and the join, after redirects.
    var endpoint: RedirectChain
    /// The parts are those of an earlier attempt.
    var isResuming = false
    /// As `TusResumePoint.replaces`.
    var replaces = false
    /// All parts are made and their offsets known: bytes may go.
    var isPrepared = false
    /// A handle, or how a request was cut, is not on the disk yet.
    var hasNews = false
    /// The parts are full, and the join was or will be asked for.
    var isJoining = false
    /// The file is there; its parts may still be.
    var isJoined = false
    var restarts = 0
    /// Joins, or whole uploads that are gone since, whose answers were lost where a file may be replaced; over all attempts.
    var unanswered: Int
    /// Bytes at the server that the engine was told last.
    var told: Int64 = 0
    /// The reason why parts of an earlier attempt are made anew.
    var lossReason: String?
    /// This attempt has brought something of the file there.
    var hasSent = false
    var creationTakesData = true
    var response: TransferResponse?
    /// The answer that told the whole file's digest.
    var telling: ExchangeEnd?
    /// The last answer, when it may be the server's word on the whole file.
    var lastHead: HTTPAnswer?
    var hasRecognised = false
    var lastID: Int

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: TusPlan, after lastID: Int = 0) {
        self.plan = plan
        messages = TusMessages(plan)
        facts = plan.facts
        endpoint = RedirectChain(plan.endpoint)
        unanswered = plan.subject.hasChanged ? 0 : plan.resume?.unanswered ?? 0
        self.lastID = lastID
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        let before = now
        if case .ended(_, let end) = event { now = end.at }
        if case .clockSetBack = event { plan.subject.clockWasSetBack = true }
        switch (state, event) {
        case (.ready, .began(let time)):
            begun = time
            now = time
            return begin()
        case (.clearing(let id, let rest), .ended(let ended, let end)) where ended == id:
            // The next attempt asks, for the point that names them is still the one that is stored.
            return end.unasked.map { over(.wait(WaitDemand(.backoff, $0))) } ?? clear(rest)
        case (.recognising(let id), .ended(let ended, let end)) where ended == id: return recognised(end)
        case (.discovering(let id), .ended(let ended, let end)) where ended == id:
            return discovered(end, since: before)
        case (.working, .ended(let id, let end)): return partEnded(id, end)
        case (.working, .rangeDigested(let range, let values)): return rangeDigested(range, values)
        case (.working, .timerFired(.repeatRequest)):
            for index in parts.indices where parts[index].state == .resting {
                parts[index].state = parts[index].url == nil ? .unmade : .unknown
            }
            return advance()
        case (.joining(let id), .ended(let ended, let end)) where ended == id: return joined(end)
        case (.tidying(let id, let rest), .ended(let ended, _)) where ended == id: return tidy(rest)
        case (.elsewhere(var inner), _):
            let actions = inner.handle(event)
            return forward(inner, actions)
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    /// Uploads that were made since the last word about them became durable.
    package var remains: ResumePoint? { hasNews && parts.contains { $0.url != nil } ? point : nil }

    package var asksHost: Bool {
        switch state {
        case .discovering: true
        case .ready: facts.tusExtensions == nil && plan.resume?.parts.isEmpty ?? true
        default: false
        }
    }

    // MARK: Beginning

    private mutating func begin() -> [ProtocolAction] {
        guard let point = plan.resume, !point.parts.isEmpty else { return anew() }
        if plan.subject.hasChanged || point.length != plan.subject.size {
            return clear(point.parts.compactMap(\.url))
        }
        if point.parts.allSatisfy({ $0.url == nil }) {
            return [.startOver(reason: "the upload's address at the server is not known any more")] + anew()
        }
        replaces = point.replaces == true
        if plan.subject.verify == .digest, point.checksum == nil {
            return [.startOver(reason: "it has to be sent with checksums")] + clear(point.parts.compactMap(\.url))
        }
        parts = point.parts.map { TusPart($0, endpoint: plan.endpoint) }
        checksum = point.checksum
        expires = point.expires
        isJoining = point.isJoining
        // Of several parts nobody knows which of them had sent it.
        if parts.count == 1, parts[0].cut == nil { parts[0].cut = plan.subject.unanswered }
        if parts.contains(where: { $0.cut?.isLost(at: 0) == true }) { lossReason = UploadCut.lossReason }
        if point.isJoined == true { return tidy(point.parts.compactMap(\.url)) }
        isResuming = true
        state = .working
        return advance()
    }

    /// Removes what is at the server and of no use any more, as well as that goes, and then begins anew.
    mutating func clear(_ leftovers: [HTTPAddress]) -> [ProtocolAction] {
        guard let next = leftovers.first, canTerminate else { return anew() }
        let id = nextID()
        state = .clearing(id, rest: Array(leftovers.dropFirst()))
        return [.perform(id, .http(TusMessages.terminate(next, endpoint: plan.endpoint)))]
    }

    /// True when uploads can be ended there, or nobody knows.
    var canTerminate: Bool { facts.tusExtensions?.contains("termination") ?? true }

    /// Makes the file's upload, or asks first what the server can.
    mutating func anew() -> [ProtocolAction] {
        parts = []
        isResuming = false
        isPrepared = false
        isJoining = false
        lossReason = nil
        told = 0
        return recognise() ?? ask()
    }

    mutating func ask() -> [ProtocolAction] { facts.tusExtensions == nil ? discover() : layOut() }

    private mutating func discover() -> [ProtocolAction] {
        let id = nextID()
        state = .discovering(id)
        return [.perform(id, messages.options(endpoint))]
    }

    private mutating func discovered(_ end: ExchangeEnd, since asked: Timestamp) -> [ProtocolAction] {
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(endpoint.address)) }
        if var learnt = TusAnnouncement.facts(answer) {
            let patience = end.at.milliseconds - asked.milliseconds
            if patience > 0 { learnt.answerMilliseconds = patience }
            facts = facts.merged(with: learnt)
            if let largest = TusAnnouncement.largest(answer), largest < plan.subject.size {
                return [.learned(learnt)] + over(.fail(.largerThanTaken(endpoint.address, largest)))
            }
            return [.learned(learnt)] + layOut()
        }
        switch AnswerMeaning(answer, host: endpoint.address.server, hasAccepted: plan.resume != nil, at: end.at) {
        case .redirect:
            if let error = endpoint.follow(answer, keepsMethod: true) { return over(.fail(error)) }
            return discover()
        case .wait(let demand) where answer.status != 501: return over(.wait(demand))
        case .success, .wait, .fail:
            // It does not say what it can; the creation will show whether it can at all.
            facts.tusExtensions = []
            return layOut()
        }
    }

    /// Decides how the file goes: in one upload or several, with checksums or without.
    private mutating func layOut() -> [ProtocolAction] {
        let size = plan.subject.size
        if plan.subject.verify == .digest {
            checksum = TusChecksum.choose(facts.tusChecksums ?? [])
            if checksum == nil {
                return over(
                    .fail(.unverifiable(at: plan.endpoint.server, "cannot check what it gets (it offers no checksums)"))
                )
            }
        }
        let canJoin = facts.tusExtensions?.contains("concatenation") ?? false
        parts = TusUpload.ranges(size, parts: canJoin ? plan.parts ?? partsWorthwhile : 1).map { range in
            var part = TusPart(range, endpoint: plan.endpoint)
            part.chain = endpoint
            return part
        }
        replaces = parts.count == 1 && plan.subject.ifExists == .replace
        state = .working
        return advance()
    }

    /// Only where what is there may be replaced: when the answer to a join is lost and the parts are gone, nobody can tell whether the
    /// file is whole, and it has to be sent again rather than asked about.
    private var partsWorthwhile: Int {
        let isWorth = plan.subject.size >= Self.worthParts && facts.answerMilliseconds ?? 0 >= Self.farAway
        return isWorth && plan.subject.ifExists == .replace ? Self.usualParts : 1
    }

    /// A file below 64 MiB is not worth the trouble of parts, and none is smaller than 16 MiB.
    static func ranges(_ size: Int64, parts wanted: Int) -> [Range<Int64>] {
        let count = size < 64 << 20 ? 1 : max(1, min(Int64(min(wanted, 16)), size >> 24))
        // In whole mebibytes; the last takes what is left.
        let step = count == 1 ? size : ((size / count) >> 20) << 20
        return (0..<count).map { $0 * step..<($0 == count - 1 ? size : ($0 + 1) * step) }
    }

    // MARK: Words

    mutating func nextID() -> ExchangeID {
        lastID += 1
        return ExchangeID(rawValue: lastID)
    }

    /// The resume point that is to be on the disk now.
    var point: ResumePoint {
        var point = TusResumePoint(
            parts: parts.map { TusResumePoint.Part($0.range, url: $0.url, cut: $0.cut) }, checksum: checksum,
            begun: plan.resume?.begun ?? begun, expires: expires, isJoining: isJoining)
        if isJoined { point.isJoined = true }
        if replaces { point.replaces = true }
        if unanswered > 0 { point.unanswered = unanswered }
        return ResumePoint(point)
    }

    mutating func refuseOrWait(_ error: TransferError) -> [ProtocolAction] {
        over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
    }

    /// The last action; whatever still goes on is broken off before it.
    mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return parts.compactMap { $0.exchange.map(ProtocolAction.abandon) } + [action]
    }
}

extension TusUpload {
    package var partStandings: [PartStanding] {
        guard parts.count > 1 else { return [] }
        return parts.map { part in
            switch part.state {
            case .full: PartStanding(.completed, bytes: part.length, held: part.length)
            case .creating(let id, _), .appending(let id, _):
                PartStanding(.running, bytes: part.length, held: part.held, exchange: id)
            case .hashing: PartStanding(.running, bytes: part.length, held: part.held)
            case .unmade, .unknown, .asking, .resting, .standing, .stopped:
                PartStanding(.waiting, bytes: part.length, held: part.held)
            }
        }
    }
}
