import Glibc
import LinuxSystem

extension Screen {
    /// Lends the terminal to a shell command, such as a pager, and waits until it ends; then the screen is there again. What is typed
    /// meanwhile is the command's: Ctrl-C does not end us, Ctrl-Z stops both.
    ///
    /// - Parameters:
    ///   - input: what the command reads as its standard input.
    ///   - environment: `NAME=value`, all of it.
    package func lend(to command: String, input: [UInt8], environment: [String]) throws(TerminalError) {
        guard let file = Self.file(of: input) else { throw .noPipe(errno: errno) }
        defer { fclose(file) }
        var program = ChildProgram("/bin/sh", ["-c", command], environment: environment)
        program.standardInput = fileno(file)
        (program.standardOutput, program.standardError) = (outputDescriptor, outputDescriptor)
        program.workingDirectory = Array(".".utf8)
        program.startsSession = false
        let isRun = lend {
            signal(SIGINT, SIG_IGN)
            signal(SIGQUIT, SIG_IGN)
            defer {
                signal(SIGINT, SIG_DFL)
                signal(SIGQUIT, SIG_DFL)
            }
            guard let end = try? ChildProcess(program).wait() else { return false }
            // What the shell says of a command that it does not find, or that may not be run.
            return end != .exited(127) && end != .exited(126)
        }
        if !isRun { throw .noProgram(command: command) }
    }

    /// An unnamed file that holds `bytes`, to be read from its beginning.
    private static func file(of bytes: [UInt8]) -> UnsafeMutablePointer<FILE>? {
        guard let file = tmpfile() else { return nil }
        fwrite(bytes, 1, bytes.count, file)
        rewind(file)
        return file
    }
}
