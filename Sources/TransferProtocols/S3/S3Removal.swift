import TransferModel

/// Takes away what an upload to S3 that was cancelled has left there: its parts, which cost money as long as they lie.
/// Only an upload by its own ID, or one whose birth nobody heard of: an object that was completed meanwhile stays.
package struct S3Removal: ProtocolMachine {
    private enum State {
        /// Next: `sweeping`, `removing`, `over`.
        case ready
        /// Its ID is not known. Next: itself, `over`.
        case sweeping(ExchangeID, S3Sweep)
        /// The request is under way. Next: itself (something was learnt), `over`.
        case removing(ExchangeID)
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let point: S3ResumePoint
    private var channel: S3Channel?
    private var state = State.ready
    private var lastID = 0
    private let facts: HostFacts

    /// - Parameter facts: what is known of the bucket, under its `origin`.
    package init(_ point: S3ResumePoint, facts: HostFacts = HostFacts()) {
        self.point = point
        self.facts = facts
        channel = S3Channel(point.address, facts)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return S3Sweep(point, facts: facts).map { ask($0) } ?? remove()
        case (.sweeping(let id, let sweep), .ended(let ended, let end)) where ended == id: return swept(end, sweep)
        case (.removing(let id), .ended(let ended, let end)) where ended == id: return removed(end)
        default: return []
        }
    }

    private mutating func ask(_ sweep: S3Sweep) -> [ProtocolAction] {
        guard let request = sweep.request else { return over(.finish(.removed)) }
        lastID += 1
        state = .sweeping(ExchangeID(rawValue: lastID), sweep)
        return [.perform(ExchangeID(rawValue: lastID), request)]
    }

    private mutating func swept(_ end: ExchangeEnd, _ sweep: S3Sweep) -> [ProtocolAction] {
        var sweep = sweep
        switch sweep.took(end) {
        case .ask(_, let learnt): return (learnt.map { [.learned($0)] } ?? []) + ask(sweep)
        case .done: return over(.finish(.removed))
        case .wait(let demand): return over(.wait(demand))
        case .silent(let error): return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        }
    }

    private mutating func remove() -> [ProtocolAction] {
        guard let channel else { return over(.fail(.noRegion(point.address.place.region ?? ""))) }
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = .removing(id)
        return [.perform(id, S3Messages.abort(point, channel))]
    }

    private mutating func removed(_ end: ExchangeEnd) -> [ProtocolAction] {
        // Without a channel nothing was asked.
        guard var channel else { return [] }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: true)
        self.channel = channel
        switch verdict {
        case .success: return over(.finish(.removed))
        case .again(let learnt): return (learnt.map { [.learned($0)] } ?? []) + remove()
        case .silent(let error, _): return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        case .refused(let refusal):
            if refusal.status == 404 { return over(.finish(.removed)) }
            switch refusal.decision {
            case .wait(let demand): return over(.wait(demand))
            case .fail(let error): return over(.fail(error))
            }
        }
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
