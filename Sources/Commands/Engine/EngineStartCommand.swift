import CommandLine
import MartletKit

/// `martlet engine start`.
struct EngineStartCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "start", "start an engine unless one runs",
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wasStopping = try await ask { engine throws(RequestError) in try await engine.startEngine() }
        if wasStopping { console.note("the engine was about to stop; it goes on") }
        return try await context.tellStatus(invocation)
    }
}
