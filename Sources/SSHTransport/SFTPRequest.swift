package import LinuxSystem
package import TransferModel

// The module: SFTP version 3 spoken to the user's own OpenSSH, which is a child process per server and login. `SFTPTransport` is the door;
// everything in it happens on one event loop's thread. It knows no protocol of ours: no retry, no resume, no temporary names.
// Start reading here (what can be asked), then `SFTPTransport`, `SFTPConnection` (one child), `WriteWindow` and `ReadWindow` (pipelining),
// `SFTPPacket` (the bytes), `LoginFailure` (what ssh's words mean).

/// Names one operation of a transport; used once.
package struct OperationID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The owner of operations and remote handles: one attempt of a task. Operations of one owner are sent in their order.
package struct OperationOwner: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An open remote file. Gone with its connection; the number is never given again.
package struct RemoteHandle: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One operation. Those of one owner that are started together go out together: none waits for another's answer, but what follows a
/// `write` or `read` is sent only after the last packet of it. Paths are the server's, bytes as they are; relative ones start in the home.
package enum SFTPRequest: Hashable, Sendable {
    /// Made when missing; never truncated, never appending.
    case openForWriting(RawPath)
    case openForReading(RawPath)
    /// Follows links.
    case status(RawPath)
    case handleStatus(RemoteHandle)
    /// The source's range to the same offsets, pipelined. Ends when all is acknowledged, or one write failed and the rest is answered.
    case write(RemoteHandle, Range<Int64>)
    /// From an offset to the file's end, pipelined, told to the sink in order. Nothing is asked for before `openGate`.
    case read(RemoteHandle, from: Int64)
    case setSize(RemoteHandle, Int64)
    /// Seconds since 1970, cut to what 32 bits hold.
    case setModified(RemoteHandle, Int64)
    /// `fsync@openssh.com`; refused as unsupported where the server does not offer it.
    case sync(RemoteHandle)
    case close(RemoteHandle)
    /// `replaces`: `posix-rename@openssh.com`; refused as unsupported where the server does not offer it.
    case rename(RawPath, to: RawPath, replaces: Bool)
    case remove(RawPath)
    /// A folder and its missing parents; one that exists is fine.
    case makeFolders(RawPath)
    /// For reading the names in it; the home for an empty path.
    case openFolder(RawPath)
    /// The next names of an open folder: each request gives some, refused with `endOfFile` after the last.
    case readFolder(RemoteHandle)
    /// Bytes that we may still write below a path: `statvfs@openssh.com`; refused as unsupported where it is not offered.
    case freeSpace(RawPath)
}

/// The features that a server announced.
package struct ServerFeatures: Hashable, Sendable {
    package var renamesOver = false
    package var syncs = false
    package var tellsFreeSpace = false
    /// It is OpenSSH's own server: writes are applied in the order in which they were sent.
    package var writesInOrder = false
    package init() {}
}

/// The known attributes of a remote file.
package struct RemoteAttributes: Hashable, Sendable {
    package var size: Int64?
    /// Seconds since 1970.
    package var modified: Int64?
    package var isFolder: Bool
    /// It was told and is no size that a file can have; `size` is `nil` then.
    package var isSizeImpossible = false
    package init(size: Int64?, modified: Int64? = nil, isFolder: Bool = false, isSizeImpossible: Bool = false) {
        self.size = size
        self.modified = modified
        self.isFolder = isFolder
        self.isSizeImpossible = isSizeImpossible
    }
}

/// One name in a folder, with what the server says beside it. Links are not followed.
package struct RemoteName: Hashable, Sendable {
    /// As it came: it may hold anything, slashes and dots included.
    package var name: RawPath
    package var attributes: RemoteAttributes
    package init(name: RawPath, attributes: RemoteAttributes) {
        self.name = name
        self.attributes = attributes
    }
}

/// The end of an operation: its outcome and its byte counts.
package struct OperationEnd: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case done
        case opened(RemoteHandle)
        case attributes(RemoteAttributes)
        case freeSpace(Int64)
        /// Some names of a folder; there may be more.
        case names([RemoteName])
        /// The server's status, never OK (draft-ietf-secsh-filexfer-02 section 7), and its text, made harmless.
        case refused(UInt32, String)
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
    /// Reads only: bytes that the sink took.
    package var bytesRead: Int64
    package var features: ServerFeatures
    /// Something of it was handed to the server's connection; false: the server never heard of it.
    package var wentOut = true

    package init(
        _ outcome: Outcome, writtenThrough: Int64? = nil, bytesRead: Int64 = 0,
        features: ServerFeatures = ServerFeatures()
    ) {
        self.outcome = outcome
        self.writtenThrough = writtenThrough
        self.bytesRead = bytesRead
        self.features = features
    }
}

/// The end of one operation, told once unless it was abandoned.
package struct SFTPEvent: Hashable, Sendable {
    package var id: OperationID
    package var end: OperationEnd
    package init(id: OperationID, end: OperationEnd) {
        self.id = id
        self.end = end
    }
}

/// The progress of a write or read.
package struct OperationProgress: Hashable, Sendable {
    /// Bytes of the source that were given to ssh, counted from the range's start.
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
