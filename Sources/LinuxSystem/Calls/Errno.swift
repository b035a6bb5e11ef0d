import CLinux
import Glibc

/// An error number of the kernel or the C library. Corresponds to `errno`.
package struct Errno: RawRepresentable, Error, Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The number as `<errno.h>` has it.
    package let rawValue: Int32

    /// Wraps a number as `<errno.h>` has it.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The calling thread's last error. Corresponds to `errno`.
    package static var current: Errno { Errno(rawValue: errno) }

    /// The C library's text for the number. Corresponds to `strerror_r`.
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, let text = CLinux_strerror_r(rawValue, base, buffer.count) else {
                return "error \(rawValue)"
            }
            return String(cString: text)
        }
    }
}

extension Errno {
    /// `EPERM`
    package static let notPermitted = Errno(rawValue: EPERM)
    /// `ENOENT`
    package static let noSuchFile = Errno(rawValue: ENOENT)
    /// `ESRCH`
    package static let noSuchProcess = Errno(rawValue: ESRCH)
    /// `EINTR`
    package static let interrupted = Errno(rawValue: EINTR)
    /// `EIO`
    package static let inputOutput = Errno(rawValue: EIO)
    /// `EBADF`
    package static let badDescriptor = Errno(rawValue: EBADF)
    /// `EAGAIN`, the same number as `EWOULDBLOCK`
    package static let wouldBlock = Errno(rawValue: EAGAIN)
    /// `ENOMEM`
    package static let noMemory = Errno(rawValue: ENOMEM)
    /// `EACCES`
    package static let accessDenied = Errno(rawValue: EACCES)
    /// `EEXIST`
    package static let fileExists = Errno(rawValue: EEXIST)
    /// `EXDEV`
    package static let crossDevice = Errno(rawValue: EXDEV)
    /// `ENOTDIR`
    package static let notDirectory = Errno(rawValue: ENOTDIR)
    /// `EISDIR`
    package static let isDirectory = Errno(rawValue: EISDIR)
    /// `EINVAL`
    package static let invalidArgument = Errno(rawValue: EINVAL)
    /// `ENFILE`
    package static let tooManyFilesInSystem = Errno(rawValue: ENFILE)
    /// `EMFILE`
    package static let tooManyOpenFiles = Errno(rawValue: EMFILE)
    /// No descriptor is left just now: another try may find one.
    package var isShortage: Bool { self == .tooManyOpenFiles || self == .tooManyFilesInSystem }
    /// `EFBIG`
    package static let fileTooLarge = Errno(rawValue: EFBIG)
    /// `ENOSPC`
    package static let noSpace = Errno(rawValue: ENOSPC)
    /// `EROFS`
    package static let readOnlyFileSystem = Errno(rawValue: EROFS)
    /// `EPIPE`
    package static let brokenPipe = Errno(rawValue: EPIPE)
    /// `ENAMETOOLONG`
    package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// `ENOTEMPTY`
    package static let directoryNotEmpty = Errno(rawValue: ENOTEMPTY)
    /// `ELOOP`
    package static let tooManyLinks = Errno(rawValue: ELOOP)
    /// `ENOSYS`
    package static let notImplemented = Errno(rawValue: ENOSYS)
    /// `EOPNOTSUPP`, the same number as `ENOTSUP`
    package static let notSupported = Errno(rawValue: EOPNOTSUPP)
    /// `EADDRINUSE`
    package static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// `ENETUNREACH`
    package static let networkUnreachable = Errno(rawValue: ENETUNREACH)
    /// `ECONNABORTED`
    package static let connectionAborted = Errno(rawValue: ECONNABORTED)
    /// `ECONNRESET`
    package static let connectionReset = Errno(rawValue: ECONNRESET)
    /// `ENOTCONN`
    package static let notConnected = Errno(rawValue: ENOTCONN)
    /// `ETIMEDOUT`
    package static let timedOut = Errno(rawValue: ETIMEDOUT)
    /// `ECONNREFUSED`
    package static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// `EDQUOT`
    package static let quotaExceeded = Errno(rawValue: EDQUOT)
    /// `ECANCELED`
    package static let canceled = Errno(rawValue: ECANCELED)
}
