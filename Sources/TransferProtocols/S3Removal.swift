import TransferModel

/// Takes away what an upload to S3 that was cancelled has left there: its parts, which cost money as long as they lie.
/// Only an upload by its own ID: an object that was completed meanwhile stays.
package struct S3Removal: ProtocolMachine {
    private enum State {
        /// Next: `removing`, `over`.
        case ready
        /// The request is under way. Next: itself (something was learnt), `over`.
        case removing(ExchangeID)
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let point: S3ResumePoint
    private var channel: S3Channel?
    private var state = State.ready
    private var lastID = 0

    /// - Parameter facts: what is known of the bucket, under its `origin`.
    package init(_ point: S3ResumePoint, facts: HostFacts = HostFacts()) {
        self.point = point
        channel = S3Channel(point.address, facts)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return remove()
        case (.removing(let id), .ended(let ended, let end)) where ended == id: return removed(end)
        default: return []
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
        case .success: return over(.finish(Receipt(bytes: 0, verified: .none)))
        case .again(let learnt): return (learnt.map { [.learned($0)] } ?? []) + remove()
        case .silent(let error, _): return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        case .refused(let refusal):
            if refusal.status == 404 { return over(.finish(Receipt(bytes: 0, verified: .none))) }
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
