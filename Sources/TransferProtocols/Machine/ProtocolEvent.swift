package import TransferModel
package import WireOperations

/// An event that a protocol is told. A protocol reads no clock: every event that needs the time brings it.
package enum ProtocolEvent: Sendable {
    /// The attempt begins. The first event, once.
    case began(at: Timestamp)
    /// An answer below 200 other than 100 came, while the request still goes out.
    case interim(ExchangeID, HTTPAnswer, at: Timestamp)
    /// The head of the final answer is there; the body is not read before `openGate` when the sink is gated.
    case answered(ExchangeID, HTTPAnswer, at: Timestamp)
    /// The exchange is over, well or badly. The last event of that exchange, unless it was abandoned.
    case ended(ExchangeID, ExchangeEnd)
    /// As `ended`, of an FTP exchange.
    case ftpEnded(ExchangeID, FTPEnd)
    /// As `ended`, of an SFTP operation.
    case sftpEnded(ExchangeID, SFTPEnd)
    /// A download's local file is on the disk up to this offset.
    case synced(through: Int64)
    /// The digest of the task's source, asked for by `digestSource`.
    case digested(TransferDigest)
    /// The digests of a range of it, asked for by `digestRange`, in the order asked for.
    case rangeDigested(Range<Int64>, [TransferDigest])
    /// A timer that the protocol set.
    case timerFired(ProtocolTimer)
    /// Our clock was set back: times before this event are of another clock than those after it.
    case clockSetBack
}

/// A protocol's timers, by purpose; setting one again moves it.
package enum ProtocolTimer: Hashable, Sendable {
    /// Ask once more whether the file arrived.
    case probeAgain
    /// Send the same request again.
    case repeatRequest
}

/// The result of an HTTP exchange.
package struct ExchangeEnd: Sendable {
    /// The head of the final answer, if one came.
    package var answer: HTTPAnswer?
    /// The beginning of a kept body.
    package var body: [UInt8]
    /// Bytes of the request's body that were handed to the transport.
    package var bytesSent: Int64
    /// Bytes of the answer that were written through the gate.
    package var bytesWritten: Int64
    /// `nil`: a clean end.
    package var failure: ExchangeFailure?
    /// Listings only: the result of reading the bytes.
    package var listing: ListingEnd?
    package var at: Timestamp

    /// True when the server may have acted on the request without saying so: no answer came, or a gateway answered that had none itself.
    package var mayHaveBeenActedOn: Bool {
        guard let answer else { return failure?.mayHaveReachedServer ?? true }
        return answer.status == 502 || answer.status == 504 || (520...524).contains(answer.status)
    }

    /// The request surely never got to its server.
    var isUnasked: Bool { answer == nil && failure?.mayHaveReachedServer == false }

    /// True of the end of a DELETE by which what it named is gone, by the server's word.
    var isGone: Bool { answer.map { $0.isSuccess && !$0.isPageForYes || $0.isAbsence } ?? false }

    /// The error of a request that never got there, and may get there later: whoever has to ask first asks again.
    var unasked: TransferError? {
        guard isUnasked, let failure, failure.error.isRetryable else { return nil }
        return failure.error
    }

    package init(
        answer: HTTPAnswer?, body: [UInt8] = [], bytesSent: Int64 = 0, bytesWritten: Int64 = 0,
        failure: ExchangeFailure? = nil, at: Timestamp
    ) {
        self.answer = answer
        self.body = body
        self.bytesSent = bytesSent
        self.bytesWritten = bytesWritten
        self.failure = failure
        self.at = at
    }
}

/// The reason why an exchange did not end cleanly.
package enum ExchangeFailure: Hashable, Sendable {
    /// On the way: name, connection, TLS, time-out.
    case network(TransferError)
    /// The local file could not be written; `waits` when room or a person can mend it.
    case sink(TransferError, waits: WaitReason?)
}
