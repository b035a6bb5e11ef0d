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
        case failed(Errno)
    }

    var part: RawPath
    /// Inode of the temporary file.
    var inode: UInt64
    var size: Int64
    var final: RawPath
    var directory: RawPath
    var mayReplace: Bool
    var disk: any LocalDisk = LinuxDisk()

    /// Puts the whole file on the disk.
    static func sync(_ disk: any LocalDisk, _ descriptor: OwnedDescriptor) throws(Errno) {
        try disk.sync(descriptor.rawValue)
    }

    /// Makes the names in a folder durable. Returns the error of a disk that fails.
    static func syncNames(in directory: RawPath, on disk: any LocalDisk) -> Errno? {
        do throws(Errno) {
            try disk.syncNames(in: directory.bytes)
            return nil
        } catch {
            // Some file systems cannot sync a directory; the file has its name all the same.
            return error == .inputOutput ? error : nil
        }
    }

    /// Returns true when a temporary file has got its final name already; its temporary name is removed then. Blocks.
    static func isDone(_ point: GetResumePoint, in directory: RawPath, on disk: any LocalDisk) -> Bool {
        guard let inode = point.partInode, let part = point.partName,
            let found = try? System.lstat(directory.appending(point.name).bytes),
            found.inode == inode, found.size == point.offset
        else { return false }
        let path = directory.appending(part).bytes
        // A file system without a rename that refuses to replace gives the file both names for a moment.
        if let other = try? System.lstat(path), other.inode == inode { try? disk.remove(path) }
        return true
    }

    /// Gives the file its final name, and makes that durable.
    func rename() -> Outcome {
        do throws(Errno) {
            let found = try System.lstat(part.bytes)
            guard found.kind == .regular, found.inode == inode, found.size == size else { return .notOurs }
            try disk.rename(part.bytes, to: final.bytes, replacing: mayReplace)
            FaultPoint.renamed.pass()
            return Self.syncNames(in: directory, on: disk).map { .failed($0) } ?? .published
        } catch {
            switch error {
            case .fileExists, .isDirectory: return .nameTaken
            // A folder that is away, with its disk perhaps, says nothing of what was in it.
            case .noSuchFile: return (try? System.stat(directory.bytes)) == nil ? .failed(error) : .notOurs
            default: return .failed(error)
            }
        }
    }
}
