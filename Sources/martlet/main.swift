import CommandLine
import Commands
import Configuration
import Glibc
import MartletKit
import TerminalUI

Martlet.prepare()
switch Martlet.plan(Argument.ofThisProcess()) {
case .exit(let status):
    exit(status.rawValue)
case .screen(let invocation, let settings, let problems, let remote):
    TerminalUI.prepare(arguments: Swift.CommandLine.unsafeArgv)
    var options = TerminalUI.Options()
    (options.kept, options.keptProblem) = TerminalUI.keptScreen()
    options.configured = settings.screen
    options.colors = settings.colors
    options.screen = ScreenOptions.applied(invocation, options.kept.appearance.applied(to: settings.screen))
    options.grace = .seconds(settings.engine.grace.seconds)
    (options.keys, options.keyProblems) = Martlet.keyBindings()
    options.filters = Martlet.savedFilters().map { SavedFilter(name: $0.name, text: $0.text) }
    options.problems = problems
    options.client = "martlet \(ProductVersion.current) (a screen)"
    do {
        guard let remote else { exit(try TerminalUI.run(options)) }
        // ssh may ask for a password: it is in before the screen opens.
        var connection = ConnectionOptions(reconnects: true, client: options.client)
        connection.remote = remote
        let engine = try EngineConnection(connection)
        try await engine.connect()
        exit(try TerminalUI.run(options, engine))
    } catch {
        let failure = Martlet.failure(ofScreen: error)
        Console(units: .iec).tell(failure, json: false)
        exit(failure.status.rawValue)
    }
case .relay(let launching):
    exit(await Relay.run(launching: launching, client: "martlet \(ProductVersion.current) relay") ? 0 : 69)
case .command(let context, let invocation):
    exit(await context.run(invocation).rawValue)
}
