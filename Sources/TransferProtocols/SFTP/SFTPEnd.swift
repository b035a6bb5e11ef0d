package import TransferModel
package import WireOperations

/// The result of an SFTP operation.
package struct SFTPEnd: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case answered(SFTPReply)
        /// The SHA-256 that `Exchange.sftpDigest` asked for.
        case digested(TransferDigest)
        /// `Exchange.sftpDigest` found more bytes than it was told of: the file is another one.
        case longer
        /// The connection, or the local file, failed.
        case failed(ExchangeFailure)
        /// The person's `ssh` could not get in: its words, and what it means for the task (`auth`, `hostKey`).
        case notLetIn(WaitReason, TransferError)
    }

    package var outcome: Outcome
    /// Writes only: every byte before this offset is acknowledged.
    package var writtenThrough: Int64?
    /// Writes only: bytes that the line wants on their way so that it never stands idle, as far as that is measured.
    package var lineWindow: Int64?
    /// Bytes that were written through the gate.
    package var bytesWritten: Int64
    package var features: SFTPFeatures
    package var at: Timestamp

    package init(
        _ outcome: Outcome, writtenThrough: Int64? = nil, lineWindow: Int64? = nil, bytesWritten: Int64 = 0,
        features: SFTPFeatures = SFTPFeatures(), at: Timestamp
    ) {
        self.outcome = outcome
        self.writtenThrough = writtenThrough
        self.lineWindow = lineWindow
        self.bytesWritten = bytesWritten
        self.features = features
        self.at = at
    }
}

extension SFTPEnd {
    /// The action when nothing of the operation was answered; `nil` when something was.
    var brokenOff: ProtocolAction? {
        switch outcome {
        case .failed(let failure): SFTPMeaning.action(failure)
        case .notLetIn(let reason, let error): .wait(WaitDemand(reason, error))
        case .answered, .digested, .longer: nil
        }
    }

    /// The server's answer.
    var reply: SFTPReply? {
        if case .answered(let reply) = outcome { reply } else { nil }
    }

    var attributes: SFTPAttributes? {
        if case .attributes(let attributes)? = reply { attributes } else { nil }
    }

    /// The server's refusal.
    var refusal: (status: SFTPStatus, text: String)? {
        if case .refused(let status, let text)? = reply { (status, text) } else { nil }
    }
}
