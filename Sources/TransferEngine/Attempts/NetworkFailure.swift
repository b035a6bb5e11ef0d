import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols

/// Translates a failed exchange: libcurl's code into one of our own, with a message that says what to do.
enum NetworkFailure {
    static func otherZone(_ host: String) -> TransferError {
        TransferError(
            .networkConnectionLost,
            "\(host) has come to a more private network than before, and nothing was sent there",
            .again)
    }

    /// - Parameter handshakes: failed TLS handshakes in a row (`HandshakeFailures.failed`): from the third on the server speaks no TLS.
    static func error(_ failure: CurlFailure, host: String, handshakes: Int) -> TransferError {
        let curl = Int(failure.code.rawValue)
        func error(_ code: TransferErrorCode, _ what: String, _ remedy: Remedy) -> TransferError {
            let aside = failure.text.isEmpty ? nil : RawPath(failure.text).displayed
            return TransferError(code, what, aside: aside, remedy, curlCode: curl)
        }
        switch failure.cause {
        case .stalled: return error(.timedOut, "nothing moved to or from \(host)", .again)
        case .noAnswer: return error(.timedOut, "\(host) gave no answer after the last byte", .again)
        case .repeatRefused, .noFinalStatus:
            return error(.networkConnectionLost, "\(host) closed the connection without an answer", .again)
        case .tooMuchProgress:
            return error(.networkConnectionLost, "\(host) told of its progress more often than libcurl takes", .again)
        case .foreignListener:
            return TransferError(
                .cannotConnectToHost, "what listens at \(host) is no program of yours, and was sent nothing",
                .again("start your receiver there again"), curlCode: curl)
        case .proxyRefused(407):
            return TransferError(
                .http, "the proxy wants another user or password before it reaches \(host)",
                .queued("give them in https_proxy or all_proxy, and queue it again"), httpStatus: 407, curlCode: curl)
        case .proxyRefused(let status):
            return TransferError(
                .cannotConnectToHost, "the proxy answered \(status) when it was asked for \(host)",
                .again("check its settings"), curlCode: curl)
        case .addressTooPrivate:
            return TransferError(
                .unsupported,
                "the server sent us on to \(host), which is in a more private network than the server, and nothing was sent there",
                .queued("if you trust \(host), queue the file with that address"), curlCode: curl)
        case .responseTooLarge, .headerTooLarge:
            return error(.badServerResponse, "\(host) sent an answer without end", .step("check the address"))
        case .sourceEnded, .sourceFailed, .sinkFailed, nil: break
        }
        switch curl {
        // What libcurl says of these is the same in other words.
        case 5, 6:
            let name = curl == 5 ? "the proxy for \(host)" : String(host.prefix { $0 != ":" })
            return TransferError(
                .cannotFindHost, "\(name) cannot be found", .again("check the spelling of its name, then the network"),
                curlCode: curl)
        case 7 where failure.osError == .networkUnreachable:
            return error(.notConnectedToInternet, "there is no network to \(host)", .again)
        case 7: return error(.cannotConnectToHost, "\(host) does not accept the connection", .again)
        case 28: return error(.timedOut, "\(host) took too long", .again)
        case 35 where failure.failureClass == .transient:
            return error(.networkConnectionLost, "the connection to \(host) was cut", .again)
        case 35 where handshakes < 3: return error(.networkConnectionLost, "no TLS with \(host) yet", .again)
        case 35:
            return error(
                .tlsFailure, "\(host) speaks no TLS that we can",
                .step("check the address and port, and whether it is one without TLS"))
        // libcurl takes no line of a header over 100 KiB, and calls what it does not take "Out of memory".
        case 27:
            return TransferError(
                .badServerResponse, "\(host) sent a line in its header that is too long", .step("check the address"),
                curlCode: curl)
        case 51, 60, 83, 91:
            let (what, remedy) = words(of: failure.certificate, host: host)
            return error(.tlsFailure, what, remedy)
        case 77:
            return error(
                .tlsFailure, "the file of authorities for \(host) cannot be used", .authority("mend that file"))
        case 64:
            return error(
                .tlsFailure, "\(host) offers no TLS",
                .queued("ask who runs it for TLS; where none is needed, queue it again with ftp://"))
        case 53, 54, 58, 59, 66, 80, 82:
            return error(
                .tlsFailure, "TLS with \(host) cannot be set up", .step("check --ca and the server's settings"))
        case 90:
            return error(
                .pinMismatch, "\(host) has another key than the pinned one", .pin("ask who runs it")
            )
        case 1, 8, 61, 63:
            return error(.badServerResponse, "\(host) answers in no way that is HTTP", .step("check the address"))
        case 3: return error(.unsupported, "the address is malformed", .queued("check it and queue it again"))
        case 4: return error(.unsupported, "this libcurl cannot do that", .step("install Debian's libcurl4"))
        case 47: return error(.tooManyRedirects, "\(host) redirects again and again", .step("check the address"))
        case 67: return error(.http, "\(host) refuses the user or password", .thenRetry("check them"))
        case 97: return error(.cannotConnectToHost, "the proxy refuses to reach \(host)", .again("check the proxy"))
        default: break
        }
        switch failure.failureClass {
        case .transient, .handshake, .restart, .remoteDiskFull:
            return error(.networkConnectionLost, "the connection to \(host) was cut", .again)
        case .local, .permanent, .programming:
            return error(
                .internal, "the exchange with \(host) failed", .retry("retry; if it stays, report it with this text"))
        }
    }

    private static func words(of fault: CertificateFault?, host: String) -> (what: String, remedy: Remedy) {
        switch fault {
        case .expired:
            (
                "the certificate of \(host) has expired",
                .thenRetry("check the clock of this machine, or have whoever runs the server renew it")
            )
        case .notYetValid:
            ("the certificate of \(host) is not valid yet", .thenRetry("check the clock of this machine"))
        case .otherName: ("the certificate of \(host) is for another name", .step("check the address"))
        case .unknownAuthority:
            ("the certificate of \(host) comes from an unknown authority", .authority("check it"))
        case .other, nil: ("the certificate of \(host) is not trusted", .authority("check it"))
        }
    }
}
