package import LinuxSystem

/// Status line and header of one answer.
package struct ResponseHead: Sendable, Equatable {
    /// 100…999
    package let status: Int
    package let fields: [HTTPField]

    package init(status: Int, fields: [HTTPField]) {
        self.status = status
        self.fields = fields
    }

    /// The first field of that name, whatever its case.
    package func value(_ name: String) -> String? {
        let wanted = name.lowercased()
        return fields.first { $0.name.lowercased() == wanted }?.value
    }
}

/// An event of an exchange, told after libcurl has returned.
///
/// An exchange has any number of `interim`, at most one `head`, and exactly one `ended`, in this order, unless it was
/// abandoned: then nothing more.
package enum TransportEvent: Sendable {
    /// An answer below 200 other than 100, such as 104 of a resumable upload.
    case interim(ExchangeID, ResponseHead)
    /// The final answer's header is complete. Behind a gate the body now waits for `openGate`.
    case head(ExchangeID, ResponseHead, retryAfter: Duration?)
    case ended(ExchangeID, ExchangeEnd)
}

/// The reasons for which an exchange failed, where libcurl's code alone does not say it.
package enum ExchangeCause: Sendable, Equatable {
    /// The source had fewer bytes than were announced.
    case sourceEnded(at: Int64)
    case sourceFailed(Errno)
    case sinkFailed(Errno)
    /// An answer's body went on and on beyond what was to be kept or dropped.
    case responseTooLarge
    /// The header went on and on.
    case headerTooLarge
    /// Nothing moved for ``ExchangeTimeouts/stall``.
    case stalled
    /// Nothing came for ``ExchangeTimeouts/answer`` after the last byte of the request.
    case noAnswer
    /// A kept connection died before any answer, and the request was not to be repeated unseen: it may have happened.
    case repeatRefused
    /// The program at the other end is not this user's, and the request is for one that is.
    case foreignListener
    /// libcurl was content although no final answer came.
    case noFinalStatus
}

/// A failed exchange.
package struct ExchangeFailure: Sendable, Equatable {
    package let code: CurlCode
    package let cause: ExchangeCause?
    /// The system's error behind it, where libcurl knows one. Corresponds to `CURLINFO_OS_ERRNO`.
    package let osError: Errno?
    /// The message of libcurl, with the address it spoke to.
    package let text: String
    /// The reason for which the peer's certificate was refused; `nil`: that is not why it failed.
    package let certificate: CertificateFault?

    package init(
        _ code: CurlCode, cause: ExchangeCause? = nil, osError: Errno? = nil, text: String,
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
        case .stalled, .noAnswer, .repeatRefused, .noFinalStatus, .foreignListener: .transient
        case .sourceEnded, .sourceFailed, .sinkFailed, .responseTooLarge, .headerTooLarge: .local
        }
    }

    /// The line broke in the middle of a TLS handshake, which says nothing of the TLS that is spoken there.
    private var isCutHandshake: Bool {
        guard code.rawValue == 35, let osError else { return false }
        return [.connectionReset, .connectionAborted, .brokenPipe, .timedOut].contains(osError)
    }
}

/// The body of an answer that was kept in memory.
package struct ResponseBody: Sendable, Equatable {
    package var bytes: [UInt8]
    /// There was more than the limit.
    package var isTruncated: Bool

    package init(_ bytes: [UInt8] = [], isTruncated: Bool = false) {
        self.bytes = bytes
        self.isTruncated = isTruncated
    }
}

/// The end of an exchange, with all that a decision needs.
package struct ExchangeEnd: Sendable {
    /// nil: a complete final answer came, whatever its status.
    package var failure: ExchangeFailure?
    /// The final answer's header, where it came that far.
    package var head: ResponseHead?
    /// The wait that the server asks for, 0…24 h.
    package var retryAfter: Duration?
    package var body = ResponseBody()
    /// Bytes of the request's body given to the connection; the server may have seen fewer.
    package var bytesSent: Int64 = 0
    /// The whole body was given to the connection.
    package var bodyWasSent = false
    /// Bytes of the final answer's body.
    package var bytesReceived: Int64 = 0
    /// The server said 100 Continue.
    package var sawContinue = false
    /// The absolute target of a redirect that was not followed.
    package var redirectURL: String?
    /// The peer's address.
    package var address: String?

    /// An end with nothing in it yet; for the transport and for fakes of it.
    package init() {}
}

/// The progress of an exchange.
package struct ExchangeProgress: Sendable, Equatable {
    /// Bytes of the request's body given to the connection.
    package let sent: Int64
    /// Bytes of the final answer's body.
    package let received: Int64
    /// Those of them that the sink has; `flush` makes it all.
    package let delivered: Int64

    package init(sent: Int64, received: Int64, delivered: Int64) {
        self.sent = sent
        self.received = received
        self.delivered = delivered
    }
}
