import Digests
import DisplayText
import LinuxSystem
import struct Synchronization.Atomic

/// A file that is still arriving, under a temporary name. It is removed with its last reference unless it was published.
///
/// Unchecked: one thread at a time. The connection's thread writes it, then hands it to a publisher's thread and does not
/// look at it again until that one has resumed the connection (libmicrohttpd's lock orders the two).
final class IncomingFile: ArrivedFile, @unchecked Sendable {
    let descriptor: OwnedDescriptor
    let name: [UInt8]
    let folderDescriptor: OwnedDescriptor
    private let room: DiskRoom
    private let digest: RunningDigest?
    private(set) var size: UInt64 = 0
    private var startedWriting: UInt64 = 0
    private var isPublished = false

    init(in folder: IncomingFolder, computingDigest: Bool) throws(Errno) {
        (descriptor, name, folderDescriptor) = try folder.makeFile()
        room = folder.room
        digest = computingDigest ? RunningDigest(.sha256) : nil
    }

    deinit {
        if !isPublished { IncomingFolder.remove(name, in: folderDescriptor) }
    }

    /// Appends bytes to the file and the digest. Large files start on their way to the disk while they arrive, so that
    /// the sync at the end has little left to do.
    func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try room.take(bytes.count)
        try System.writeAll(descriptor.rawValue, bytes)
        digest?.update(bytes)
        size += UInt64(bytes.count)
        if size - startedWriting >= Self.writeBehind {
            try? System.syncFileRange(
                descriptor.rawValue, offset: Int64(startedWriting), length: Int64(size - startedWriting),
                waiting: false)
            startedWriting = size
        }
    }

    /// The digest of all bytes so far, when one is computed.
    var digestValue: DigestValue? { digest?.value() }

    /// Gives the whole file its last attributes: a time that no other version has, and the digest where it is known.
    func seal() throws(Errno) -> FileFacts {
        try FileFacts.sealing(descriptor.rawValue, digest: digestValue)
    }

    /// The temporary name was renamed; it is not ours to remove any more.
    func markPublished() { isPublished = true }

    private static let writeBehind: UInt64 = 8 << 20
}

extension FileFacts {
    /// Gives a whole file the time by which it is told from its other versions, and remembers its digest beside it.
    static func sealing(_ descriptor: Int32, digest: DigestValue?) throws(Errno) -> FileFacts {
        try System.setModificationTime(descriptor, nanoseconds: PublicationClock.next())
        let facts = FileFacts(try System.fstat(descriptor))
        if let digest {
            // Only a convenience for later readers; file systems without attributes do without.
            try? StoredDigest.write(digest, of: facts, to: descriptor)
        }
        return facts
    }
}

/// Times of modification, never twice the same in this process. The kernel's own stamps move only with its tick, some
/// milliseconds, in which a file can be replaced by another of the same length and inode: their tags would agree.
enum PublicationClock {
    private static let last = Atomic<Int64>(0)

    /// Nanoseconds since 1970, later than every one before.
    static func next() -> Int64 {
        var previous = last.load(ordering: .relaxed)
        while true {
            let wanted = max(WallClock.nanoseconds, previous + 1)
            let (exchanged, original) = last.compareExchange(
                expected: previous, desired: wanted, ordering: .relaxed)
            if exchanged { return wanted }
            previous = original
        }
    }
}

/// The digest of a file beside the file: an extended attribute that also names the version it was computed for, so that
/// one left over from an earlier content is never believed.
enum StoredDigest {
    private static let attribute = "user.martlet.sha-256"

    static func write(_ digest: DigestValue, of facts: FileFacts, to descriptor: Int32) throws(Errno) {
        let value = "\(facts.tag.opaque) \(digest.hex)"
        try System.setAttribute(attribute, of: descriptor, to: Array(value.utf8))
    }

    /// The stored digest; `nil` where another user could have written it: whoever may write to a file may write its attributes, too.
    static func read(of file: OpenFile) -> DigestValue? {
        guard let status = try? System.fstat(file.descriptor.rawValue), status.userID == System.userID,
            status.mode & 0o022 == 0
        else { return nil }
        guard let value = System.attribute(attribute, of: file.descriptor.rawValue) else { return nil }
        let words = String(peer: value).split(separator: " ")
        guard words.count == 2, words[0] == file.facts.tag.opaque, let bytes = Hexadecimal.decode(words[1]),
            bytes.count == DigestAlgorithm.sha256.byteCount
        else { return nil }
        return DigestValue(bytes: bytes)
    }
}
