import Glibc

/// The names under which a debug build can make a call fail (see ``ForcedFailures``). C names are kept.
package enum SystemCall: String, Sendable, Hashable {
    case open, openat, openat2, read, write, pread, pwrite, fstat, stat, lstat, fstatat, fdatasync, fsync, ftruncate,
        fallocate
    case rename, renameat2, unlink, unlinkat, mkdir, flock, fadvise, syncFileRange, statvfs, fstatfs, realpath, fchmod
    case futimens, getcwd, chdir, kill, opendir, readdir, readdirKind, getrandom, link, symlink, readlink, rmdir, dup
    case socket, bind, listen, connect, accept4, getsockopt, setsockopt, send, recv, shutdown, socketpair, pipe2, ioctl
    case epollCreate, epollCtl, epollWait, poll, eventfd, signalfd, spawn, waitpid, pidfdOpen, pidfdSendSignal,
        pthreadCreate
}

/// The one place where a call's -1 becomes a thrown ``Errno``, and where `EINTR` is repeated.
///
/// `descriptor` only serves forced failures and costs nothing in a release build.
@inline(__always)
func systemCall<R: FixedWidthInteger & SignedInteger>(
    _ name: SystemCall, descriptor: Int32 = -1, _ body: () -> R
) throws(Errno) -> R {
    #if DEBUG
        if let failure = ForcedFailures.take(name, descriptor: descriptor, path: nil) { throw failure }
    #endif
    while true {
        let result = body()
        if result != -1 { return result }
        let error = Errno.current
        if error != .interrupted { throw error }
    }
}

/// The same for a call that takes a path. A path with a NUL inside is `EINVAL`: the kernel would see another file.
@inline(__always)
func systemCall<R: FixedWidthInteger & SignedInteger>(
    _ name: SystemCall, path: [UInt8], _ body: (UnsafePointer<CChar>) -> R
) throws(Errno) -> R {
    #if DEBUG
        if let failure = ForcedFailures.take(name, descriptor: -1, path: path) { throw failure }
    #endif
    while true {
        let (result, error) = try withCPath(path) { cPath in
            let result = body(cPath)
            return (result, result == -1 ? Errno.current : nil)
        }
        guard let error else { return result }
        if error != .interrupted { throw error }
    }
}

/// Lends a NUL-terminated copy of a path for the time of `body`. A NUL inside is `EINVAL`.
package func withCPath<R>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> R) throws(Errno) -> R {
    if path.contains(0) { throw .invalidArgument }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: path.count + 1) { buffer in
        let end = buffer.update(fromContentsOf: path)
        buffer[end] = 0
        return UnsafeRawBufferPointer(buffer).withMemoryRebound(to: CChar.self) { bound in
            // The buffer holds at least the NUL, so it has a base address.
            body(bound.baseAddress!)
        }
    }
}
