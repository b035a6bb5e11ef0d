package import TransferModel

/// An open remote file. Gone with its connection; the number is never given again.
package struct SFTPHandle: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One operation on a remote file over SFTP version 3. Those of one owner that are started together are sent in their order without waiting
/// for each other's answers, but what follows a `write` or `read` is sent only after the last packet of it. Paths are the server's, bytes
/// as they are; relative ones start in the home folder.
package enum SFTPOperation: Hashable, Sendable {
    /// For writing at exact offsets, made when missing; never truncated, never appending.
    case openForWriting(RawPath)
    case openForReading(RawPath)
    /// Follows links.
    case status(RawPath)
    case handleStatus(SFTPHandle)
    /// The source's range to the same offsets, pipelined. Ends when every write is acknowledged, or one failed and the rest is answered;
    /// the end's `writtenThrough` tells the acknowledged prefix either way.
    case write(SFTPHandle, Range<Int64>)
    /// From an offset to the file's end, pipelined, told to the sink in order. Nothing is asked for before the gate is open.
    case read(SFTPHandle, from: Int64)
    case setSize(SFTPHandle, Int64)
    /// Time of modification, in seconds since 1970, cut to what 32 bits hold.
    case setModified(SFTPHandle, Int64)
    /// `fsync@openssh.com`; refused as unsupported unless `SFTPFeatures.syncs`.
    case sync(SFTPHandle)
    case close(SFTPHandle)
    /// `replaces`: `posix-rename@openssh.com`, refused as unsupported unless `SFTPFeatures.renamesOver`; otherwise an existing target
    /// refuses it.
    case rename(RawPath, to: RawPath, replaces: Bool)
    case remove(RawPath)
    /// A folder and its missing parents; one that exists is fine.
    case makeFolders(RawPath)
    /// For reading the names in it; the home for an empty path.
    case openFolder(RawPath)
    /// The next names of an open folder: each operation gives some, refused with `endOfFile` after the last.
    case readFolder(SFTPHandle)
    /// Bytes that we may still write below a path: `statvfs@openssh.com`; refused as unsupported unless `SFTPFeatures.tellsFreeSpace`.
    case freeSpace(RawPath)

    /// The open file that it is about.
    package var handle: SFTPHandle? {
        switch self {
        case .handleStatus(let handle), .write(let handle, _), .read(let handle, _), .setSize(let handle, _),
            .setModified(let handle, _), .sync(let handle), .close(let handle), .readFolder(let handle):
            handle
        case .openForWriting, .openForReading, .openFolder, .status, .rename, .remove, .makeFolders, .freeSpace: nil
        }
    }
}
