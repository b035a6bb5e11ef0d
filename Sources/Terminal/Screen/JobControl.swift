import CTerminalRescue
import Glibc

/// Stopping ourselves, as Ctrl-Z asks for.
enum JobControl {
    enum Situation: Equatable {
        /// A shell with job control waits for us.
        case job
        /// Nobody in our session looks after our group: the kernel drops SIGTSTP. Who started us may still continue us.
        case orphaned
        /// The terminal was opened for us alone: nobody could ever continue us.
        case alone
    }

    /// Looks at the processes above us. A group is looked after when a parent of one of its processes is in another
    /// group of the same session (POSIX, "orphaned process group"); ours may be a wrapper's group, so we go up.
    static var situation: Situation {
        let session = getsid(0)
        if session == getpid() { return .alone }
        let group = getpgrp()
        var process = getppid()
        while process > 1 && getpgid(process) == group {
            if process == session { return .alone }
            guard let parent = parent(of: process) else { return .orphaned }
            process = parent
        }
        return process > 1 && getsid(process) == session ? .job : .orphaned
    }

    /// Stops our group, or us alone where a group's stop would be dropped. May return before the stop takes effect.
    static func stop(_ situation: Situation) {
        CTerminalRescue_stop(situation == .job ? 0 : 1)
    }

    /// Field 4 of /proc/PID/stat; the name before it is in parentheses and may hold anything.
    private static func parent(of process: pid_t) -> pid_t? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0, let name = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(name + 1)..<count].split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
    }
}
