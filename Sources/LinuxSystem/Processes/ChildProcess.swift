import CLinux
import Glibc

/// The end of a child: its exit code, or the signal that killed it.
package enum ChildExit: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)

    init(waitStatus status: Int32) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }
}

/// A program started by us, in a session of its own, with nothing inherited but what is named.
package struct ChildProgram: Sendable {
    /// The path of the program; looked up in `PATH` of this process when it has no slash.
    package var executable: String
    /// Without the program's name.
    package var arguments: [[UInt8]]
    /// `NAME=value`, all of it.
    package var environment: [[UInt8]]
    /// Lent to the child as descriptors 0, 1, 2; nil is `/dev/null`.
    package var standardInput: Int32?
    package var standardOutput: Int32?
    package var standardError: Int32?
    package var workingDirectory: [UInt8] = Array("/".utf8)
    /// A new session: no terminal, so no signal of one.
    package var startsSession = true

    /// A program with no streams in `/`; set the rest on the value.
    package init(_ executable: String, arguments: [[UInt8]] = [], environment: [[UInt8]] = []) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }

    /// The same with text.
    package init(_ executable: String, _ arguments: [String], environment: [String] = []) {
        self.init(
            executable, arguments: arguments.map { Array($0.utf8) }, environment: environment.map { Array($0.utf8) })
    }
}

/// A running child. Exactly one of `wait` and `onExit` takes its exit status; one of them must.
package final class ChildProcess: Sendable {
    package let processID: Int32
    /// Readable when the child has ended. Corresponds to `pidfd_open`.
    private let handle: OwnedDescriptor

    /// Starts a program. Descriptors from 3 on stay ours, signals are the child's own to set.
    /// Corresponds to `posix_spawnp`.
    package init(_ program: ChildProgram) throws(Errno) {
        processID = try Self.spawn(program)
        do {
            let pid = processID
            handle = OwnedDescriptor(try systemCall(.pidfdOpen) { CLinux_pidfd_open(pid) })
        } catch {
            // Nobody would ever wait for it.
            _ = Glibc.kill(processID, SIGKILL)
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            throw error
        }
    }

    /// Sends a signal to the child; one that has ended is left alone. Corresponds to `pidfd_send_signal`.
    package func signal(_ number: Int32) throws(Errno) {
        let descriptor = handle.rawValue
        do {
            _ = try systemCall(.pidfdSendSignal, descriptor: descriptor) {
                CLinux_pidfd_send_signal(descriptor, number)
            }
        } catch .noSuchProcess {}
    }

    /// Waits for the end; blocks, so on a ``BlockingWorker``. Corresponds to `waitpid`.
    package func wait() throws(Errno) -> ChildExit {
        var status: Int32 = 0
        _ = try systemCall(.waitpid) { waitpid(processID, &status, 0) }
        return ChildExit(waitStatus: status)
    }

    /// Waits for the child's end until the deadline and returns true when it has ended; blocks. Corresponds to poll(2).
    package func hasEnded(by deadline: MonotonicInstant) -> Bool {
        while true {
            let left = max(.zero, MonotonicInstant.now.duration(to: deadline))
            var waiting = pollfd(fd: handle.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up))))
            if ready > 0 { return true }
            if ready == 0 || left == .zero { return false }
        }
    }

    /// Calls `handler` on the loop once, when the child has ended. On the loop.
    package func onExit(on loop: EventLoop, _ handler: @escaping (ChildExit) -> Void) throws(Errno) {
        let registration = Holder()
        registration.value = try loop.register(handle.rawValue, .read) { [self] _ in
            if let own = registration.value { loop.cancel(own) }
            registration.value = nil
            // It has ended, so this does not block; it throws only when another has taken the status, our own bug.
            handler((try? wait()) ?? .exited(255))
        }
    }

    private final class Holder { var value: Registration? }

    private static func spawn(_ program: ChildProgram) throws(Errno) -> Int32 {
        #if DEBUG
            if let failure = ForcedFailures.take(.spawn, descriptor: -1, path: Array(program.executable.utf8)) {
                throw failure
            }
        #endif
        let words = [Array(program.executable.utf8)] + program.arguments
        if (words + program.environment + [program.workingDirectory]).contains(where: { $0.contains(0) }) {
            throw .invalidArgument
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let streams = [program.standardInput, program.standardOutput, program.standardError]
        for (target, source) in streams.enumerated() {
            let target = Int32(target)
            if let source {
                try check(posix_spawn_file_actions_adddup2(&actions, source, target))
            } else {
                let flags = target == 0 ? O_RDONLY : O_WRONLY
                try check(posix_spawn_file_actions_addopen(&actions, target, "/dev/null", flags, 0))
            }
        }
        try check(CLinux_posix_spawn_file_actions_addclosefrom_np(&actions, 3))
        let directory = program.workingDirectory
        var code: Int32 = 0
        try withCPath(directory) { code = CLinux_posix_spawn_file_actions_addchdir_np(&actions, $0) }
        try check(code)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        if program.startsSession { flags |= CLinux_POSIX_SPAWN_SETSID }
        try check(posix_spawnattr_setflags(&attributes, flags))
        // Our threads block signals and ignore SIGPIPE; a child that inherited that could not be ended politely.
        var none = Signals.signalSet([])
        var all = sigset_t()
        sigfillset(&all)
        try check(posix_spawnattr_setsigmask(&attributes, &none))
        try check(posix_spawnattr_setsigdefault(&attributes, &all))

        var pid: pid_t = 0
        try check(
            withCStrings(words) { argv in
                withCStrings(program.environment) { envp in
                    posix_spawnp(&pid, program.executable, &actions, &attributes, argv, envp)
                }
            })
        return pid
    }

    /// posix_spawn's calls return the error instead of setting `errno`.
    private static func check(_ code: Int32) throws(Errno) {
        if code != 0 { throw Errno(rawValue: code) }
    }

    /// Lends a NULL-terminated array of C strings for the time of `body`.
    private static func withCStrings<R>(
        _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var copies: [UnsafeMutablePointer<CChar>?] = strings.map { string in
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: string.count + 1)
            for (index, byte) in string.enumerated() { copy[index] = CChar(bitPattern: byte) }
            copy[string.count] = 0
            return copy
        }
        defer { for copy in copies { copy?.deallocate() } }
        copies.append(nil)
        return body(copies)
    }
}
