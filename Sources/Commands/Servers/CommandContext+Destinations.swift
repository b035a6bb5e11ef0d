import CommandLine
import Configuration
import MartletKit

/// Configured servers: `destinations.conf`, and the logins that the engine keeps for them.
extension CommandContext {
    /// The servers that are configured; what of the file does not count is said.
    func destinationBook() -> DestinationBook {
        let file = surroundings.destinationsFile()
        for problem in file.problems { console.note("martlet: \(problem.description(file: "destinations.conf"))") }
        return DestinationBook(file, environment: surroundings.environment)
    }

    /// The one way of changing what is configured.
    func destinationChanges() throws(CommandFailure) -> DestinationChanges {
        guard let path = surroundings.destinationsPath else {
            throw CommandFailure(
                .refused, .refused, "there is no folder for destinations.conf", "set HOME or MARTLET_HOME")
        }
        return DestinationChanges(path, logins: engine, environment: surroundings.environment, now: surroundings.now)
    }

    /// Prints what became of one destination.
    func tell(
        _ name: String, _ result: NodeResult.Outcome, _ code: String?, _ words: String, _ invocation: Invocation
    ) {
        if invocation.has(CommonOptions.json) {
            console.json(ChangedDestination(name: name, result: result, code: code))
        } else if result == .refused {
            console.note("martlet: \(name): \(words)")
        } else {
            console.line("\(name): \(words)")
        }
    }
}

/// The result for one destination.
struct ChangedDestination: Encodable {
    let name: String
    let result: NodeResult.Outcome
    @OrNull var code: String?
}
