import CommandLine
import Configuration
import DisplayText
import MartletKit

/// `martlet why`.
struct WhyCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "why", "why it does not move, and what would unblock it",
        operands: [Operand(.node, .optional)],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let id = invocation.operands(as: .node).first
        guard try await context.queueToLookAt(invocation) else { return .done }
        let answers = try await ask { engine throws(RequestError) in try await engine.why(id) }
        if invocation.has(CommonOptions.json) {
            for answer in answers { console.json(answer) }
            return .done
        }
        if answers.isEmpty { console.line("nothing waits") }
        for answer in answers {
            console.line(answer.text.displayed)
        }
        return .done
    }
}
