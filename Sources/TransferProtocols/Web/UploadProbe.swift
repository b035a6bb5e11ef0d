import TransferModel
import WireOperations

/// Finds out which protocol for uploads a server speaks, with as few questions as its answers allow.
///
/// An OPTIONS request names one version of the IETF draft. A server that knows it shows `Upload-Limit`; one that speaks tus shows
/// `Tus-Version` whatever was asked; one that knows the version without having limits, as the older ones have none, may repeat its number, and one
/// that knows other versions may name its own. Only where nothing is said at all are older versions tried.
struct UploadProbe: Hashable, Sendable {
    enum Finding: Hashable, Sendable {
        /// The draft, in the version that was asked for.
        case resumable(HostFacts, UploadLimit)
        /// The draft, in the version that was asked for; but what it wants in uploads it did not say. It may be offered, not relied on.
        case speaks(HostFacts)
        case tus(HostFacts)
        /// Ask again, for the version that `asking` now is.
        case again
        /// Repeat it somewhere else.
        case moved
        /// Neither.
        case nothing
        case wait(WaitDemand)
    }

    /// The version that is asked for.
    private(set) var asking: Int
    private var untried: [Int]
    /// True when `Tus-Version` is an answer: not when a person chose the draft.
    private let takesTus: Bool

    init(takesTus: Bool) {
        asking = ResumableDraft.latest
        untried = Array(ResumableDraft.versions.dropFirst())
        self.takesTus = takesTus
    }

    mutating func read(_ answer: HTTPAnswer, host: String, at now: Timestamp) -> Finding {
        if answer.isSuccess, let limit = UploadLimit(answer) {
            var facts = HostFacts(hintedBy: answer)
            facts.learn(uploadBy: "ietf", at: now)
            facts.interopVersion = asking
            facts.announcesResume = true
            if let largest = limit.largestAppend, largest >= UploadPace.smallestBody { facts.largestBody = largest }
            return .resumable(facts, limit)
        }
        if takesTus, var facts = TusAnnouncement.facts(answer) {
            facts.learn(uploadBy: "tus", at: now)
            return .tus(facts)
        }
        if answer.isSuccess, ResumableAnswer.version(answer) == asking {
            var facts = HostFacts(hintedBy: answer)
            facts.learn(uploadBy: "ietf", at: now)
            facts.interopVersion = asking
            facts.announcesResume = false
            return .speaks(facts)
        }
        switch answer.status {
        case 301, 302, 303, 307, 308: return .moved
        case 401, 407, 408, 421, 425, 429, 502, 503, 504, 520...524:
            if case .wait(let demand) = AnswerMeaning(answer, host: host, hasAccepted: false, at: now) {
                return .wait(demand)
            }
            return .nothing
        // WebDAV servers answer for what they are.
        case 200..<300: return answer.field("dav") == nil ? next(answer) : .nothing
        case 400, 412: return next(answer)
        default: return .nothing
        }
    }

    private mutating func next(_ answer: HTTPAnswer) -> Finding {
        if let named = ResumableAnswer.version(answer), let index = untried.firstIndex(of: named) {
            asking = untried.remove(at: index)
            return .again
        }
        guard !untried.isEmpty else { return .nothing }
        asking = untried.removeFirst()
        return .again
    }
}
