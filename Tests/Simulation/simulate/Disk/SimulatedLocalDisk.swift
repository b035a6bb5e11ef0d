import Glibc
import LinuxSystem

/// The person's folders for the engine: the kernel's calls, and the world's disk below them.
final class SimulatedLocalDisk: LocalDisk, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let kernel = LinuxDisk()
    private let downloads: Downloads

    init(_ disk: SimulatedDisk, _ downloads: Downloads) {
        self.disk = disk
        self.downloads = downloads
    }

    private func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

    func create(_ path: [UInt8], mode: UInt32) throws(Errno) -> OwnedDescriptor {
        if disk.isFull() { throw .noSpace }
        let made = try kernel.create(path, mode: mode)
        disk.adopt(disk.made(text(path)), inode: try System.fstat(made.rawValue).inode)
        return made
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        let isFull = disk.isFull()
        // A full disk may take a part of it.
        let taken = isFull ? UnsafeRawBufferPointer(rebasing: bytes[..<disk.chance.below(bytes.count + 1)]) : bytes
        try kernel.write(descriptor, taken, at: offset)
        try file(descriptor)?.wrote(taken, at: Int(offset), descriptor)
        if isFull { throw .noSpace }
    }

    func cut(_ descriptor: Int32, to size: Int64) throws(Errno) {
        let before = try System.fstat(descriptor).size
        try kernel.cut(descriptor, to: size)
        if before != size { try file(descriptor)?.resized(to: Int(size)) }
    }

    func syncBytes(_ descriptor: Int32) throws(Errno) { try sync(descriptor) }

    func sync(_ descriptor: Int32) throws(Errno) {
        guard let file = try file(descriptor) else { return }
        if file.untold.remove(descriptor) != nil { throw .inputOutput }
        if !disk.sync(file, "/a part", failsOneIn: 40) {
            // Whoever else has the file open is told by its next fsync (Linux since 4.13).
            file.untold = openElsewhere(descriptor)
            throw .inputOutput
        }
    }

    func syncNames(in folder: [UInt8]) throws(Errno) {
        if disk.failsToSyncNames() { throw .inputOutput }
        disk.syncedFolder(text(folder))
    }

    func rename(_ old: [UInt8], to new: [UInt8], replacing: Bool) throws(Errno) {
        // A folder that has to grow for the name finds no room for it, or the disk fails.
        if disk.isFull() { throw .noSpace }
        if disk.failsToRename() {
            downloads.wasNotNamed(text(old))
            throw .inputOutput
        }
        downloads.moves(text(old), to: text(new))
        if replacing, let found = try? System.lstat(new) { disk.keep(text(new), inode: found.inode) }
        try kernel.rename(old, to: new, replacing: replacing)
        disk.renamed(text(old), to: text(new))
        downloads.moved(to: text(new))
    }

    func remove(_ path: [UInt8]) throws(Errno) {
        disk.keep(text(path), inode: try System.lstat(path).inode)
        try kernel.remove(path)
        disk.removed(text(path))
    }

    /// Other descriptors of the same file.
    private func openElsewhere(_ descriptor: Int32) -> Set<Int32> {
        let inode = (try? System.fstat(descriptor))?.inode
        let open = SimulatedDisk.names(in: "/proc/self/fd").compactMap { Int32($0) }
        return Set(open.filter { $0 != descriptor && (try? System.fstat($0))?.inode == inode })
    }

    private func file(_ descriptor: Int32) throws(Errno) -> DiskFile? {
        disk.file(inode: try System.fstat(descriptor).inode)
    }
}
