import CommandLine

/// `martlet engine status`.
struct EngineStatusCommand: EngineCommand {
    let context: CommandContext

    static var command: Command {
        var command = Command("status", "whether an engine runs, and what it does; never starts one")
        command.groups = [CommonOptions.output]
        return command
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await context.engineToLookAt(invocation, isAboutEngine: true) else { return .done }
        return try await context.tellStatus(invocation)
    }
}
