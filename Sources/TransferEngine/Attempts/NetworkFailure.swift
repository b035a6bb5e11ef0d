import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols

/// Translates a failed exchange: libcurl's code into one of our own, with a message that says what to do.
enum NetworkFailure {
    /// - Parameter handshakes: failed TLS handshakes of this task in a row, this one included: the third is believed.
    static func error(_ failure: CurlFailure, host: String, handshakes: Int) -> TransferError {
        let curl = Int(failure.code.rawValue)
        func error(_ code: TransferErrorCode, _ what: String, _ advice: String) -> TransferError {
            let detail = failure.text.isEmpty ? "" : " (\(RawPath(failure.text).displayed))"
            return TransferError(code, "\(what)\(detail): \(advice)", curlCode: curl)
        }
        let again = "Martlet tries again by itself"
        switch failure.cause {
        case .stalled: return error(.timedOut, "nothing moved to or from \(host)", again)
        case .noAnswer: return error(.timedOut, "\(host) gave no answer after the last byte", again)
        case .repeatRefused, .noFinalStatus:
            return error(.networkConnectionLost, "\(host) closed the connection without an answer", again)
        case .foreignListener:
            return TransferError(
                .cannotConnectToHost,
                "what listens at \(host) is no program of yours, and was sent nothing: start your receiver there again; \(again)",
                curlCode: curl)
        case .responseTooLarge, .headerTooLarge:
            return error(.badServerResponse, "\(host) sent an answer without end", "check the address")
        case .sourceEnded, .sourceFailed, .sinkFailed, nil: break
        }
        switch curl {
        // What libcurl says of these is the same in other words.
        case 5, 6:
            let name = curl == 5 ? "the proxy for \(host)" : String(host.prefix { $0 != ":" })
            return TransferError(
                .cannotFindHost,
                "\(name) cannot be found: check the spelling of its name, then the network; \(again)", curlCode: curl)
        case 7 where failure.osError == .networkUnreachable:
            return error(.notConnectedToInternet, "there is no network to \(host)", again)
        case 7: return error(.cannotConnectToHost, "\(host) does not accept the connection", again)
        case 28: return error(.timedOut, "\(host) took too long", again)
        case 35 where failure.failureClass == .transient:
            return error(.networkConnectionLost, "the connection to \(host) was cut", again)
        case 35 where handshakes < 3: return error(.networkConnectionLost, "no TLS with \(host) yet", again)
        case 35:
            return error(
                .tlsFailure, "\(host) speaks no TLS that we can",
                "check the address and port, and whether it is one without TLS")
        // libcurl takes no line of a header over 100 KiB, and calls what it does not take "Out of memory".
        case 27:
            return TransferError(
                .badServerResponse, "\(host) sent a line in its header that is too long: check the address",
                curlCode: curl)
        case 51, 60, 83, 91:
            let (what, advice) = words(of: failure.certificate, host: host)
            return error(.tlsFailure, what, advice)
        case 77:
            return error(
                .tlsFailure, "the file of authorities cannot be used", "name another" + TransferError.authorityAdvice)
        case 53, 54, 58, 59, 64, 66, 80, 82:
            return error(.tlsFailure, "TLS with \(host) cannot be set up", "check --ca and the server's settings")
        case 90:
            return error(
                .pinMismatch, "\(host) has another key than the pinned one", "ask who runs it" + TransferError.pinAdvice
            )
        case 1, 8, 61, 63:
            return error(.badServerResponse, "\(host) answers in no way that is HTTP", "check the address")
        case 3: return error(.unsupported, "the address is malformed", "check it and queue it again")
        case 4: return error(.unsupported, "this libcurl cannot do that", "install Debian's libcurl4")
        case 47: return error(.tooManyRedirects, "\(host) redirects again and again", "check the address")
        case 67: return error(.http, "\(host) refuses the user or password", "check them, then retry")
        case 97: return error(.cannotConnectToHost, "the proxy for \(host) refuses", "check the proxy; \(again)")
        default: break
        }
        switch failure.failureClass {
        case .transient, .handshake, .restart, .remoteDiskFull:
            return error(.networkConnectionLost, "the connection to \(host) was cut", again)
        case .local, .permanent, .programming:
            return error(.internal, "the exchange with \(host) failed", "retry; if it stays, report it with this text")
        }
    }

    private static func words(of fault: CertificateFault?, host: String) -> (what: String, advice: String) {
        switch fault {
        case .expired:
            (
                "the certificate of \(host) has expired",
                "check the clock of this machine, or have whoever runs the server renew it, then retry"
            )
        case .notYetValid:
            ("the certificate of \(host) is not valid yet", "check the clock of this machine, then retry")
        case .otherName: ("the certificate of \(host) is for another name", "check the address")
        case .unknownAuthority:
            ("the certificate of \(host) comes from an unknown authority", "check it" + TransferError.authorityAdvice)
        case .other, nil: ("the certificate of \(host) is not trusted", "check it" + TransferError.authorityAdvice)
        }
    }
}
