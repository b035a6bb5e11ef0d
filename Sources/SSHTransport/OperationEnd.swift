package import LinuxSystem
package import TransferModel
package import WireOperations

// The module: SFTP version 3 spoken to the user's own OpenSSH, which is a child process per server and login. `SFTPTransport` is the door;
// everything in it happens on one event loop's thread. It knows no protocol of ours: no retry, no resume, no temporary names.
// Operations and replies are declared in WireOperations (`SFTPOperation`, `SFTPReply`). Start reading with `SFTPTransport`, then
// `SFTPConnection` (one child), `WriteWindow` and `ReadWindow` (pipelining), `SFTPPacket` (the bytes), `LoginFailure` (what ssh's words mean).

/// The owner of operations and remote handles: one attempt of a task. Operations of one owner are sent in their order.
package struct OperationOwner: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The end of an operation: its outcome and its byte counts.
package struct OperationEnd: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case answered(SFTPReply)
        /// The connection broke, or could not be made: a code of the network, or `unsupported` for what only a person can mend.
        case broken(TransferError)
        /// `ssh` could not get in (`auth`, `hostKey`): its words, and what to do.
        case notLetIn(WaitReason, TransferError)
        /// The source ended before the range did.
        case sourceEnded(at: Int64)
        case sourceFailed(Errno)
        case sinkFailed(Errno)
    }

    package var outcome: Outcome
    /// Writes only: every byte before this offset is acknowledged.
    package var writtenThrough: Int64?
    /// Writes only: bytes that the connection has on their way at most, by what is measured of its line.
    package var lineWindow: Int64?
    /// Reads only: bytes that the sink took.
    package var bytesRead: Int64
    package var features: SFTPFeatures
    /// Something of it was handed to the server's connection; false: the server never heard of it.
    package var wentOut = true

    package init(
        _ outcome: Outcome, writtenThrough: Int64? = nil, bytesRead: Int64 = 0,
        features: SFTPFeatures = SFTPFeatures()
    ) {
        self.outcome = outcome
        self.writtenThrough = writtenThrough
        self.bytesRead = bytesRead
        self.features = features
    }
}

/// The end of one operation, told once unless it was abandoned.
package struct SFTPEvent: Hashable, Sendable {
    package var id: WireID
    package var end: OperationEnd
    package init(id: WireID, end: OperationEnd) {
        self.id = id
        self.end = end
    }
}

/// The progress of a write or read.
package struct OperationProgress: Hashable, Sendable {
    /// Bytes of the source that are on their way to ssh or beyond, counted from the range's start.
    package var sent: Int64
    /// Bytes from the range's start on that the server has acknowledged without a gap.
    package var acknowledged: Int64
    /// Bytes of a read that the sink took.
    package var received: Int64
    package init(sent: Int64, acknowledged: Int64, received: Int64) {
        self.sent = sent
        self.acknowledged = acknowledged
        self.received = received
    }
}
