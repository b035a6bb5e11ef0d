import Glibc

/// One name in a directory.
package struct DirectoryEntry: Sendable, Equatable {
    /// The name's bytes, never `.` or `..`.
    package let name: [UInt8]
    /// The kind of the entry itself, a link never followed. A file where nobody can tell: whoever opens it hears why.
    package let kind: FileKind
    package let inode: UInt64
}

/// Streams a directory's names in the order of the file system. One thread at a time; closed with its last reference.
package final class DirectoryReader {
    private let stream: OpaquePointer

    /// Reads the directory behind a descriptor, which it takes over. Corresponds to `fdopendir`.
    package init(_ directory: OwnedDescriptor) throws(Errno) {
        guard let stream = fdopendir(directory.rawValue) else { throw .current }
        _ = directory.release()
        self.stream = stream
    }

    /// Opens and reads a directory, links followed. Corresponds to `opendir`.
    package convenience init(path: [UInt8]) throws(Errno) {
        try self.init(System.open(path, flags: O_RDONLY | O_DIRECTORY))
    }

    /// Opens and reads a directory below another, a link refused (`ELOOP` or `ENOTDIR`).
    package convenience init(at directory: Int32, name: [UInt8]) throws(Errno) {
        try self.init(System.openat(directory, name, flags: O_RDONLY | O_DIRECTORY))
    }

    /// The directory's descriptor, for `openat` and `fstatat`; valid as long as this object. Corresponds to `dirfd`.
    package var descriptor: Int32 { dirfd(stream) }

    /// The next name, nil at the end. Corresponds to `readdir`.
    package func next() throws(Errno) -> DirectoryEntry? {
        #if DEBUG
            if let failure = ForcedFailures.take(.readdir, descriptor: descriptor, path: nil) { throw failure }
        #endif
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno == 0 { return nil }
                throw .current
            }
            // `d_name` is a tuple of 256 bytes to Swift; the record may be shorter or longer, so only its address is used.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = UnsafeRawPointer(entry) + offset
            let count = strlen(start.assumingMemoryBound(to: CChar.self))
            let bytes = UnsafeRawBufferPointer(start: start, count: count)
            if count <= 2, bytes.allSatisfy({ $0 == UInt8(ascii: ".") }) { continue }
            let (name, inode) = ([UInt8](bytes), UInt64(entry.pointee.d_ino))
            let kind =
                kindTold(entry.pointee.d_type) ?? (try? System.fstatat(descriptor, name, followingLinks: false))?.kind
            return DirectoryEntry(name: name, kind: kind ?? .regular, inode: inode)
        }
    }

    /// The kind that the directory itself tells; `nil`: this file system keeps it with the entry.
    private func kindTold(_ type: UInt8) -> FileKind? {
        #if DEBUG
            if ForcedFailures.take(.readdirKind, descriptor: descriptor, path: nil) != nil { return nil }
        #endif
        return FileKind(directoryType: type)
    }

    deinit { closedir(stream) }
}
