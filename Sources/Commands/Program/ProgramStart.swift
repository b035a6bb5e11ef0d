import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// The beginning that screen and commands have in common: the way to the engine, and the settings. What of the files does not count is said.
struct ProgramStart {
    private let engine: EngineConnection
    private let settings: Settings
    private let problems: [String]

    init(_ console: Console) throws(CommandFailure) {
        engine = try Self.connection()
        var problems: [String]
        (settings, problems) = Self.settings(engine.configurationFile, console)
        problems += [engine.keysFile, engine.filtersFile].compactMap { SmallFile.refusal($0) }
        self.problems = problems
        if let refusal = SmallFile.refusal(engine.destinationsFilePath) { console.note("martlet: \(refusal)") }
    }

    /// - Parameter remote: the engine of another machine; `nil`: this machine's.
    func screen(_ invocation: Invocation, of remote: RemoteEngine?) -> Martlet.Plan {
        .screen(invocation, settings, problems: problems, engine: remote)
    }

    func command(_ invocation: Invocation) throws(CommandFailure) -> Martlet.Plan {
        var surroundings = try Surroundings.ofThisProcess(
            queueExists: engine.queueExists, destinationsPath: engine.destinationsFilePath)
        surroundings.askLost = settings.screen.askLost.bytes
        return .command(
            CommandContext(engine: engine, console: Console(units: settings.screen.units), surroundings: surroundings),
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
}
