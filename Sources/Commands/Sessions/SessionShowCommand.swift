import CommandLine
import Configuration
import MartletKit

/// `martlet session show`: its sums and its limit, and (for a person) its batches.
struct SessionShowCommand: SessionCommand {
    let context: CommandContext

    static let command = Command(
        "show", "what a session holds, and its limit",
        operands: [Operand(ValueSyntax<SessionName>.session)],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, batches) = try await named(invocation, "session show")
        let session = SessionLine(name, batches, try await sessionLimits()[name.rawValue])
        guard !invocation.has(CommonOptions.json) else {
            console.json(session)
            return .done
        }
        let units = console.units
        for (title, text) in [
            ("Session", session.name),
            ("Batches", "\(session.batches), \(session.batchesActive) of them not over"),
            ("Files", "\(session.filesTotal), \(units.size(session.bytesTotal))"),
            ("Limit", session.limit.map { units.rate($0) } ?? "off"),
        ] {
            console.line(title, text)
        }
        return context.tell(batches, json: false)
    }
}
