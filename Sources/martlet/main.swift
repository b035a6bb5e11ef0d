import CommandLine
import Commands
import Configuration
import Glibc

switch Martlet.plan(Argument.ofThisProcess()) {
case .exit(let status):
    exit(status.rawValue)
case .screen:
    let failure = CommandFailure.usage("the screen is not built yet", "use martlet list, or martlet watch")
    Console(units: .iec).tell(failure, json: false)
    exit(failure.status.rawValue)
case .command(let front, let invocation):
    exit(await front.run(invocation).rawValue)
}
