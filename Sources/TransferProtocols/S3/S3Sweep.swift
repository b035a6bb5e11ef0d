import TransferModel
import WireOperations

/// Takes away what a Create has left whose answer nobody heard: the engine was killed, or the line broke.
///
/// The upload's ID is lost then, and lists tell no marks of ours. So it is known by what it must be: of exactly this key, begun within a
/// minute of the intent, without a single part, and the only one. Where two are, one is somebody else's, and both stay: without parts they
/// cost nothing, and an upload that is taken away under somebody's hands costs all of its bytes. Pure; `S3Upload` and `S3Removal` send what it asks for.
struct S3Sweep: Hashable, Sendable {
    /// The next step of the sweep.
    enum Step: Hashable, Sendable {
        case ask(Exchange, learnt: HostFacts?)
        /// Nothing is there any more, or nobody may look.
        case done
        case wait(WaitDemand)
        /// No answer came.
        case silent(TransferError)
    }

    private enum Phase: Hashable, Sendable {
        /// Next: `counting`, over.
        case listing
        /// Has it parts? Next: `aborting`, over.
        case counting
        /// Next: over.
        case aborting
    }

    /// Both clocks have more than whole seconds, but not all servers show them.
    private static let margin = Duration.seconds(2)
    /// A request that the server has not got by then never came: what was begun later is somebody else's.
    private static let life = Duration.seconds(60)

    private let intent: S3ResumePoint
    private let begun: Timestamp
    private(set) var channel: S3Channel
    private var phase = Phase.listing
    /// The upload that is ours, unless it has parts.
    private var found: S3ResumePoint?

    /// `nil`: the point is no intent, or its region is none.
    init?(_ intent: S3ResumePoint, facts: HostFacts) {
        guard let begun = intent.intendedAt, let channel = S3Channel(intent.address, facts) else { return nil }
        self.intent = intent
        self.begun = begun
        self.channel = channel
    }

    /// The request of the phase.
    var request: Exchange? {
        switch (phase, found) {
        case (.listing, _):
            // Of keys that begin so the shortest comes first.
            let key = PercentEncoding.encode(intent.address.key.bytes)
            return channel.bucketExchange(query: "encoding-type=url&max-uploads=1000&prefix=\(key)&uploads")
                .map { .http($0) }
        case (.counting, let found?): return S3Messages.list(found, channel, after: nil)
        case (.aborting, let found?): return S3Messages.abort(found, channel)
        case (_, nil): return nil
        }
    }

    /// Takes the end of the last request, and returns the next step.
    mutating func took(_ end: ExchangeEnd) -> Step {
        switch channel.judge(end, lesson: channel.lessons, hasAccepted: false) {
        case .success(let answer): return succeeded(answer, end)
        case .again(let learnt): return ask(learnt)
        case .silent(let error, _): return .silent(error)
        case .refused(let refusal):
            if case .wait(let demand) = refusal.decision, [.auth, .hostBackoff].contains(demand.reason) {
                return .wait(demand)
            }
            // Whoever may not look, or asks a server that has no such lists, leaves it: without parts it costs nothing.
            return .done
        }
    }

    private mutating func succeeded(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> Step {
        switch phase {
        case .listing:
            let skew = answer.date.map { $0.since(end.at) } ?? .zero
            let earliest = begun.advanced(by: skew).advanced(by: .zero - Self.margin)
            let latest = earliest.advanced(by: Self.life)
            let fitting = (S3Answers.uploads(end.body)?.uploads ?? []).filter { upload in
                upload.key == intent.address.key && upload.begun.map { (earliest...latest).contains($0) } == true
            }
            guard fitting.count == 1 else { return .done }
            found = fitting[0].point(at: intent.address)
            phase = .counting
            return ask(nil)
        case .counting:
            guard S3Answers.parts(end.body)?.parts.isEmpty == true else { return .done }
            phase = .aborting
            return ask(nil)
        case .aborting: return .done
        }
    }

    private func ask(_ learnt: HostFacts?) -> Step { request.map { .ask($0, learnt: learnt) } ?? .done }
}

extension S3Upload {
    mutating func ask(_ sweep: S3Sweep) -> [ProtocolAction] {
        request(sweep.request) { .sweeping($0, sweep) }
    }

    mutating func swept(_ end: ExchangeEnd, _ sweep: S3Sweep) -> [ProtocolAction] {
        var sweep = sweep
        switch sweep.took(end) {
        case .ask(_, let learnt): return learned(learnt) + ask(sweep)
        case .done:
            if sweep.channel.address == plan.address { channel = sweep.channel }
            return beginAnew()
        case .wait(let demand): return over(.wait(demand))
        case .silent(let error): return giveUp(error)
        }
    }
}
