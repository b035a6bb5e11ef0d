import CommandLine
import MartletKit

/// `martlet retry`.
struct RetryCommand: EngineCommand {
    let context: CommandContext

    static var command: Command {
        .changing(
            "retry", "try failed or cancelled work again",
            "What failed goes on where it stood, if the server can. What was cancelled does so within the grace time of the cancel "
                + "(10 s unless set) and begins anew afterwards: what its server had is removed by then. Of a batch or folder cancelled "
                + "files are retried only when every file is over and none failed; a file that is named is retried at once."
        )
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let choice = try Selection.required(invocation, command: "retry")
        let results = try await ask { engine throws(RequestError) in try await engine.retry(choice) }
        return context.tell(results, ResultWords(done: "queued again", already: "has nothing that failed"), invocation)
    }
}
