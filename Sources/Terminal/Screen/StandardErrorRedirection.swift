import Glibc

/// Keeps what libraries and the runtime print to descriptor 2 off the screen. Does nothing when descriptor 2 is not a
/// terminal, because then somebody sent it where they want it.
struct StandardErrorRedirection {
    private let path: String
    /// A copy of the terminal's descriptor while redirected.
    private(set) var saved: Int32?

    /// - Parameter path: where it goes instead, appended; /dev/null when nil or when it cannot be opened.
    init(path: String?) { self.path = path ?? "/dev/null" }

    mutating func begin() {
        guard saved == nil, isatty(STDERR_FILENO) == 1 else { return }
        let copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        var file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        if file < 0 { file = open("/dev/null", O_WRONLY | O_CLOEXEC) }
        guard file >= 0 else {
            close(copy)
            return
        }
        dup2(file, STDERR_FILENO)
        close(file)
        saved = copy
    }

    mutating func end() {
        guard let copy = saved else { return }
        dup2(copy, STDERR_FILENO)
        close(copy)
        saved = nil
    }
}
