import CSQLite
import Glibc

/// A database whose path is longer than SQLite's 512 bytes: its directory is opened and the file reached as
/// `/proc/self/fd/N/name`, which the kernel resolves to the same place.
///
/// SQLite's own way to a full path would follow that link and end with the long path again, so such a database is
/// opened through a file system of ours that is SQLite's in all but that one function.
struct ShortPath {
    /// For `sqlite3_open_v2`: with a NUL at the end.
    let bytes: [UInt8]
    /// The name of the file system, `nil` for SQLite's usual one.
    let fileSystem: String?
    /// To be closed after the connection, which opens its log by the same directory; -1 for none.
    let directory: Int32

    /// Leaves a path alone that is short enough; the rest of SQLite's 512 bytes are for `-journal` and `-wal`.
    init(_ path: [UInt8]) {
        guard path.count > 480, let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
            (bytes, fileSystem, directory) = (path + [0], nil, -1)
            return
        }
        let parent = (path[..<slash] + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) } ?? -1
            }
        }
        guard parent >= 0, Self.isRegistered else {
            // SQLite then says what is wrong with the path.
            if parent >= 0 { close(parent) }
            (bytes, fileSystem, directory) = (path + [0], nil, -1)
            return
        }
        bytes = Array("/proc/self/fd/\(parent)".utf8) + path[slash...] + [0]
        fileSystem = Self.name
        directory = parent
    }

    private static let name = "martlet-short-paths"

    /// Registers the file system, once; it stays for the life of the process. Corresponds to `sqlite3_vfs_register`.
    private static let isRegistered: Bool = {
        guard let usual = sqlite3_vfs_find(nil) else { return false }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: usual.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(strdup(name))
        own.pointee.xFullPathname = { _, given, size, full in
            guard let given, let full, strlen(given) < Int(size) else { return SQLITE_CANTOPEN }
            strcpy(full, given)
            return SQLITE_OK
        }
        return sqlite3_vfs_register(own, 0) == SQLITE_OK
    }()
}
