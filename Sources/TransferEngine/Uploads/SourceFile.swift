import CurlTransport
import Digests
import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

/// A source that is being sent: opened for reading and recognised by size, time of modification and inode. On the engine's loop;
/// `digest` alone runs elsewhere, on a duplicate.
///
/// A small file is read once and every byte of it comes from that reading: what is sent, hashed and compared is one version. Of a larger
/// one the last byte is given away only while the file is still the one that was opened, so that no server gets a whole mixture.
final class SourceFile: TransferBodySource {
    /// Files up to this are read at once.
    static let smallest: Int64 = 64 << 10

    let identity: SourceIdentity
    /// The whole file when it is small.
    let bytes: [UInt8]?
    private let descriptor: OwnedDescriptor
    private let place: SourcePlace
    private let followsLinks: Bool
    /// Computed while the file is sent, for a server that will tell its own; nothing for others, whom it would only cost time.
    var hash: SourceHash?
    /// Counts only while the file is open, that is within one boot.
    private let device: UInt64

    /// Opens a source.
    /// - Parameter followsLinks: also links that no person has named.
    init(_ place: SourcePlace, followsLinks: Bool) throws(LocalRefusal) {
        self.place = place
        self.followsLinks = followsLinks
        let path = place.path
        do {
            descriptor = try place.open(flags: O_RDONLY | O_NONBLOCK | O_NOCTTY, followingLinks: followsLinks)
            let status = try System.fstat(descriptor.rawValue)
            guard status.kind == .regular else { throw TransferError.notAFile(path, status.kind) }
            guard FileSize.isPossible(status.size) else { throw TransferError.tooLarge(path) }
            if status.size <= Self.smallest {
                switch try Self.reading(descriptor.rawValue, status) {
                case .whole(let bytes): self.bytes = bytes
                case .changed: bytes = nil
                case .otherLength: throw TransferError.lengthless(path, status.size)
                }
            } else {
                bytes = nil
                System.advise(descriptor.rawValue, .sequential)
            }
            identity = SourceIdentity(status)
            device = status.device
        } catch let error as Errno {
            throw LocalRefusal.source(place, error)
        } catch let error as TransferError {
            throw LocalRefusal(error: error)
        } catch {
            throw LocalRefusal(error: TransferError(.internal, "\(path.displayed): \(error)", .retry()))
        }
    }

    private enum Reading {
        case whole([UInt8])
        /// Somebody changed the file meanwhile.
        case changed
        /// It gives another number of bytes than it says to have, as the files of /proc and /sys do.
        case otherLength
    }

    private static func reading(_ descriptor: Int32, _ before: FileStatus) throws(Errno) -> Reading {
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
        guard SourceIdentity(try System.fstat(descriptor)) == SourceIdentity(before) else { return .changed }
        return bytes.count == Int(before.size) ? .whole(bytes) : .otherLength
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        // Never past the announced end: a file that grows is seen by `change`.
        let left = identity.size - offset
        if left <= 0 { return 0 }
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(min(left, Int64(buffer.count)))))
        if let bytes {
            wanted.copyBytes(from: bytes[Int(offset)..<Int(offset) + wanted.count])
            return wanted.count
        }
        let count = try System.pread(descriptor.rawValue, wanted, at: offset)
        // Without its last byte no request is whole: a mixture ends here.
        if Int64(count) == left, change != nil { return 0 }
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
    var change: SourceIdentity? { bytes == nil ? difference : nil }

    private var difference: SourceIdentity? {
        guard let now = try? System.fstat(descriptor.rawValue) else { return identity }
        let found = SourceIdentity(now)
        guard found == identity, now.device == device else { return found }
        // Behind a link that is not followed its name is gone.
        guard let named = try? place.status(followingLinks: followsLinks) else { return nil }
        let standing = SourceIdentity(named)
        return standing == identity && named.device == device ? nil : standing
    }

    /// Returns true when it is the file that was recorded. Where inode numbers do not outlive a mount its size and time say so.
    func isStill(_ recorded: SourceIdentity) -> Bool {
        identity == recorded
            || identity.isSame(as: recorded, hasStableInodes: System.hasStableInodes(descriptor.rawValue))
    }

    // MARK: A time that tells

    /// Nanoseconds until the time of modification tells every later change: file systems write times down by the tick of their clock, and
    /// a second change within one tick leaves the time as it is. `nil`: it does already.
    func unsettled(at now: Int64) -> Int64? {
        let modified = identity.modifiedNanoseconds
        // Linux's tick has 10 ms at most. Whole seconds look like a file system that keeps no more, and FAT keeps every other one.
        let tick: Int64 = modified % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
        return (modified - tick...modified + tick).contains(now) ? modified + tick - now + 1 : nil
    }

    /// True when the file is still the one that was opened. Asked before a byte is sent, after the time in which nothing could have told.
    var hasSettled: Bool {
        guard difference == nil else { return false }
        guard let bytes else { return true }
        guard let status = try? System.fstat(descriptor.rawValue),
            case .whole(bytes)? = try? Self.reading(descriptor.rawValue, status)
        else { return false }
        return true
    }

    /// A second descriptor, for work on another thread.
    func duplicate() throws(Errno) -> OwnedDescriptor { try System.duplicate(descriptor.rawValue) }

    /// The file for a thread that sends it by itself.
    func unchanged() throws(Errno) -> UnchangedFile {
        UnchangedFile(try duplicate(), size: identity.size, modifiedNanoseconds: identity.modifiedNanoseconds)
    }
}

extension SourceIdentity {
    init(_ status: FileStatus) {
        self.init(
            size: FileSize.told(status.size) ?? FileSize.beyond, modifiedNanoseconds: status.modifiedNanoseconds,
            inode: status.inode)
    }

    /// - Parameter hasStableInodes: the file system gives a file one inode number for good.
    func isSame(as recorded: SourceIdentity, hasStableInodes: Bool) -> Bool {
        size == recorded.size && modifiedNanoseconds == recorded.modifiedNanoseconds
            && (inode == recorded.inode || !hasStableInodes)
    }
}

extension TransferError {
    /// The error of a task that an error number of its source means.
    static func source(_ path: RawPath, _ error: Errno) -> TransferError {
        switch error {
        case .noSuchFile, .notDirectory:
            TransferError(
                .sourceMissing, of: path, "is not there any more", .retry("put it back and retry"))
        case .tooManyLinks:
            TransferError(
                .sourceUnreadable, of: path, "is a link now",
                .queued("queue it again, with --follow-links if it is meant"))
        default:
            TransferError(.sourceUnreadable, of: path, "cannot be read (\(error))", .andRetry("make it readable"))
        }
    }

    static func lengthless(_ path: RawPath, _ size: Int64) -> TransferError {
        TransferError(
            .unsupported, of: path,
            "says that it has \(size) bytes and gives another number of them, as files of /proc do",
            .queued("copy it to a usual file and queue that"))
    }

    /// A sparse file, or a file system that lies.
    static func tooLarge(_ path: RawPath) -> TransferError {
        TransferError(
            .unsupported, of: path, "has more than 8 PiB, which nothing can take", .queued("leave it out"))
    }

    static func notAFile(_ path: RawPath, _ kind: FileKind) -> TransferError {
        if kind == .directory {
            return TransferError(
                .unsupported, of: path, "was queued as a file and is a directory now", .queued("queue it again"))
        }
        return TransferError(
            .unsupported, of: path, "is neither a file nor a directory", .step("put the file back in its place"))
    }
}
