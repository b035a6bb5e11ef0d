import CommandLine

/// `martlet engine status`.
struct EngineStatusCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "status", "whether an engine runs, and what it does; never starts one",
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await context.engineToLookAt(invocation, isAboutEngine: true) else { return .done }
        return try await context.tellStatus(invocation)
    }
}
