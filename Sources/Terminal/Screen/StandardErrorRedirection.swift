import Glibc
import LinuxSystem

/// Keeps what libraries and the runtime print to descriptor 2 off the screen. Does nothing when descriptor 2 is not a
/// terminal, because then somebody sent it where they want it.
struct StandardErrorRedirection {
    private let file: OwnFile?
    /// A copy of the terminal's descriptor while redirected.
    private(set) var saved: Int32?

    /// - Parameter path: where it goes instead, appended; /dev/null when nil or when it cannot be opened.
    init(path: String?) { file = path.map { OwnFile($0) } }

    mutating func begin() {
        guard saved == nil, isatty(STDERR_FILENO) == 1 else { return }
        let copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        let own = try? file?.open(flags: O_WRONLY | O_APPEND | O_CREAT)
        guard let target = own ?? (try? System.open(Array("/dev/null".utf8), flags: O_WRONLY)) else {
            close(copy)
            return
        }
        dup2(target.rawValue, STDERR_FILENO)
        saved = copy
    }

    mutating func end() {
        guard let copy = saved else { return }
        dup2(copy, STDERR_FILENO)
        close(copy)
        saved = nil
    }
}
