import Glibc

/// The changes of files and names whose way onto the disk matters: what a power cut leaves of them is decided by the syncs between them.
/// Programs use `LinuxDisk`; the simulated world (`Tests/Simulation`) brings one that loses what was not synced.
package protocol LocalDisk: Sendable {
    /// Makes a file for reading and writing, `EEXIST` when the name is taken. Corresponds to `open(O_CREAT | O_EXCL | O_NOFOLLOW)`.
    func create(_ path: [UInt8], mode: UInt32) throws(Errno) -> OwnedDescriptor
    /// Writes all of it; `ENOSPC` where only the disk's reserve is left. Corresponds to `pwrite`, repeated.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno)
    /// Corresponds to `ftruncate`.
    func cut(_ descriptor: Int32, to size: Int64) throws(Errno)
    /// Puts a file's bytes and its size on the disk. Corresponds to `fdatasync`.
    func syncBytes(_ descriptor: Int32) throws(Errno)
    /// Puts a file's bytes and attributes on the disk. Corresponds to `fsync`.
    func sync(_ descriptor: Int32) throws(Errno)
    /// Puts the names in a folder on the disk. Corresponds to `fsync` of a directory.
    func syncNames(in folder: [UInt8]) throws(Errno)
    /// Puts all on the disk that a file's file system has. Corresponds to `syncfs`.
    func syncFileSystem(of file: [UInt8]) throws(Errno)
    /// Moves a name within its folder. Corresponds to `rename`, or to `renameat2(RENAME_NOREPLACE)`.
    func rename(_ old: [UInt8], to new: [UInt8], replacing: Bool) throws(Errno)
    /// Corresponds to `unlink`.
    func remove(_ path: [UInt8]) throws(Errno)
    /// As `System.hasStableInodes`.
    func hasStableInodes(_ descriptor: Int32) -> Bool
    /// As `System.entryName`.
    func entryName(_ name: [UInt8], in folder: [UInt8]) -> [UInt8]?
    /// Corresponds to `lstat`.
    func status(of path: [UInt8]) throws(Errno) -> FileStatus
}

extension LocalDisk {
    package func syncFileSystem(of file: [UInt8]) throws(Errno) {
        let opened = try System.open(file, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        try System.syncFileSystem(of: opened.rawValue)
    }

    package func hasStableInodes(_ descriptor: Int32) -> Bool { System.hasStableInodes(descriptor) }
    package func entryName(_ name: [UInt8], in folder: [UInt8]) -> [UInt8]? { System.entryName(name, in: folder) }
    package func status(of path: [UInt8]) throws(Errno) -> FileStatus { try System.lstat(path) }
}

/// Linux: the kernel's calls, and a reserve (`DiskSpace.reserve`) that is left free on each disk.
package final class LinuxDisk: LocalDisk {
    package typealias Look = @Sendable (_ descriptor: Int32) throws(Errno) -> DiskSpace

    private let look: Look
    /// By device. Held while the disk is asked, so that no two writers are given the same room.
    private let granted = Mutex<[UInt64: GrantedRoom]>([:])

    /// - Parameter look: asks for the room on the disk of an open file; for tests.
    package init(look: @escaping Look = { (descriptor) throws(Errno) in try System.space(of: descriptor) }) {
        self.look = look
    }

    package func create(_ path: [UInt8], mode: UInt32) throws(Errno) -> OwnedDescriptor {
        try System.open(path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        let device = try System.fstat(descriptor).device
        try granted.withLock { granted throws(Errno) in
            try granted[device, default: GrantedRoom()].take(bytes.count) {
                // A file system that does not tell says by the write when it is full.
                (try? look(descriptor))?.room ?? .max
            }
        }
        try System.pwriteAll(descriptor, bytes, at: offset)
    }

    package func cut(_ descriptor: Int32, to size: Int64) throws(Errno) { try System.ftruncate(descriptor, to: size) }
    package func syncBytes(_ descriptor: Int32) throws(Errno) { try System.fdatasync(descriptor) }
    package func sync(_ descriptor: Int32) throws(Errno) { try System.fsync(descriptor) }
    package func syncNames(in folder: [UInt8]) throws(Errno) { try System.syncDirectory(folder) }

    package func rename(_ old: [UInt8], to new: [UInt8], replacing: Bool) throws(Errno) {
        if replacing { try System.rename(old, to: new) } else { try System.renameWithoutReplacing(old, to: new) }
    }

    package func remove(_ path: [UInt8]) throws(Errno) { try System.unlink(path) }
}
