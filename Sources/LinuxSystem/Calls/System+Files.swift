import CLinux
import Glibc

extension System {
    /// Opens a file; the descriptor never survives `exec`. Corresponds to `open` with `O_CLOEXEC`.
    package static func open(
        _ path: [UInt8], flags: Int32 = O_RDONLY, mode: UInt32 = 0o666
    ) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall(.open, path: path) { Glibc.open($0, flags | O_CLOEXEC, mode_t(mode)) })
    }

    /// Opens a name below an open directory and never follows a link in its place (`ELOOP`).
    /// Corresponds to `openat` with `O_NOFOLLOW | O_CLOEXEC`.
    package static func openat(
        _ directory: Int32, _ name: [UInt8], flags: Int32 = O_RDONLY, mode: UInt32 = 0o666
    ) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall(.openat, path: name) {
                Glibc.openat(directory, $0, flags | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
            })
    }

    /// Opens a file of settings for reading, without waiting for the other end of a pipe. Commands may stand in it, so it has to be its user's
    /// or root's, and nobody else's to write. Corresponds to `open` and `fstat`.
    /// - Throws: `invalidArgument`: it is no plain file; `notPermitted`: somebody else can write it; else what `open` says.
    package static func openSettings(_ path: [UInt8]) throws(Errno) -> OwnedDescriptor {
        let file = try open(path, flags: O_RDONLY | O_NONBLOCK)
        let status = try fstat(file.rawValue)
        guard status.kind == .regular else { throw .invalidArgument }
        guard !status.isOpenToOthers, [0, userID].contains(status.userID) else { throw .notPermitted }
        return file
    }

    /// Fewer descriptors are free than an exchange needs. Linux gives out the lowest free number, so that of a new descriptor tells.
    /// Corresponds to `sysconf(_SC_OPEN_MAX)`.
    package static var isShortOfDescriptors: Bool {
        do throws(Errno) {
            let next = try open(Array("/dev/null".utf8))
            let limit = sysconf(Int32(_SC_OPEN_MAX))
            return limit > 0 && Int(next.rawValue) + descriptorsOfOneExchange >= limit
        } catch {
            return error.isShortage
        }
    }

    /// A socket, a resolver's pair, a file of authorities.
    private static let descriptorsOfOneExchange = 8

    /// A second descriptor of the same open file. Corresponds to `fcntl(F_DUPFD_CLOEXEC)`.
    package static func duplicate(_ descriptor: Int32) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall(.dup, descriptor: descriptor) { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) })
    }

    /// Reads what is there, 0 at the end. Corresponds to `read`.
    package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try systemCall(.read, descriptor: descriptor) { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Writes a prefix of `buffer` and says how long it was. Corresponds to `write`.
    package static func write(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) throws(Errno) -> Int {
        try systemCall(.write, descriptor: descriptor) { Glibc.write(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Writes all of `buffer` to a blocking descriptor. Corresponds to `write`, repeated.
    package static func writeAll(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) throws(Errno) {
        var done = 0
        while done < buffer.count {
            done += try write(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
        }
    }

    /// Reads at an offset without moving the file's position, 0 at the end. Corresponds to `pread`.
    package static func pread(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try systemCall(.pread, descriptor: descriptor) {
            Glibc.pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    /// Fills `buffer` from `offset` on; less only at the end of the file. Corresponds to `pread`, repeated.
    package static func preadAll(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try pread(descriptor, rest, at: offset + Int64(done))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes a prefix of `buffer` at an offset. Corresponds to `pwrite`.
    package static func pwrite(
        _ descriptor: Int32, _ buffer: UnsafeRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try systemCall(.pwrite, descriptor: descriptor) {
            Glibc.pwrite(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    /// Writes all of `buffer` at an offset. Corresponds to `pwrite`, repeated.
    package static func pwriteAll(
        _ descriptor: Int32, _ buffer: UnsafeRawBufferPointer, at offset: Int64
    ) throws(Errno) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
            done += try pwrite(descriptor, rest, at: offset + Int64(done))
        }
    }

    /// Puts a file's bytes and its size on the disk. Corresponds to `fdatasync`.
    package static func fdatasync(_ descriptor: Int32) throws(Errno) {
        _ = try systemCall(.fdatasync, descriptor: descriptor) { Glibc.fdatasync(descriptor) }
    }

    /// Puts a file's bytes and attributes on the disk. Corresponds to `fsync`.
    package static func fsync(_ descriptor: Int32) throws(Errno) {
        _ = try systemCall(.fsync, descriptor: descriptor) { Glibc.fsync(descriptor) }
    }

    /// Puts a directory's entries on the disk, which makes a rename in it durable. Corresponds to `fsync` of a directory.
    package static func syncDirectory(_ path: [UInt8]) throws(Errno) {
        let directory = try open(path, flags: O_RDONLY | O_DIRECTORY)
        defer { directory.close() }
        try fsync(directory.rawValue)
    }

    /// Cuts or extends a file. Corresponds to `ftruncate`.
    package static func ftruncate(_ descriptor: Int32, to size: Int64) throws(Errno) {
        _ = try systemCall(.ftruncate, descriptor: descriptor) { Glibc.ftruncate(descriptor, off_t(size)) }
    }

    /// Reserves disk space; the size stays when `keepingSize`. `EOPNOTSUPP` where the file system cannot.
    /// Corresponds to `fallocate`.
    package static func fallocate(
        _ descriptor: Int32, offset: Int64, length: Int64, keepingSize: Bool
    ) throws(Errno) {
        _ = try systemCall(.fallocate, descriptor: descriptor) {
            CLinux_fallocate(
                descriptor, keepingSize ? CLinux_FALLOC_FL_KEEP_SIZE : 0, off_t(offset), off_t(length))
        }
    }

    /// The coming use of a range of a file.
    package enum AccessAdvice: Sendable {
        case sequential, willNeed, dontNeed

        var rawValue: Int32 {
            switch self {
            case .sequential: POSIX_FADV_SEQUENTIAL
            case .willNeed: POSIX_FADV_WILLNEED
            case .dontNeed: POSIX_FADV_DONTNEED
            }
        }
    }

    /// A hint to the page cache; failing is of no consequence, so nothing is thrown. Corresponds to `posix_fadvise`.
    package static func advise(_ descriptor: Int32, offset: Int64 = 0, length: Int64 = 0, _ advice: AccessAdvice) {
        _ = posix_fadvise(descriptor, off_t(offset), off_t(length), advice.rawValue)
    }

    /// Starts writing a range to the disk, and waits for it when `waiting`. No durability: the size and the disk's
    /// cache are left out. Corresponds to `sync_file_range`.
    package static func syncFileRange(
        _ descriptor: Int32, offset: Int64, length: Int64, waiting: Bool
    ) throws(Errno) {
        let wait = CLinux_SYNC_FILE_RANGE_WAIT_BEFORE | CLinux_SYNC_FILE_RANGE_WAIT_AFTER
        let flags = CLinux_SYNC_FILE_RANGE_WRITE | (waiting ? wait : 0)
        _ = try systemCall(.syncFileRange, descriptor: descriptor) {
            CLinux_sync_file_range(descriptor, off_t(offset), off_t(length), flags)
        }
    }
}
