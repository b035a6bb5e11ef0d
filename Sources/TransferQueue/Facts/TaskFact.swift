package import TransferModel

/// A fact about a running task, for the next group commit.
package enum TaskFact: Sendable {
    /// An attempt has a slot.
    case running
    /// All bytes are accepted; sync, digest, rename go on.
    case finishing
    /// The confirmed position, and what must be known to continue there; `nil` leaves the stored resume point as it is.
    /// `secret`: what belongs to the resume point and may stand in the secrets store alone; there before the resume point is.
    case checkpoint(resumePoint: [UInt8]?, accepted: Int64, secret: String? = nil)
    /// Data that an attempt ended by a kill may have left at the server: it is for who clears up; the next attempt begins at zero.
    case guess(resumePoint: [UInt8])
    /// So much of an upload is sent, and its server has not said that it has it. `kept`: the server knows, and says so when the
    /// upload goes on; otherwise it cannot resume, and a kill of the engine has it sent again.
    case sent(Int64, kept: Bool)
    /// The attempt that ends now has not reached its server. It counts when it was the first.
    case untouched
    /// An attempt went on at an offset; `repeated` bytes had to cross the wire again.
    case resumedAtOffset(Int64, repeated: Int64)
    /// It begins again from zero: `accepted` becomes 0, and the resume point is dropped or replaced by one of what is left at the server.
    /// `identity`: the source as it is now, when it changed. One fact, since a kill between a new identity and the point that knows of
    /// the change would let bytes of two versions become one file. `isOther`: a download of another version than before.
    case restarted(
        reason: String, repeated: Int64, identity: SourceIdentity?, isOther: Bool = false,
        resumePoint: [UInt8]? = nil, secret: String? = nil)
    /// The data at the server is known not to be the file: no later attempt knows of one before it, nor goes on with what it left. The
    /// number of accepted bytes is still shown until one begins.
    case forgotten
    /// A download's size, told by the server.
    case sizeKnown(Int64)
    /// The attempt ended and the task waits. `error`: why, when an attempt failed. `retryAt`: when it is due by itself.
    case waiting(WaitReasons, retryAt: Timestamp?, error: TransferError?)
    /// The attempt ended without failure and the task stands in line again (pre-empted, engine stopped).
    case requeued
    case completed(Completion)
    /// `retry` is part of this fact, so that neither a kill nor a person's retry can come between the end and the point.
    case failed(TransferError, retry: RetryPoint? = nil)
    /// The server's last answer, kept for `show --response`. Sensitive header fields are the caller's to leave out.
    case response(TransferResponse)
}

/// Facts about the server that a retry of a failed upload must know.
package struct RetryPoint: Hashable, Sendable {
    package var resumePoint: [UInt8]
    /// Bytes of the file that the server has of it.
    package var accepted: Int64
    /// As of a checkpoint.
    package var secret: String?

    package init(resumePoint: [UInt8], accepted: Int64, secret: String? = nil) {
        (self.resumePoint, self.accepted, self.secret) = (resumePoint, accepted, secret)
    }
}

/// The result of a completed task.
package struct Completion: Hashable, Sendable {
    package var size: Int64
    package var verified: Verification
    /// Nothing was sent: a file was there already.
    package var skipped: Bool
    /// The rule left it there, whatever its bytes are.
    package var spared: Bool
    package var digest: TransferDigest?
    /// Downloads only: the path where the file ended up.
    package var finalPath: RawPath?
    /// Uploads only: the server's ETag of the version that it stored, where it said it.
    package var etag: String?
    /// Uploads only: a resume point of what the server has not removed of earlier versions; it stays known until that is gone.
    package var left: [UInt8]?
    /// Uploads only, where nothing was compared: the status by which the server said that it has the file.
    package var answered: Int?

    package init(
        size: Int64, verified: Verification, skipped: Bool = false, spared: Bool = false,
        digest: TransferDigest? = nil, finalPath: RawPath? = nil, etag: String? = nil, left: [UInt8]? = nil
    ) {
        (self.etag, self.left) = (etag, left)
        self.size = size
        self.verified = verified
        self.skipped = skipped
        self.spared = spared
        self.digest = digest
        self.finalPath = finalPath
    }
}
