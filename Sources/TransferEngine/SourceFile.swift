import CurlTransport
import Digests
import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

/// A source that is being sent: opened for reading and recognised by size, time of modification and inode. On the engine's loop;
/// `digest` alone runs elsewhere, on a duplicate.
final class SourceFile: TransferBodySource {
    /// Files up to this are read at once: what is sent is then one consistent reading.
    static let smallest: Int64 = 64 << 10

    let identity: SourceIdentity
    /// The whole file when it is small.
    let bytes: [UInt8]?
    private let descriptor: OwnedDescriptor
    private let path: RawPath
    private let mayBeLink: Bool
    /// Computed while the file is sent, for a server that will tell its own; nothing for others, whom it would only cost time.
    var hash: SourceHash?
    /// Counts only while the file is open, that is within one boot.
    private let device: UInt64

    /// Opens a source. A link in the last place is followed only where a person may have named it.
    init(path: RawPath, mayBeLink: Bool) throws(TransferError) {
        self.path = path
        self.mayBeLink = mayBeLink
        do {
            let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
            descriptor = try System.open(path.bytes, flags: mayBeLink ? flags : flags | O_NOFOLLOW)
            let status = try System.fstat(descriptor.rawValue)
            guard status.kind == .regular else { throw TransferError.notAFile(path, status.kind) }
            if status.size <= Self.smallest, let bytes = try Self.reading(descriptor.rawValue, status) {
                self.bytes = bytes
            } else {
                bytes = nil
                System.advise(descriptor.rawValue, .sequential)
            }
            identity = SourceIdentity(status)
            device = status.device
        } catch let error as Errno {
            throw .source(path, error)
        } catch let error as TransferError {
            throw error
        } catch {
            throw TransferError(.internal, "\(path.displayed): \(error): retry")
        }
    }

    /// All bytes, when nobody changed the file meanwhile.
    private static func reading(_ descriptor: Int32, _ before: FileStatus) throws(Errno) -> [UInt8]? {
        var failure: Errno?
        // One more than it should have, to see it grow.
        let wanted = Int(before.size) + 1
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            do throws(Errno) {
                // A regular file gives all that it has in one reading; a short one is its end.
                count = try System.pread(descriptor, UnsafeMutableRawBufferPointer(buffer), at: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard bytes.count == Int(before.size),
            SourceIdentity(try System.fstat(descriptor)) == SourceIdentity(before)
        else { return nil }
        return bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        // Never past the announced end: a file that grows is seen by `change`.
        let left = identity.size - offset
        if left <= 0 { return 0 }
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(min(left, Int64(buffer.count)))))
        let count = try System.pread(descriptor.rawValue, wanted, at: offset)
        hash?.take(UnsafeRawBufferPointer(rebasing: wanted[..<count]), at: offset)
        return count
    }

    /// The SHA-256 of what was sent, where that is known without another reading.
    var digest: TransferDigest? {
        if let bytes { return TransferDigest(sha256: DigestAlgorithm.sha256.digest(of: bytes)) }
        return hash.flatMap { $0.count == identity.size ? $0.value : nil }
    }

    /// The file as it is now, when it is not the one any more that was opened. A different ctime alone is none, nor is
    /// a name that is gone: what was opened is still whole. Another file under the name is one.
    var change: SourceIdentity? {
        if bytes != nil { return nil }
        guard let now = try? System.fstat(descriptor.rawValue) else { return identity }
        let found = SourceIdentity(now)
        guard found == identity, now.device == device else { return found }
        guard let named = try? mayBeLink ? System.stat(path.bytes) : System.lstat(path.bytes) else { return nil }
        let standing = SourceIdentity(named)
        return standing == identity && named.device == device ? nil : standing
    }

    /// A second descriptor, for work on another thread.
    func duplicate() throws(Errno) -> OwnedDescriptor { try System.duplicate(descriptor.rawValue) }
}

extension SourceIdentity {
    init(_ status: FileStatus) {
        self.init(size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
    }
}

extension TransferError {
    /// What an error number means for a source.
    static func source(_ path: RawPath, _ error: Errno) -> TransferError {
        switch error {
        case .noSuchFile, .notDirectory:
            TransferError(
                .sourceMissing, "\(path.displayed) is not there any more: put it back and retry, or cancel it")
        case .tooManyLinks:
            TransferError(
                .sourceUnreadable, "\(path.displayed) is a link now: queue it again, with --follow-links if it is meant"
            )
        default:
            TransferError(
                .sourceUnreadable, "\(path.displayed) cannot be read (\(error)): make it readable and retry")
        }
    }

    static func notAFile(_ path: RawPath, _ kind: FileKind) -> TransferError {
        if kind == .directory {
            return TransferError(
                .unsupported, "\(path.displayed) was queued as a file and is a directory now: queue it again")
        }
        return TransferError(.unsupported, "\(path.displayed) is neither a file nor a directory: cancel it")
    }
}
