import Glibc

/// The kind of a directory entry.
package enum FileKind: Sendable, Equatable {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, other

    /// From the type bits of `st_mode`.
    package init(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symbolicLink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .characterDevice
        case S_IFBLK: self = .blockDevice
        default: self = .other
        }
    }

    /// From `d_type`; nil when the file system does not tell and `fstatat` must be asked.
    package init?(directoryType: UInt8) {
        switch Int(directoryType) {
        case Int(DT_REG): self = .regular
        case Int(DT_DIR): self = .directory
        case Int(DT_LNK): self = .symbolicLink
        case Int(DT_FIFO): self = .fifo
        case Int(DT_SOCK): self = .socket
        case Int(DT_CHR): self = .characterDevice
        case Int(DT_BLK): self = .blockDevice
        default: return nil
        }
    }
}

/// The kernel's record of a file. Corresponds to `struct stat`.
package struct FileStatus: Sendable, Equatable {
    /// Bytes.
    package let size: Int64
    /// Last change of the contents, nanoseconds since 1970, within `times`.
    package let modifiedNanoseconds: Int64
    /// Last change of contents or attributes, nanoseconds since 1970, within `times`.
    package let changedNanoseconds: Int64
    package let inode: UInt64
    package let device: UInt64
    /// Type and permission bits, `st_mode`.
    package let mode: UInt32
    package let userID: UInt32
    package let groupID: UInt32
    package let linkCount: UInt64

    /// The type bits of `mode`.
    package var kind: FileKind { FileKind(mode: mode) }
    /// The permission bits of `mode`, 0o0000…0o7777.
    package var permissions: UInt32 { mode & 0o7777 }

    /// Somebody else than its owner may write in it: everybody, or a group. Root's group and the user's own are nobody else.
    package var isOpenToOthers: Bool {
        switch permissions & 0o022 {
        case 0: false
        case 0o020: groupID != 0 && UserEntry.own?.ownsGroup(groupID) != true
        default: true
        }
    }

    init(_ status: stat) {
        size = Int64(status.st_size)
        modifiedNanoseconds = Self.nanoseconds(status.st_mtim)
        changedNanoseconds = Self.nanoseconds(status.st_ctim)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        mode = status.st_mode
        userID = status.st_uid
        groupID = status.st_gid
        linkCount = UInt64(status.st_nlink)
    }

    /// The times that a status tells, nanoseconds since 1970: 285 years around it. The 64 bits have room for 7 years more, so that whoever
    /// adds or takes away a few seconds never overflows.
    package static let times: ClosedRange<Int64> = -9_000_000_000_000_000_000...9_000_000_000_000_000_000

    /// A file system may hand out any 64-bit time, and `touch` may set any: one that lies outside becomes the first or last of `times`.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (seconds, isFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isFarther) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        if isFar || isFarther { return time.tv_sec < 0 ? times.lowerBound : times.upperBound }
        return min(max(sum, times.lowerBound), times.upperBound)
    }
}
