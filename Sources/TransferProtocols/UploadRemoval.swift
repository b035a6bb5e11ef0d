import TransferModel

/// Removes what an upload left at a server, once nobody wants it any more: a cancelled task's grace time is over, or `leftovers abort`.
/// One request after the other; what was gone before counts as removed.
package struct UploadRemoval: ProtocolMachine {
    private enum State {
        /// Next: `removing`, `over` (nothing is there).
        case ready
        /// Next: itself with the next one, `over`.
        case removing(ExchangeID, rest: [HTTPExchange])
        /// `finish` or `wait` was said.
        case over
    }

    private let exchanges: [HTTPExchange]
    private var state = State.ready
    private var lastID = 0

    init(_ exchanges: [HTTPExchange]) { self.exchanges = exchanges }

    /// The resources of a tus upload (the termination extension).
    package init(_ point: TusResumePoint, endpoint: HTTPAddress) {
        self.init(point.parts.compactMap(\.url).map { TusMessages.terminate($0, endpoint: endpoint) })
    }

    /// The resource of an upload of the IETF draft.
    package init(_ point: ResumableResumePoint, address: HTTPAddress) {
        self.init(
            point.url.map { [ResumableMessages.cancel($0, version: point.version, target: address)] } ?? [])
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return next(exchanges)
        case (.removing(let id, let rest), .ended(let ended, let end)) where ended == id: return removed(end, rest)
        default: return []
        }
    }

    private mutating func next(_ exchanges: [HTTPExchange]) -> [ProtocolAction] {
        guard let first = exchanges.first else { return over(.finish(.removed)) }
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = .removing(id, rest: Array(exchanges.dropFirst()))
        return [.perform(id, .http(first))]
    }

    private mutating func removed(_ end: ExchangeEnd, _ rest: [HTTPExchange]) -> [ProtocolAction] {
        guard let answer = end.answer else {
            let error = end.failure?.error
            // What cannot be reached is tried again; what can never be is left to the server's own clearing up.
            if let error, error.isRetryable { return over(.wait(WaitDemand(.backoff, error))) }
            return next(rest)
        }
        let host = exchanges.first?.url.host ?? ""
        // A server that forbids or lacks removal keeps the rest until it expires.
        if case .wait(let demand) = AnswerMeaning(answer, host: host, hasAccepted: false, at: end.at),
            answer.status != 501
        {
            return over(.wait(demand))
        }
        return next(rest)
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
