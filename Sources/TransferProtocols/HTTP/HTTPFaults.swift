import TransferModel
import WireOperations

// Meanings of answers, and of missing ones, that several protocols over HTTP share.

extension AnswerMeaning {
    /// As of any request, but a lock passes, and nobody follows redirects: what is stored elsewhere could not be moved or removed from here.
    static func withoutRedirects(_ answer: HTTPAnswer, host: String, hasAccepted: Bool, at now: Timestamp)
        -> AnswerMeaning
    {
        switch answer.status {
        case 423:
            let error = TransferError(.http, "\(host) says that the file is locked", .again, httpStatus: 423)
            return .wait(WaitDemand(.backoff, error, retryAfter: answer.retryAfter(now: now)))
        case 301, 302, 303, 307, 308:
            return .fail(TransferError(.http, finding(answer.status, host: host), httpStatus: answer.status))
        default: return AnswerMeaning(answer, host: host, hasAccepted: hasAccepted, at: now)
        }
    }

    /// The last action that it means; `nil` when the answer was no refusal.
    var refusal: ProtocolAction? {
        switch self {
        case .wait(let demand): .wait(demand)
        case .fail(let error): .fail(error)
        case .success, .redirect: nil
        }
    }
}

extension WaitDemand {
    /// A server that took bytes of this upload before does so no more.
    static func refused(_ answer: HTTPAnswer, _ address: HTTPAddress) -> WaitDemand {
        WaitDemand(
            .auth,
            TransferError(
                .http, "\(address.server) no longer lets this upload go on (\(answer.status))",
                .login("renew the access there, or "), httpStatus: answer.status))
    }
}

extension TransferError {
    /// The line ended before an answer came.
    static func noAnswer(_ address: HTTPAddress) -> TransferError { cutOff(by: address.server) }

    static func cutOff(by host: String) -> TransferError {
        TransferError(.networkConnectionLost, "\(host) closed the connection without an answer", .again)
    }
}
