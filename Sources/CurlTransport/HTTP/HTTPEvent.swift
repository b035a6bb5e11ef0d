package import WireOperations

/// An event of an exchange, told after libcurl has returned.
///
/// An exchange has any number of `interim`, at most one `head`, and exactly one `ended`, in this order, unless it was
/// abandoned: then nothing more.
package enum HTTPEvent: Sendable {
    /// An answer below 200 other than 100, such as 104 of a resumable upload.
    case interim(WireID, HTTPAnswer)
    /// The final answer's header is complete. Behind a gate the body now waits for `openGate`.
    /// - Parameter zone: of the server's address; a proxy stands for the internet.
    case head(WireID, HTTPAnswer, retryAfter: Duration?, zone: AddressZone?)
    case ended(WireID, HTTPTransferEnd)
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
package struct HTTPTransferEnd: Sendable {
    /// nil: a complete final answer came, whatever its status.
    package var failure: CurlFailure?
    /// The final answer's header, where it came that far.
    package var head: HTTPAnswer?
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
    /// The peer's address.
    package var address: String?
    /// As in ``HTTPEvent/head``; `nil` without an answer.
    package var zone: AddressZone?

    /// An end with nothing in it yet; for the transport and for fakes of it.
    package init() {}
}
