package import CommandLine
package import Configuration
import Glibc
import LinuxSystem
package import MartletKit

/// The program `martlet`, from its command line to what there is to do.
package enum Martlet {
    /// The action that a command line asks for.
    package enum Plan: Sendable {
        /// It is done already.
        case exit(ExitStatus)
        /// Show the screen with these options and settings. Options win over settings.
        /// Problems: what in `martlet.conf` does not count; it was said on the terminal, which the screen covers.
        /// Engine: of which other machine.
        case screen(Invocation, Settings, problems: [String], engine: RemoteEngine?)
        /// Pass this machine's control socket on over standard input and output.
        case relay(launching: Bool)
        /// Run this command.
        case command(CommandContext, Invocation)
    }

    /// Prepares the process before its first task. Once, at its very beginning.
    package static func prepare() {
        // Passwords go through here.
        System.forbidDumps()
        fillStandardStreams()
        DefaultExecutor.useOwnThreads()
    }

    /// The number of a standard stream that is closed (`>&-`) would be given to the next file or socket, and what is printed would go
    /// into that. Opened the wrong way round, it fails as a closed one does.
    private static func fillStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Understands the command line and does what needs no engine. Never throws: a failure is told and is a status.
    package static func plan(_ arguments: [Argument]) -> Plan {
        let console = Console(units: .iec)
        defer { console.flush() }
        do throws(CommandFailure) {
            // A library that gets no descriptor for itself ends the process by a signal.
            if System.openFileLimit < 16 {
                throw CommandFailure(
                    .unavailable, .engineUnreachable,
                    "no more than \(System.openFileLimit) files may be open here",
                    "raise the limit (ulimit -n 64)")
            }
            switch try MartletProgram.program.parse(arguments, width: TerminalWidth.ofOutput()) {
            case .help(let text):
                console.text(text)
                return .exit(.done)
            case .run(let invocation):
                return try plan(invocation, console)
            }
        } catch {
            console.tell(error, json: wantsJSON(arguments))
            return .exit(error.status)
        }
    }

    private static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Plan {
        guard let command = RootCommand.find(invocation.path[...]) else { throw .doesNothing(invocation) }
        return try command.plan(invocation, console)
    }

    /// Plain lines instead of a screen: asked for, or the terminal can do nothing else.
    static func wantsLines(_ invocation: Invocation) -> Bool {
        if invocation.has(ScreenOptions.accessible) { return true }
        let variable = { (name: String) in System.environment(name).map { String(decoding: $0, as: UTF8.self) } ?? "" }
        return !["", "0"].contains(variable("ACCESSIBLE")) || variable("TERM") == "dumb"
    }

    /// True when a line that could not be understood asks for JSON.
    private static func wantsJSON(_ arguments: [Argument]) -> Bool {
        arguments.prefix { $0.text != "--" }.contains { $0.text == "--json" }
    }
}
