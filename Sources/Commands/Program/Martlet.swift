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
        case command(Front, Invocation)
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
        if let status = try Front.runWithoutEngine(invocation, console) { return .exit(status) }
        if invocation.path == ["relay"] { return .relay(launching: !invocation.has(MartletProgram.noStart)) }
        let engine = try connection()
        var (settings, problems) = settings(engine.configurationFile, console)
        problems += [engine.keysFile, engine.filtersFile].compactMap { SmallFile.refusal($0) }
        if let refusal = SmallFile.refusal(engine.destinationsFilePath) { console.note("martlet: \(refusal)") }
        if invocation.path == ["attach"] {
            let remote = try MartletProgram.remoteEngine(invocation)
            if wantsLines(invocation) {
                throw CommandFailure(
                    .refused, .refused, "attach: this terminal can show lines only, and attach shows a screen",
                    "run ssh -t \(remote.host) martlet --accessible")
            }
            return .screen(invocation, settings, problems: problems, engine: remote)
        }
        if invocation.path.isEmpty, !wantsLines(invocation) {
            return .screen(invocation, settings, problems: problems, engine: nil)
        }
        var surroundings = try Surroundings.ofThisProcess(
            queueExists: engine.queueExists, destinationsPath: engine.destinationsFilePath)
        surroundings.askLost = settings.screen.askLost.bytes
        return .command(
            Front(engine: engine, console: Console(units: settings.screen.units), surroundings: surroundings),
            invocation)
    }

    private static func connection() throws(CommandFailure) -> EngineConnection {
        do {
            return try EngineConnection(ConnectionOptions(client: "martlet \(ProductVersion.current) (a command)"))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The settings of a file that need not be there; what does not count in it is said.
    private static func settings(_ file: String, _ console: Console) -> (Settings, problems: [String]) {
        var problems: [ConfigurationProblem] = []
        var settings = SmallFile.contents(file).map { Settings(bytes: $0, problems: &problems) } ?? Settings()
        var lines = problems.map { $0.description(file: "martlet.conf") }
        if let refusal = SmallFile.refusal(file) { lines.append(refusal) }
        lines += settings.screen.take(environment: { name in
            System.environment(name).map { String(decoding: $0, as: UTF8.self) }
        })
        for line in lines { console.note("martlet: \(line)") }
        return (settings, lines)
    }

    /// Plain lines instead of a screen: asked for, or the terminal can do nothing else.
    private static func wantsLines(_ invocation: Invocation) -> Bool {
        if invocation.has(MartletProgram.accessible) { return true }
        let variable = { (name: String) in System.environment(name).map { String(decoding: $0, as: UTF8.self) } ?? "" }
        return !["", "0"].contains(variable("ACCESSIBLE")) || variable("TERM") == "dumb"
    }

    /// True when a line that could not be understood asks for JSON.
    private static func wantsJSON(_ arguments: [Argument]) -> Bool {
        arguments.prefix { $0.text != "--" }.contains { $0.text == "--json" }
    }
}
