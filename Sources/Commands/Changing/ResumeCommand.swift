import CommandLine
import MartletKit

/// `martlet resume`.
struct ResumeCommand: EngineCommand {
    let context: CommandContext

    static var command: Command {
        .changing("resume", "let paused or held work go on")
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let choice = try Selection.required(invocation, command: "resume")
        let results = try await ask { engine throws(RequestError) in try await engine.resume(choice) }
        return context.tell(results, ResultWords(done: "resumed", already: "was not paused"), invocation)
    }
}
