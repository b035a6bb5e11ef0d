import CommandLine
import Configuration
import MartletKit

/// `martlet session set`.
struct SessionSetCommand: SessionCommand {
    let context: CommandContext

    static let command = Command(
        "set", "limit all that a session owns together",
        operands: [Operand(ValueSyntax<SessionName>.session)],
        groups: [OptionGroup("What", [SetCommand.limit]), CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard let rate = invocation.value(SetCommand.limit) else {
            throw .usage("session set: nothing is to be changed", "give --limit RATE, or --limit off")
        }
        // A limit stays when the batches are forgotten: it must be possible to take it away.
        let (name, _) = try await named(invocation, "session set", mayBeLimitOnly: true)
        let limit = ScopedLimit(kind: .session, name: name.rawValue, rate: rate.bytesPerSecond ?? 0)
        let limits = try await ask { engine throws(RequestError) in
            try await engine.setLimits(LimitsWish(scoped: [limit]))
        }
        context.tell(limits, invocation)
        return .done
    }
}
