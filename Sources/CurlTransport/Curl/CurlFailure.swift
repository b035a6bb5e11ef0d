package import LinuxSystem

/// The reasons for which an exchange failed, where libcurl's code alone does not say it.
package enum CurlFailureCause: Sendable, Equatable {
    /// The source had fewer bytes than were announced.
    case sourceEnded(at: Int64)
    case sourceFailed(Errno)
    case sinkFailed(Errno)
    /// An answer's body went on and on beyond what was to be kept or dropped.
    case responseTooLarge
    /// The header went on and on.
    case headerTooLarge
    /// The answers that tell of an upload's progress (104) came to more than libcurl takes in one exchange.
    case tooMuchProgress
    /// Nothing moved for ``RequestTimeouts/stall``.
    case stalled
    /// Nothing came for ``RequestTimeouts/answer`` after the last byte of the request.
    case noAnswer
    /// A kept connection died before any answer, and the request was not to be repeated unseen: it may have happened.
    case repeatRefused
    /// The program at the other end is not this user's, and the request is for one that is.
    case foreignListener
    /// The server named an address in a more private zone than its own; nothing was sent to it.
    case addressTooPrivate
    /// A proxy did not make the tunnel that it was asked for; the status of its answer.
    case proxyRefused(Int)
    /// libcurl was content although no final answer came.
    case noFinalStatus
}

/// A failed exchange.
package struct CurlFailure: Sendable, Equatable {
    package let code: CurlCode
    package let cause: CurlFailureCause?
    /// The system's error behind it, where libcurl knows one. Corresponds to `CURLINFO_OS_ERRNO`.
    package let osError: Errno?
    /// The message of libcurl, with the address it spoke to.
    package let text: String
    /// The reason for which the peer's certificate was refused; `nil`: that is not why it failed.
    package let certificate: CertificateFault?

    package init(
        _ code: CurlCode, cause: CurlFailureCause? = nil, osError: Errno? = nil, text: String,
        certificate: CertificateFault? = nil
    ) {
        self.code = code
        self.cause = cause
        self.osError = osError
        self.text = text
        self.certificate = certificate
    }

    /// The kind of failure; a cause of ours counts more than libcurl's code.
    package var failureClass: CurlFailureClass {
        switch cause {
        case nil: isCutHandshake ? .transient : CurlFailureClass(code)
        case .stalled, .noAnswer, .repeatRefused, .noFinalStatus, .foreignListener, .tooMuchProgress, .proxyRefused:
            .transient
        case .sourceEnded, .sourceFailed, .sinkFailed, .responseTooLarge, .headerTooLarge: .local
        case .addressTooPrivate: .permanent
        }
    }

    /// The line broke in the middle of a TLS handshake, which says nothing of the TLS that is spoken there.
    private var isCutHandshake: Bool {
        guard code.rawValue == 35, let osError else { return false }
        return [.connectionReset, .connectionAborted, .brokenPipe, .timedOut].contains(osError)
    }
}
