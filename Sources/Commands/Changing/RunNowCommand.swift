import CommandLine
import MartletKit

/// `martlet run-now`.
struct RunNowCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "run-now", "start it now, once, whatever its time, its turn or the transfers at once",
        details: [
            "What waits for its time, for another try or for a slot starts at once, before and beside what runs. What you paused "
                + "stays paused: resume it."
        ],
        operands: [Operand(.node, .any)],
        operandForm: "ID...|SELECTORS",
        groups: [CommonOptions.selectors, CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        try await context.change(
            try Selection.required(invocation, command: "run-now"), .runNow,
            ResultWords(done: "starts now", already: "runs already"), invocation)
    }
}
