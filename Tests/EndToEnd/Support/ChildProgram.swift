import Glibc
import Testing

/// What a program left behind when it ended.
struct Outcome: CustomStringConvertible {
    /// The exit status, or 128 and the number of the signal that ended it, as a shell says it.
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
    /// The only object that was printed, with `--json`.
    var json: JSON { get throws { try JSON(parsing: output) } }
    /// One object a line.
    var jsonLines: [JSON] { get throws { try lines.map { try JSON(parsing: $0) } } }
    var description: String { "status \(status)\n--- output\n\(output)\n--- errors\n\(errors)" }
}

/// A program that runs beside the test. Its output goes to files, so it never waits for a reader.
///
/// Not `Sendable`: it belongs to the test that started it. It runs in a session of its own and is killed with its last reference.
final class ChildProgram {
    let pid: pid_t
    private let outputPath: String
    private let errorsPath: String
    private var ended: Int32?

    /// Starts `executable` with exactly this environment. Output goes to `outputPath` and `outputPath` with `.err`.
    init(
        _ executable: String, _ arguments: [String], environment: [String], input: String = "/dev/null",
        outputPath: String
    )
        throws
    {
        self.outputPath = outputPath
        errorsPath = outputPath + ".err"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errorsPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        // The test runner may ignore or block signals; a program starts with all of them as they are.
        var every = sigset_t()
        sigfillset(&every)
        posix_spawnattr_setsigdefault(&attributes, &every)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)

        var argv: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        let result = posix_spawnp(&child, executable, &actions, &attributes, &argv, &envp)
        guard result == 0 else {
            throw HarnessError("cannot start \(executable): \(String(cString: strerror(result)))")
        }
        pid = child
    }

    deinit {
        if collect(WNOHANG) == nil {
            kill(pid, SIGKILL)
            _ = collect(0)
        }
    }

    /// The exit status, if it has ended.
    var status: Int32? { collect(WNOHANG) }

    func signal(_ number: Int32) {
        if status == nil { kill(pid, number) }
    }

    /// Waits until it has ended.
    @discardableResult
    func wait(sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try waitUntil("process \(pid) has ended", sourceLocation: sourceLocation) { status != nil }
        return soFar
    }

    /// What it printed up to now; the status is -1 while it runs.
    var soFar: Outcome {
        Outcome(
            status: status ?? -1, output: (try? readText(outputPath)) ?? "", errors: (try? readText(errorsPath)) ?? "")
    }

    private func collect(_ options: Int32) -> Int32? {
        if let ended { return ended }
        var word: Int32 = 0
        guard waitpid(pid, &word, options) == pid else { return nil }
        // WIFEXITED and its kin are macros, which the importer leaves out.
        ended = word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + (word & 0x7f)
        return ended
    }
}

/// The harness itself could not do its part; never an expectation about Martlet.
struct HarnessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Looks at a condition until it holds. The deadline is for hangs alone: a test's result never depends on how long things take.
func waitUntil(
    _ what: @autoclosure () -> String, deadline seconds: Int = 120, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) throws {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let end = now.tv_sec + seconds
    while try !condition() {
        clock_gettime(CLOCK_MONOTONIC, &now)
        guard now.tv_sec < end else {
            Issue.record("hung: still not true that \(what())", sourceLocation: sourceLocation)
            throw HarnessError("hung: \(what())")
        }
        poll(nil, 0, 5)
    }
}
