package import TransferModel

/// An open remote file, as the transport names it. Gone with the connection.
package struct SFTPHandle: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One operation on a remote file over SFTP version 3. Operations that are performed together are sent in their order without waiting
/// for each other's answers. Paths are the server's, bytes as they are; relative ones start in the home folder.
package enum SFTPExchange: Hashable, Sendable {
    /// For writing at exact offsets, made when missing; never truncated, never appending.
    case openForWriting(RawPath)
    case openForReading(RawPath)
    /// Follows links.
    case status(RawPath)
    case handleStatus(SFTPHandle)
    /// The source's range to the same offsets, pipelined. Ends when every write is acknowledged or one failed;
    /// `SFTPEnd.writtenThrough` tells the acknowledged prefix either way.
    case write(SFTPHandle, Range<Int64>)
    /// From an offset to the file's end into the local file, behind the gate, pipelined, in order.
    case read(SFTPHandle, from: Int64)
    /// Reads the whole file and tells its SHA-256, computed here; nothing of it is kept. It ends at the first byte beyond `size`.
    case digest(SFTPHandle, size: Int64)
    case setSize(SFTPHandle, Int64)
    /// Time of modification, in seconds since 1970.
    case setModified(SFTPHandle, Int64)
    /// `fsync@openssh.com`; only where `SFTPFeatures.syncs`.
    case sync(SFTPHandle)
    case close(SFTPHandle)
    /// `replaces`: `posix-rename@openssh.com`, only where `SFTPFeatures.renamesOver`; otherwise an existing target refuses it.
    case rename(RawPath, to: RawPath, replaces: Bool)
    case remove(RawPath)
    /// A folder and its missing parents; one that exists is fine.
    case makeFolders(RawPath)
    /// For reading the names in it; the home for an empty path.
    case openFolder(RawPath)
    /// The next names of an open folder, refused with `endOfFile` after the last.
    case readFolder(SFTPHandle)
    /// Bytes that may still be written below a path; only where `SFTPFeatures.tellsFreeSpace`.
    case freeSpace(RawPath)
}

/// The abilities of the server, by its own word.
package struct SFTPFeatures: Hashable, Sendable {
    package var renamesOver = false
    package var syncs = false
    /// `statvfs@openssh.com`.
    package var tellsFreeSpace = false
    /// It is OpenSSH's: writes are applied in the order in which they were sent.
    package var writesInOrder = false
    package init() {}
}

/// The known attributes of a remote file.
package struct SFTPAttributes: Hashable, Sendable {
    package var size: Int64?
    /// Seconds since 1970.
    package var modified: Int64?
    package var isFolder: Bool
    package init(size: Int64?, modified: Int64? = nil, isFolder: Bool = false) {
        self.size = size
        self.modified = modified
        self.isFolder = isFolder
    }
}

/// The result of an SFTP operation.
package struct SFTPEnd: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case done
        case opened(SFTPHandle)
        case attributes(SFTPAttributes)
        case freeSpace(Int64)
        case digested(TransferDigest)
        /// `digest` found more bytes than it was told of: the file is another one.
        case longer
        /// Some names of a folder, the folder itself and the one above left out; there may be more.
        case names([RemoteEntry])
        /// The server's status, not OK (draft-ietf-secsh-filexfer-02 section 7), and its text, made harmless.
        case refused(SFTPStatus, String)
        /// The connection, or the local file, failed.
        case failed(ExchangeFailure)
        /// The person's `ssh` could not get in: its words, and what it means for the task (`auth`, `hostKey`).
        case notLetIn(WaitReason, TransferError)
    }

    package var outcome: Outcome
    /// Writes only: every byte before this offset is acknowledged.
    package var writtenThrough: Int64?
    /// Bytes that were written through the gate.
    package var bytesWritten: Int64
    package var features: SFTPFeatures
    package var at: Timestamp

    package init(
        _ outcome: Outcome, writtenThrough: Int64? = nil, bytesWritten: Int64 = 0,
        features: SFTPFeatures = SFTPFeatures(), at: Timestamp
    ) {
        self.outcome = outcome
        self.writtenThrough = writtenThrough
        self.bytesWritten = bytesWritten
        self.features = features
        self.at = at
    }
}

/// Status codes of SFTP version 3.
package enum SFTPStatus: UInt32, Hashable, Sendable {
    case endOfFile = 1
    case noSuchFile = 2
    case permissionDenied = 3
    /// Everything else, a full disk included: the text may say more.
    case failure = 4
    case badMessage = 5
    case noConnection = 6
    case connectionLost = 7
    case unsupported = 8
}
