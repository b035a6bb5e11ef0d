// struct termios belongs to the first module that includes <termios.h>.
import CNcurses
import Glibc

/// A terminal for one test: a pseudo terminal, a program on it, and what the program did to the terminal's modes.
final class PseudoTerminal {
    /// What the private modes are, as far as they were switched.
    private(set) var modes = TerminalModeTracker()
    /// Everything the program wrote.
    private(set) var output: [UInt8] = []
    /// The exit status as waitpid(2) gave it, once the program ended.
    private(set) var status: Int32?
    private(set) var process: pid_t = 0
    private var master: Int32
    /// Kept open, so that the terminal lives on after the program.
    private var slave: Int32
    private let before: termios
    private let name: String
    /// Readable (at its end) once every copy of the other end is closed, which is when the program ended.
    private var alive: Int32 = -1
    private let patience: Duration = .seconds(30)

    enum Failure: Error {
        case system(String, Int32)
        /// What was waited for did not come; the output so far.
        case tooLate(String)
    }

    init(columns: Int = 80, rows: Int = 24) throws {
        // posix_openpt and its kin are not in the Glibc module; these are what they do.
        let unlock: UInt = 0x4004_5431  // TIOCSPTLCK
        let whichNumber: UInt = 0x8004_5430  // TIOCGPTN
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, Int32) = (0, 0)
        guard master >= 0, ioctl(master, unlock, &locked) == 0, ioctl(master, whichNumber, &number) == 0 else {
            throw Failure.system("pseudo terminal", errno)
        }
        name = "/dev/pts/\(number)"
        slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var modes = termios()
        guard slave >= 0, tcgetattr(slave, &modes) == 0 else { throw Failure.system("slave", errno) }
        before = modes
        resize(columns: columns, rows: rows)
    }

    deinit {
        if status == nil && process > 0 {
            kill(process, SIGKILL)
            var ignored: Int32 = 0
            waitpid(process, &ignored, 0)
        }
        for descriptor in [master, slave, alive] where descriptor >= 0 { close(descriptor) }
    }

    func resize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Starts a program with the terminal as its controlling terminal.
    func start(_ arguments: [String], environment: [String: String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A session leader's first terminal, opened without O_NOCTTY, becomes its controlling terminal.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var ends: [Int32] = [-1, -1]
        // A pair of sockets, because a pipe that other tests' programs cannot inherit needs pipe2.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure.system("socketpair", errno) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 9)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID, which needs _GNU_SOURCE
        posix_spawnattr_setflags(&attributes, newSession | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)

        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        let error = posix_spawn(&process, arguments[0], &actions, &attributes, argv, envp)
        close(ends[1])
        alive = ends[0]
        guard error == 0 else { throw Failure.system("posix_spawn \(arguments[0])", error) }
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// The program's side of the terminal, with a thread that reads and forgets what is written to it.
    func sink() -> Int32 {
        let copy = fcntl(master, F_DUPFD_CLOEXEC, 0)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                let descriptor = Int32(Int(bitPattern: argument))
                var bytes = [UInt8](repeating: 0, count: 4096)
                while read(descriptor, &bytes, bytes.count) > 0 {}
                close(descriptor)
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(copy)))
        pthread_detach(thread)
        return slave
    }

    /// Sends a signal to the group in the foreground.
    func killForeground(_ signal: Int32) throws {
        let group = tcgetpgrp(master)
        guard group > 1, kill(-group, signal) == 0 else { throw Failure.system("foreground group", errno) }
    }

    /// Closes our end, as a terminal window does.
    func hangUp() {
        close(slave)
        close(master)
        (master, slave) = (-1, -1)
    }

    /// Reads until the output since the last wait contains the text.
    func wait(for text: String) throws {
        let wanted = Array(text.utf8)
        try wait("\"\(text)\"") { self.unseen.firstRange(of: wanted) != nil }
        if let found = unseen.firstRange(of: wanted) { seen = found.upperBound }
    }

    /// Reads until a condition on the terminal holds.
    func wait(_ what: String, until condition: () -> Bool) throws {
        let deadline = ContinuousClock.now + patience
        while !condition() {
            guard try readMore(deadline) else { throw Failure.tooLate("\(what) not in: \(text)") }
        }
    }

    /// Reads until the program has ended and everything it wrote is here.
    func waitForEnd() throws -> Int32 {
        let deadline = ContinuousClock.now + patience
        while try readMore(deadline) {}
        if status == nil { throw Failure.tooLate("the program goes on: \(text)") }
        return status ?? 0
    }

    /// Whether the tty's modes are those from before, and every private mode is off.
    var isRestored: Bool { modes.isNeutral && hasOriginalModes }

    var hasOriginalModes: Bool {
        var now = termios()
        guard tcgetattr(slave, &now) == 0 else { return false }
        let characters = withUnsafeBytes(of: now.c_cc) { Array($0) } == withUnsafeBytes(of: before.c_cc) { Array($0) }
        return characters && now.c_lflag == before.c_lflag && now.c_iflag == before.c_iflag
            && now.c_oflag == before.c_oflag && now.c_cflag == before.c_cflag
    }

    var text: String { String(decoding: output, as: UTF8.self) }

    private var seen = 0
    private var unseen: ArraySlice<UInt8> { output[seen...] }

    /// Waits for output or the end; false when the program has ended and nothing is left, or at the deadline.
    private func readMore(_ deadline: ContinuousClock.Instant) throws -> Bool {
        while true {
            let left = Int32(max(0, ContinuousClock.now.duration(to: deadline) / .milliseconds(1)))
            var polled = [
                pollfd(fd: master, events: Int16(POLLIN), revents: 0),
                pollfd(fd: status == nil ? alive : -1, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&polled, 2, status == nil ? left : 0)
            if ready < 0 && errno == EINTR { continue }
            if polled[0].revents & Int16(POLLIN) != 0 {
                var bytes = [UInt8](repeating: 0, count: 65536)
                let count = read(master, &bytes, bytes.count)
                guard count > 0 else { return false }
                output += bytes[..<count]
                modes.take(bytes[..<count])
                return true
            }
            guard polled[1].revents != 0 else { return false }
            var result: Int32 = 0
            waitpid(process, &result, 0)
            status = result
        }
    }
}
