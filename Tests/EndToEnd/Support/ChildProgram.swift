import Glibc
import LinuxSystem
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
        let streams = [
            try System.open(Array(input.utf8), flags: O_RDONLY),
            try System.open(Array(outputPath.utf8), flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600),
            try System.open(Array(errorsPath.utf8), flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600),
        ]
        // Nothing else is inherited: what other tests have open at this moment is not the program's own.
        var program = LinuxSystem.ChildProgram(executable, arguments, environment: environment)
        program.standardInput = streams[0].rawValue
        program.standardOutput = streams[1].rawValue
        program.standardError = streams[2].rawValue
        do {
            pid = try ChildProcess(program).processID
        } catch {
            throw HarnessError("cannot start \(executable): \(error)")
        }
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
