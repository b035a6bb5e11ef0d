import Glibc
import LinuxSystem

/// A running `martlet-receive`; killed with the object.
final class RunningProgram {
    let process: ChildProcess
    let lines: LineReader
    private(set) var url = ""
    private var hasExited = false

    /// - Parameter access: who is let in, and by which name beside its own.
    init(
        _ arguments: [[UInt8]], access: [String] = ["--open", "--host", "test"], environment: [String] = []
    ) throws {
        let arguments = arguments + access.map { Array($0.utf8) }
        let pipe = try System.pipe()
        process = try ChildProcess(
            Self.program(arguments, environment.map { Array($0.utf8) }, output: pipe.write.rawValue))
        lines = LineReader(pipe.read)
        pipe.write.close()
        let ready = try lines.next()
        url = ready.hasPrefix("ready ") ? String(ready.dropFirst(6)) : ""
    }

    deinit {
        if !hasExited {
            try? process.signal(SIGKILL)
            _ = try? process.wait()
        }
    }

    var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0.dropLast()) } ?? 0 }

    func end(by signal: Int32) throws -> ChildExit {
        try process.signal(signal)
        hasExited = true
        return try process.wait()
    }

    static func program(
        _ arguments: [[UInt8]], _ environment: [[UInt8]], output: Int32?, error: Int32? = nil
    ) -> ChildProgram {
        var program = ChildProgram(
            executable, arguments: arguments, environment: environment)
        program.standardOutput = output
        program.standardError = error
        return program
    }

    /// The program beside the test bundle.
    private static var executable: String {
        let tests = CommandLine.arguments[0]
        return String(tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)]) + "/martlet-receive"
    }
}
