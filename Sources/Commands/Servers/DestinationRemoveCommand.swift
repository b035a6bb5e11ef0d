import CommandLine
import Configuration
import MartletKit

/// `martlet destination remove`.
struct DestinationRemoveCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "remove", "forget a server and its login; what is queued goes on",
        details: ["For 24 h martlet destination restore takes that back."],
        operands: [Operand(ValueSyntax<String>.text("NAME"), .oneOrMore)],
        groups: [CommonOptions.output])

    /// All that can be removed is; one whose login cannot be forgotten now stays, and is said.
    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let changes = try context.destinationChanges()
        var status = ExitStatus.done
        for operand in invocation.operands {
            let name = operand.text ?? operand.shown
            do throws(RequestError) {
                guard try await changes.remove(name) != nil else {
                    throw RequestError(
                        .noSuchObject, "there is no such destination: see martlet destination list")
                }
                context.tell(
                    name, .done, nil,
                    "removed; what is queued goes on (martlet destination restore \(name) takes it back for 24 h)",
                    invocation)
            } catch {
                context.tell(name, .refused, error.code.rawValue, error.message, invocation)
                // An engine that cannot be reached is worth trying again, whatever else is wrong.
                let next = CommandFailure(error).status
                if status == .done || status == .refused || next == .unavailable { status = next }
            }
        }
        return status
    }
}
