import Glibc
import LinuxSystem
import TransferModel
import TransferProtocols

/// The last steps of a download, on a blocking thread: everything on the disk, the final name given.
struct Publication: Sendable {
    enum Outcome: Sendable {
        case published
        /// The name is taken, and the rule does not let us replace it.
        case nameTaken
        /// Under the temporary name lies another file now, or ours with another length.
        case notOurs
        /// Nothing has the temporary name.
        case absent(KnownPart.Absence)
        case failed(Errno)
    }

    var part: KnownPart
    var size: Int64
    var final: RawPath
    /// The folders above it whose names may not be on the disk.
    var above: [RawPath] = []
    /// Something has the name, and is to be replaced. Without it the file gets a free name or none.
    var mayReplace: Bool
    var disk: any LocalDisk = LinuxDisk()

    /// Puts the whole file on the disk.
    static func sync(_ disk: any LocalDisk, _ descriptor: OwnedDescriptor) throws(Errno) {
        try disk.sync(descriptor.rawValue)
    }

    /// Makes the names in folders durable. Returns the error of a disk that fails.
    /// - Parameter file: has one of the names; for folders that may be written and not read, which cannot be synced alone.
    static func syncNames(in folders: [RawPath], of file: RawPath? = nil, on disk: any LocalDisk) -> Errno? {
        var (isUnreadable, failure) = (false, Errno?.none)
        func attempt(_ sync: () throws(Errno) -> Void) {
            do throws(Errno) { try sync() } catch {
                isUnreadable = isUnreadable || error == .accessDenied
                // Some file systems cannot sync a directory; the file has its name all the same.
                if error == .inputOutput || error.isShortage { failure = failure ?? error }
            }
        }
        for folder in folders where failure == nil {
            attempt { () throws(Errno) in try disk.syncNames(in: folder.bytes) }
        }
        if isUnreadable, failure == nil, let file {
            attempt { () throws(Errno) in try disk.syncFileSystem(of: file.bytes) }
        }
        return failure
    }

    /// Returns true when a temporary file has got its final name already; its temporary name is removed then. Blocks.
    static func isDone(_ point: GetResumePoint, in directory: RawPath, on disk: any LocalDisk) -> Bool {
        let final = directory.appending(point.name)
        guard let part = KnownPart(point, in: directory), let found = try? System.lstat(final.bytes),
            found.size == point.offset
        else { return false }
        let left = try? System.lstat(part.path.bytes)
        // The temporary file still has its own name, and another file got its number by a new mount.
        if let left, left.inode != found.inode { return false }
        guard found.inode == part.inode else {
            // Mounted anew, perhaps: then the file with its bytes has the one name and not the other.
            return left == nil && part.tail?.end == point.offset && part.isAt(final, found, on: disk)
        }
        // A file system without a rename that refuses to replace gives the file both names for a moment.
        if left != nil { try? disk.remove(part.path.bytes) }
        return true
    }

    /// Removes the empty file with which a kill leaves the final name taken where neither an exclusive rename nor a second name is to be had
    /// (`System.renameatOverOwn`): the whole file stands beside it still. Blocks.
    static func removeOwnEmpty(_ point: GetResumePoint, in directory: RawPath, on disk: any LocalDisk) {
        let final = directory.appending(point.name)
        guard point.publishing, point.offset > 0, let part = KnownPart(point, in: directory),
            let file = try? System.open(final.bytes, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let found = try? System.fstat(file.rawValue), found.kind == .regular, found.size == 0,
            !disk.hasStableInodes(file.rawValue), let whole = try? System.lstat(part.path.bytes),
            whole.size == point.offset, part.isAt(part.path, whole, on: disk)
        else { return }
        try? disk.remove(final.bytes)
    }

    /// Gives the file its final name, and makes that durable.
    func rename() -> Outcome {
        do throws(Errno) {
            let found = try System.lstat(part.path.bytes)
            guard found.kind == .regular, found.inode == part.inode, found.size == size else { return .notOurs }
            try disk.rename(part.path.bytes, to: final.bytes, replacing: mayReplace)
            FaultPoint.renamed.pass()
            return Self.syncNames(in: [part.directory] + above, of: final, on: disk).map { .failed($0) } ?? .published
        } catch {
            switch error {
            case .fileExists, .isDirectory: return .nameTaken
            case .noSuchFile: return .absent(part.absence(on: disk))
            default: return .failed(error)
            }
        }
    }
}
