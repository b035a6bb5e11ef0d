import CLinux
import Glibc

extension System {
    /// This process. Corresponds to `getpid`.
    package static var processID: Int32 { getpid() }

    /// The real user of this process. Corresponds to `getuid`.
    package static var userID: UInt32 { getuid() }

    /// Keeps the memory of this process, which holds secrets, out of core dumps and out of reach of debuggers of the same user, until the
    /// next `exec`. Corresponds to `prctl(PR_SET_DUMPABLE, 0)` and `setrlimit(RLIMIT_CORE)`.
    package static func forbidDumps() {
        #if DEBUG
            // A test that is not root could not find its own processes any more.
            if environment("MARTLET_DUMPABLE") != nil { return }
        #endif
        // Neither fails for a process that asks for less.
        _ = CLinux_prctl_set_dumpable(0)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// The number of files that this process may have open. Corresponds to `getrlimit(RLIMIT_NOFILE)`.
    package static var openFileLimit: UInt64 {
        var limit = rlimit()
        let answer = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return answer == 0 ? UInt64(limit.rlim_cur) : .max
    }

    /// True when a core dump of this process may be written. Corresponds to `prctl(PR_GET_DUMPABLE)`.
    package static var isDumpable: Bool { CLinux_is_dumpable() != 0 }

    /// Sends a signal; signal 0 only asks whether the process is there (`ESRCH`). Corresponds to `kill`.
    package static func kill(_ process: Int32, signal: Int32) throws(Errno) {
        _ = try systemCall(.kill) { Glibc.kill(process, signal) }
    }

    /// Sets the mask of permission bits for new files of the whole process, and says the old one. Corresponds to `umask`.
    @discardableResult
    package static func umask(_ mask: UInt32) -> UInt32 { UInt32(Glibc.umask(mode_t(mask))) }

    /// Returns true when a descriptor is a terminal. Corresponds to `isatty`.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Bytes nobody can guess. Corresponds to `getrandom`, which on Linux does not fail once the system is up.
    package static func randomBytes(_ count: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            done += try systemCall(.getrandom) {
                bytes.withUnsafeMutableBytes { getrandom($0.baseAddress.map { $0 + done }, count - done, 0) }
            }
        }
        return bytes
    }

    /// The environment as this process has it, each entry as `NAME=value` (environ(7)). /proc/self/environ is root's once dumps are forbidden.
    package static var environmentEntries: [[UInt8]] {
        var entries: [[UInt8]] = []
        var entry = environ
        while let text = entry.pointee {
            entries.append(bytes(of: text))
            entry += 1
        }
        return entries
    }

    /// A variable of the environment, as bytes. Corresponds to `getenv`.
    package static func environment(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        return bytes(of: value)
    }

    /// The path of a program as a shell finds it, in folders with `:` between; `nil`: in none of them. A name with a slash is one already, and
    /// folders that depend on where the shell is do not count.
    package static func program(_ name: String, in folders: String) -> String? {
        if name.contains("/") { return name }
        return folders.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { path in
            guard let status = try? stat(Array(path.utf8)), status.kind == .regular else { return false }
            return access(path, X_OK) == 0
        }
    }

    /// Two ends of a pipe, neither surviving `exec`. Corresponds to `pipe2(O_CLOEXEC)`.
    package static func pipe(nonBlocking: Bool = false) throws(Errno) -> (read: OwnedDescriptor, write: OwnedDescriptor)
    {
        var ends: [Int32] = [-1, -1]
        _ = try systemCall(.pipe2) { CLinux_pipe2(&ends, O_CLOEXEC | (nonBlocking ? O_NONBLOCK : 0)) }
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    /// Asks for a pipe that holds so many bytes; the system may refuse (`EPERM`). Corresponds to `fcntl(F_SETPIPE_SZ)`.
    package static func setPipeCapacity(_ descriptor: Int32, _ bytes: Int32) throws(Errno) {
        _ = try systemCall(.pipe2, descriptor: descriptor) { fcntl(descriptor, CLinux_F_SETPIPE_SZ, bytes) }
    }

    /// Makes reads and writes return `EAGAIN` instead of waiting, or wait again. Corresponds to `fcntl(F_SETFL)`.
    package static func setNonBlocking(_ descriptor: Int32, _ nonBlocking: Bool = true) throws(Errno) {
        let flags = try systemCall(.dup, descriptor: descriptor) { fcntl(descriptor, F_GETFL) }
        let wanted = nonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK
        _ = try systemCall(.dup, descriptor: descriptor) { fcntl(descriptor, F_SETFL, wanted) }
    }
}
