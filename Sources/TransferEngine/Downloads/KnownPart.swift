import Glibc
import LinuxSystem
import TransferModel
import TransferProtocols

/// A download's temporary file as a resume point knows it: by its inode, or by its last bytes where inode numbers do not outlive a mount.
/// Another file of that name is somebody else's and stays. Blocks.
struct KnownPart: Sendable {
    let directory: RawPath
    let name: RawPath
    let inode: UInt64
    /// Inode of the folder that it was made in.
    var folderInode: UInt64?
    var tail: PartTail?

    /// `nil`: none was made.
    init?(_ point: GetResumePoint, in directory: RawPath) {
        guard let name = point.partName, let inode = point.partInode else { return nil }
        (self.directory, self.name, self.inode) = (directory, name, inode)
        (folderInode, tail) = (point.folderInode, point.tail)
    }

    var path: RawPath { directory.appending(name) }

    /// Returns true of an open file that is this one.
    func isIn(_ descriptor: Int32, _ status: FileStatus, on disk: any LocalDisk) -> Bool {
        guard status.kind == .regular else { return false }
        if status.inode == inode { return true }
        guard let tail, !disk.hasStableInodes(descriptor) else { return false }
        return tail.stands(in: descriptor)
    }

    /// Returns true when a path leads to it, which need not be its own.
    func isAt(_ path: RawPath, _ status: FileStatus, on disk: any LocalDisk) -> Bool {
        if status.kind == .regular, status.inode == inode { return true }
        guard tail != nil, let file = try? System.open(path.bytes, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let opened = try? System.fstat(file.rawValue)
        else { return false }
        return isIn(file.rawValue, opened, on: disk)
    }

    /// Takes its name away; a power cut may bring it back.
    /// - Returns: false: nothing of that name is there.
    @discardableResult
    func unlink(from disk: any LocalDisk) throws(Errno) -> Bool {
        do throws(Errno) {
            if isAt(path, try System.lstat(path.bytes), on: disk) { try disk.remove(path.bytes) }
            return true
        } catch .noSuchFile {
            return false
        }
    }

    /// Takes its name away if nothing was written to it.
    func unlinkEmpty(from disk: any LocalDisk) throws(Errno) {
        let status = try System.lstat(path.bytes)
        if status.size == 0, isAt(path, status, on: disk) { try disk.remove(path.bytes) }
    }

    /// Removes it for good: nothing will know of it afterwards.
    func remove(from disk: any LocalDisk) {
        _ = try? unlink(from: disk)
        try? disk.syncNames(in: directory.bytes)
    }

    /// The reason why the folder does not have the file.
    enum Absence {
        /// It is gone.
        case gone
        /// The folder is missing, perhaps with its disk: nobody knows.
        case folderAway
        /// A different folder has that path now: nobody knows either.
        case otherFolder
    }

    func absence(on disk: any LocalDisk) -> Absence {
        guard let folder = try? System.stat(directory.bytes), folder.kind == .directory else { return .folderAway }
        if folderInode == nil || folderInode == folder.inode { return .gone }
        guard let opened = try? System.open(directory.bytes, flags: O_RDONLY | O_DIRECTORY) else { return .otherFolder }
        return disk.hasStableInodes(opened.rawValue) ? .otherFolder : .gone
    }
}

extension PartTail {
    /// Reads it from a file. `nil`: it says nothing.
    init?(in descriptor: Int32, before end: Int64) {
        let start = max(0, end - Self.length)
        var bytes = [UInt8](repeating: 0, count: Int(end - start))
        guard !bytes.isEmpty else { return nil }
        let count = bytes.withUnsafeMutableBytes { (try? System.preadAll(descriptor, $0, at: start)) ?? 0 }
        guard count == bytes.count else { return nil }
        self.init(bytes, before: end)
    }

    fileprivate func stands(in descriptor: Int32) -> Bool { PartTail(in: descriptor, before: end) == self }
}
