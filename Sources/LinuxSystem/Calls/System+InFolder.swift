// Normal forms are no public part of the standard library yet.
@_spi(_Unicode) import Swift
import CLinux
import Glibc

/// Calls on a name below an open directory. The name is one component: whoever walks a path opens it folder by folder
/// with `openat`, which follows no links, so that nothing outside the first folder is ever reached.
extension System {
    /// Makes a directory. Corresponds to `mkdirat`.
    package static func mkdirat(_ directory: Int32, _ name: [UInt8], mode: UInt32) throws(Errno) {
        _ = try systemCall(.mkdir, path: name) { Glibc.mkdirat(directory, $0, mode_t(mode)) }
    }

    /// Removes a name of a file. Corresponds to `unlinkat`.
    package static func unlinkat(_ directory: Int32, _ name: [UInt8]) throws(Errno) {
        _ = try systemCall(.unlinkat, path: name) { Glibc.unlinkat(directory, $0, 0) }
    }

    /// Removes an empty directory. Corresponds to `unlinkat(AT_REMOVEDIR)`.
    package static func rmdirat(_ directory: Int32, _ name: [UInt8]) throws(Errno) {
        _ = try systemCall(.rmdir, path: name) { Glibc.unlinkat(directory, $0, AT_REMOVEDIR) }
    }

    /// Moves a name from one directory to another, replacing what is there. Corresponds to `renameat`.
    package static func renameat(
        _ oldDirectory: Int32, _ old: [UInt8], to newDirectory: Int32, _ new: [UInt8]
    ) throws(Errno) {
        _ = try withTwoNames(.rename, old, new) { Glibc.renameat(oldDirectory, $0, newDirectory, $1) }
    }

    /// Moves a name from one directory to another, `EEXIST` when the new one is taken: who comes first wins.
    /// Corresponds to `renameat2(RENAME_NOREPLACE)`, to `linkat` and `unlinkat` where the file system has no such flag, and to
    /// `renameatOverOwn` where it has no second names either, as many that reach a server by FUSE.
    package static func renameatWithoutReplacing(
        _ oldDirectory: Int32, _ old: [UInt8], to newDirectory: Int32, _ new: [UInt8]
    ) throws(Errno) {
        do {
            _ = try withTwoNames(.renameat2, old, new) {
                CLinux_renameat2(oldDirectory, $0, newDirectory, $1, CLinux_RENAME_NOREPLACE)
            }
        } catch Errno.invalidArgument {
            do throws(Errno) {
                _ = try withTwoNames(.link, old, new) { Glibc.linkat(oldDirectory, $0, newDirectory, $1, 0) }
            } catch .notPermitted, .notImplemented, .notSupported, .invalidArgument {
                return try renameatOverOwn(oldDirectory, old, to: newDirectory, new)
            } catch {
                throw error
            }
            try unlinkat(oldDirectory, old)
        }
    }

