import CommandLine
import Configuration
import MartletKit

/// `martlet destination restore`.
struct DestinationRestoreCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "restore", "take the removal of a server back, within 24 h; without a name the last one",
        operands: [Operand(ValueSyntax<String>.text("NAME"), .optional)],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wanted = invocation.operands.first.map { $0.text ?? $0.shown }
        let restored: DestinationChanges.Restored
        let changes = try context.destinationChanges()
        do throws(RequestError) { restored = try await changes.restore(wanted) } catch {
            throw CommandFailure(error, command: "destination restore")
        }
        let name = restored.name
        if restored.loginIsGone {
            console.note("martlet: \(name): its password is gone: martlet destination add --replace asks for it again")
        }
        context.tell(name, .done, nil, "back; use it as \(name):PATH", invocation)
        return .done
    }
}
