import TransferModel

/// The meaning of an FTP exchange's result when the protocol gives it no other.
enum FTPMeaning: Hashable, Sendable {
    case wait(WaitDemand)
    case fail(TransferError)

    /// - Parameter hasAccepted: earlier bytes of this task were accepted, so a refusal means that the permission is gone.
    init(_ end: FTPEnd, host: String, hasAccepted: Bool) {
        guard end.isRefusal else {
            self = Self.failure(end.failure ?? .network(.cutOff(by: host)))
            return
        }
        let error = { (code: TransferErrorCode, remedy: Remedy) in
            TransferError(code, "\(host) answered \(end.reply)\(end.quoted)", remedy)
        }
        switch end.reply {
        case 421: self = .wait(WaitDemand(.backoff, error(.networkConnectionLost, .again)))
        case _ where end.isLoginRefused || end.reply == 530 || end.reply == 532:
            // Some servers say so when too many are in; no password would mend that.
            let isFull = end.reply < 500 || ["too many", "maximum"].contains { end.text.lowercased().contains($0) }
            self =
                isFull
                ? .wait(WaitDemand(.hostBackoff, error(.networkConnectionLost, .again)))
                : .wait(WaitDemand(.auth, error(.http, .login())))
        case _ where end.saysFull:
            self = .wait(
                WaitDemand(
                    .remoteDiskSpace,
                    error(.http, .automatic("its disk or quota is full; make room there, Martlet tries again"))))
        case 400..<500: self = .wait(WaitDemand(.backoff, error(.networkConnectionLost, .again)))
        case 550, 553:
            self =
                hasAccepted
                ? .wait(
                    WaitDemand(
                        .auth, error(.permissionDenied, .thenRetry("it took bytes of this file before; ask for access"))
                    ))
                : .fail(error(.permissionDenied, .step("check the address, and ask for access there")))
        case 500, 502, 504:
            self = .fail(error(.unsupported, .queued("it does not know that; send the file another way")))
        default: self = .fail(error(.http, .thenRetry("check the address and the server's log")))
        }
    }

    private static func failure(_ failure: ExchangeFailure) -> FTPMeaning {
        switch failure {
        // The proxy before the server says so, and lets no other attempt of the batch in either.
        case .network(let error) where error.httpStatus == 407: .wait(WaitDemand(.auth, error))
        case .network(let error) where error.isRetryable: .wait(WaitDemand(.backoff, error))
        case .network(let error): .fail(error)
        case .sink(let error, waits: let reason?): .wait(WaitDemand(reason, error))
        case .sink(let error, waits: nil): .fail(error)
        }
    }

    var action: ProtocolAction {
        switch self {
        case .wait(let demand): .wait(demand)
        case .fail(let error): .fail(error)
        }
    }
}
