import CommandLine
import Commands
import Configuration
import Glibc
import MartletKit
import TerminalUI

switch Martlet.plan(Argument.ofThisProcess()) {
case .exit(let status):
    exit(status.rawValue)
case .screen(let invocation, let settings, let problems):
    TerminalUI.prepare(arguments: Swift.CommandLine.unsafeArgv)
    var options = TerminalUI.Options()
    options.screen = MartletProgram.screen(invocation, settings.screen)
    options.grace = .seconds(settings.engine.grace.seconds)
    (options.keys, options.keyProblems) = Martlet.keyBindings()
    options.filters = Martlet.savedFilters().map { SavedFilter(name: $0.name, text: $0.text) }
    options.problems = problems
    options.client = "martlet \(ProductVersion.current)"
    do {
        exit(try TerminalUI.run(options))
    } catch {
        let failure = Martlet.failure(ofScreen: error)
        Console(units: .iec).tell(failure, json: false)
        exit(failure.status.rawValue)
    }
case .command(let front, let invocation):
    exit(await front.run(invocation).rawValue)
}