    /// Takes a name by making an empty file of it, which only one can do (`EEXIST`), and moves the file over that. Who is killed between
    /// the two leaves the empty file.
    package static func renameatOverOwn(
        _ oldDirectory: Int32, _ old: [UInt8], to newDirectory: Int32, _ new: [UInt8]
    ) throws(Errno) {
        let empty = try openat(newDirectory, new, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(Errno) {
            try renameat(oldDirectory, old, to: newDirectory, new)
        } catch {
            // It may have moved all the same, and only the answer was lost.
            if let made = try? fstat(empty.rawValue),
                let found = try? fstatat(newDirectory, new, followingLinks: false), found.size == 0,
                found.inode == made.inode, (try? fstatat(oldDirectory, old, followingLinks: false)) != nil
            {
                try? unlinkat(newDirectory, new)
            }
            throw error
        }
    }

    /// Returns false when inode numbers may change at the next mount. True when the file system's type cannot be read. Corresponds to
    /// `fstatfs`.
    package static func hasStableInodes(_ descriptor: Int32) -> Bool {
        (try? fileSystemType(descriptor)).map { hasStableInodes(type: $0) } ?? true
    }

    /// The type of the file system that an open file lies on (linux/magic.h). Corresponds to `fstatfs`.
    package static func fileSystemType(_ descriptor: Int32) throws(Errno) -> UInt32 {
        var type: Int64 = 0
        _ = try systemCall(.fstatfs, descriptor: descriptor) { CLinux_fstatfs_type(descriptor, &type) }
        return UInt32(truncatingIfNeeded: type)
    }

    /// False for FAT, exFAT, file systems in user space, Windows shares (`CIFS_SUPER_MAGIC`, `SMB2_SUPER_MAGIC`), and VirtualBox's shared
    /// folders (linux/magic.h).
    package static func hasStableInodes(type: UInt32) -> Bool {
        ![0x4D44, 0x2011_BAB0, 0x6573_5546, 0xFF53_4D42, 0xFE53_4D42, 0x786F_4256].contains(type)
    }

    /// The name of the entry to which a name leads in a folder; `nil`: it leads to none. Another one than was asked for where the file
    /// system ignores case or normal forms; the folder is read only there, and where it may not be the name counts as it is. Links are not
    /// followed. Blocks.
    package static func entryName(_ name: [UInt8], in folder: [UInt8]) -> [UInt8]? {
        func status(_ name: [UInt8]) -> FileStatus? { try? lstat(folder + [UInt8(ascii: "/")] + name) }
        guard let found = status(name) else { return nil }
        func leads(_ other: [UInt8]) -> Bool {
            let status = status(other)
            return status?.inode == found.inode && status?.device == found.device
        }
        let others = [inOtherCase(name), inOtherForm(name)]
        guard others.contains(where: { $0 != name && leads($0) }), let reader = try? DirectoryReader(path: folder)
        else { return name }
        var spelt: [UInt8]?
        while let entry = try? reader.next() {
            if entry.name == name { return name }
            if spelt == nil, leads(entry.name) { spelt = entry.name }
        }
        return spelt ?? name
    }

    /// The letters of ASCII in the other case; where it has none, all letters in upper case or in lower case.
    private static func inOtherCase(_ name: [UInt8]) -> [UInt8] {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let flipped = name.map { letters.contains($0 | 0x20) ? $0 ^ 0x20 : $0 }
        guard flipped == name, let text = String(validating: name, as: UTF8.self) else { return flipped }
        let upper = Array(text.uppercased().utf8)
        return upper == name ? Array(text.lowercased().utf8) : upper
    }

    /// The same text with its accents apart, or, where they are, with each in one character with its letter.
    private static func inOtherForm(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(where: { $0 >= 0x80 }), let text = String(validating: name, as: UTF8.self) else {
            return name
        }
        let apart = Array(String(String.UnicodeScalarView(text._nfd)).utf8)
        return apart == name ? Array(String(String.UnicodeScalarView(text._nfc)).utf8) : apart
    }

    /// Room on the file system of an open file. Corresponds to `fstatvfs`.
    package static func space(of descriptor: Int32) throws(Errno) -> DiskSpace {
        var status = Glibc.statvfs()
        _ = try systemCall(.statvfs, descriptor: descriptor) { Glibc.fstatvfs(descriptor, &status) }
        func bytes(_ blocks: UInt) -> UInt64 {
            let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflow ? .max : bytes
        }
        return DiskSpace(free: bytes(status.f_bavail), total: bytes(status.f_blocks))
    }

    /// Puts everything on the disk that the file system of an open file holds in memory. Corresponds to `syncfs`.
    package static func syncFileSystem(of descriptor: Int32) throws(Errno) {
        _ = try systemCall(.fsync, descriptor: descriptor) { CLinux_syncfs(descriptor) }
    }

    /// A small extended attribute of an open file; nil when there is none, none can be, or it is longer than 256 bytes.
    /// Corresponds to `fgetxattr`.
    package static func attribute(_ name: String, of descriptor: Int32) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 256)
        let count = fgetxattr(descriptor, name, &value, value.count)
        return count < 0 ? nil : Array(value[..<count])
    }

    /// Sets an extended attribute of an open file. `EOPNOTSUPP` where the file system has none. Corresponds to `fsetxattr`.
    package static func setAttribute(_ name: String, of descriptor: Int32, to value: [UInt8]) throws(Errno) {
        _ = try systemCall(.fchmod, descriptor: descriptor) { fsetxattr(descriptor, name, value, value.count, 0) }
    }

    private static func withTwoNames(
        _ call: SystemCall, _ old: [UInt8], _ new: [UInt8],
        _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) throws(Errno) -> Int32 {
        if new.contains(0) { throw .invalidArgument }
        let terminated = new + [0]
        return try systemCall(call, path: old) { cOld in
            terminated.withUnsafeBytes { raw in
                // `terminated` holds at least the NUL, so it has a base address.
                body(cOld, raw.baseAddress!.assumingMemoryBound(to: CChar.self))
            }
        }
    }
}
