import CommandLine
import MartletKit

/// `martlet cancel`.
struct CancelCommand: EngineCommand {
    let context: CommandContext

    static var command: Command {
        .changing(
            "cancel", "stop work for good; undo takes it back within its grace time",
            "What servers have of unfinished uploads is removed when the grace time is over (10 s unless set). Until then undo, and "
                + "retry, too, let it go on where it stood; afterwards a retry begins anew.")
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let choice = try Selection.required(invocation, command: "cancel")
        let results = try await ask { engine throws(RequestError) in try await engine.cancel(choice) }
        return context.tell(
            results, ResultWords(done: "cancelled", already: "was over already", isCancel: true), invocation)
    }
}
