import TransferModel
import WireOperations

/// Removes what an upload left at a server, once nobody wants it any more: a cancelled task's grace time is over, or `leftovers abort`.
/// One request after the other; what was gone before counts as removed. What a server does not let go stays known.
package struct UploadRemoval: ProtocolMachine {
    private enum State {
        /// Next: `removing`, `over` (nothing is there).
        case ready
        /// Next: itself with the next one, `over`.
        case removing(ExchangeID, rest: [HTTPExchange])
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let exchanges: [HTTPExchange]
    private var state = State.ready
    private var lastID = 0
    /// The first error, such as the server's refusal, that left something there.
    private var refusal: TransferError?

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    init(_ exchanges: [HTTPExchange], after lastID: Int = 0) { (self.exchanges, self.lastID) = (exchanges, lastID) }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return next(exchanges)
        case (.removing(let id, let rest), .ended(let ended, let end)) where ended == id: return removed(end, rest)
        default: return []
        }
    }

    private mutating func next(_ exchanges: [HTTPExchange]) -> [ProtocolAction] {
        guard let first = exchanges.first else { return over(refusal.map { .fail($0) } ?? .finish(.removed)) }
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = .removing(id, rest: Array(exchanges.dropFirst()))
        return [.perform(id, .http(first))]
    }

    private mutating func removed(_ end: ExchangeEnd, _ rest: [HTTPExchange]) -> [ProtocolAction] {
        guard let answer = end.answer else {
            let error = end.failure?.error
            // What cannot be reached is tried again.
            if let error, error.isRetryable { return over(.wait(WaitDemand(.backoff, error))) }
            refusal = refusal ?? error
            return next(rest)
        }
        let host = exchanges.first?.url.host ?? ""
        switch answer.status {
        case 200..<300, 404, 410: break
        // The request that was cut off may still be at work on it.
        case 409, 423:
            return over(
                .wait(
                    WaitDemand(
                        .backoff,
                        TransferError(
                            .badServerResponse, "\(host) still holds the file for the request that was cut off", .again,
                            httpStatus: answer.status))))
        case 405, 501: refusal = refusal ?? .unremovable(host, answer.status)
        default:
            switch AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at) {
            case .wait(let demand): return over(.wait(demand))
            case .fail(let error): refusal = refusal ?? error
            case .success, .redirect: refusal = refusal ?? .unremovable(host, answer.status)
            }
        }
        return next(rest)
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}

extension TransferError {
    fileprivate static func unremovable(_ host: String, _ status: Int) -> TransferError {
        TransferError(
            .unsupported, "\(host) does not remove what it has of the upload",
            .step("it goes there by itself, or by who runs the server"), httpStatus: status)
    }
}
