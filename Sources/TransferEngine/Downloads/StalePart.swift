import LinuxSystem
import TransferModel

/// A temporary file that is of no use any more. It is known by its inode: another file of that name is somebody else's and stays.
struct StalePart: Sendable {
    let directory: RawPath
    let name: RawPath
    let inode: UInt64

    /// Takes its name away; a power cut may bring it back.
    func unlink(from disk: any LocalDisk) {
        let path = directory.appending(name).bytes
        if (try? System.lstat(path))?.inode == inode { try? disk.remove(path) }
    }

    /// Removes it for good: nothing will know of it afterwards. Blocks.
    func remove(from disk: any LocalDisk) {
        unlink(from: disk)
        try? disk.syncNames(in: directory.bytes)
    }
}
