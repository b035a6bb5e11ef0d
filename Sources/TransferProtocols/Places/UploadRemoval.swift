import TransferModel
import WireOperations

/// Removes what an upload left at a server, once nobody wants it any more: a cancelled task's grace time is over, or `leftovers abort`.
/// One request after the other; what was gone before counts as removed. What a server does not let go stays known.
///
/// An upload that may have become its file is looked at first: servers that keep a file under its upload's address would remove that.
package struct UploadRemoval: ProtocolMachine {
    /// The question whether an upload has become its file.
    struct Look: Sendable {
        let exchange: HTTPExchange
        /// True of an answer that says that the server has the whole file; `nil`: it says nothing of the upload.
        let isWhole: @Sendable (HTTPAnswer) -> Bool?
    }

    private enum State {
        /// Next: `looking`, `removing`, `over` (nothing is there).
        case ready
        /// Next: `removing`, `over`.
        case looking(ExchangeID, Look)
        /// Next: itself with the next one, `over`.
        case removing(ExchangeID, HTTPExchange, rest: [HTTPExchange])
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let exchanges: [HTTPExchange]
    private let look: Look?
    private var state = State.ready
    private var lastID = 0
    /// The first error, such as the server's refusal, that left something there.
    private var refusal: TransferError?

    init(_ exchanges: [HTTPExchange], after look: Look? = nil) { (self.exchanges, self.look) = (exchanges, look) }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began):
            guard let look else { return next(exchanges) }
            return perform(look.exchange) { .looking($0, look) }
        case (.looking(let id, let look), .ended(let ended, let end)) where ended == id: return looked(end, look)
        case (.removing(let id, let exchange, let rest), .ended(let ended, let end)) where ended == id:
            switch Verdict(end, of: exchange) {
            case .done, .gone: return next(rest)
            case .wait(let demand): return over(.wait(demand))
            case .refused(let error):
                refusal = refusal ?? error
                return next(rest)
            }
        default: return []
        }
    }

    private mutating func looked(_ end: ExchangeEnd, _ look: Look) -> [ProtocolAction] {
        switch Verdict(end, of: look.exchange) {
        case .done(let answer):
            guard let isWhole = look.isWhole(answer) else {
                return over(.wait(WaitDemand(.backoff, .noAnswer(look.exchange.url))))
            }
            return isWhole ? over(.finish(.removed)) : next(exchanges)
        case .gone: return over(.finish(.removed))
        case .wait(let demand): return over(.wait(demand))
        case .refused(let error): return over(.fail(error))
        }
    }

    private mutating func next(_ exchanges: [HTTPExchange]) -> [ProtocolAction] {
        guard let first = exchanges.first else { return over(refusal.map { .fail($0) } ?? .finish(.removed)) }
        return perform(first) { .removing($0, first, rest: Array(exchanges.dropFirst())) }
    }

    private mutating func perform(_ exchange: HTTPExchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, .http(exchange))]
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}

/// The meaning of the end of one of these requests.
private enum Verdict {
    /// A status from 200 to 299.
    case done(HTTPAnswer)
    /// Nothing was there.
    case gone
    case wait(WaitDemand)
    case refused(TransferError)

    init(_ end: ExchangeEnd, of exchange: HTTPExchange) {
        let host = exchange.url.host
        guard let answer = end.answer else {
            let error = end.failure?.error ?? .cutOff(by: host)
            // What cannot be reached is tried again.
            self = error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .refused(error)
            return
        }
        switch answer.status {
        case 200 where answer.isPage:
            self = .wait(WaitDemand(.backoff, .page(at: host, insteadOf: "server of files")))
        case 200..<300: self = .done(answer)
        case 404, 410: self = .gone
        // The request that was cut off may still be at work on it.
        case 409, 423:
            let error = TransferError(
                .badServerResponse, "\(host) still holds the file for the request that was cut off", .again,
                httpStatus: answer.status)
            self = .wait(WaitDemand(.backoff, error))
        case 405, 501: self = .refused(.unremovable(host, answer.status))
        default:
            switch AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at) {
            case .wait(let demand): self = .wait(demand)
            case .fail(let error): self = .refused(error)
            case .success, .redirect: self = .refused(.unremovable(host, answer.status))
            }
        }
    }
}

extension TransferError {
    fileprivate static func unremovable(_ host: String, _ status: Int) -> TransferError {
        TransferError(
            .unsupported, "\(host) does not remove what it has of the upload",
            .step("it goes there by itself, or by who runs the server"), httpStatus: status)
    }
}
