import CommandLine
import Configuration
import MartletKit

/// `martlet purge`.
struct PurgeCommand: EngineCommand {
    let context: CommandContext

    static let finished = Option.flag("finished", "every batch that is over")

    static let words = ResultWords(done: "forgotten", already: "was forgotten already")

    static let command = Command(
        "purge", "forget batches and tasks that are over; never a file",
        details: [
            "Batches come back by undo within its grace time (10 s unless set). When it is over, what their failed uploads have left at "
                + "servers is removed, too, and a batch of which something cannot be removed yet is tried again; leftovers shows it. "
                + "A purged batch is kept, out of sight, until other batches for the same server are compared with what lies there: both "
                + "may have written the same names. A task by its ID is forgotten at once; it is refused while something of it is left, "
                + "or while such a comparison is still to come."
        ],
        operands: [Operand(.node, .any)],
        operandForm: "ID...|--finished",
        groups: [OptionGroup("Options", [finished, CommonOptions.json])])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let ids = invocation.operands(as: .node)
        let finished = invocation.has(Self.finished)
        guard finished != !ids.isEmpty else {
            throw .usage(
                "purge: \(finished ? "both IDs and --finished are given" : "no ID is given")",
                "give IDs, or --finished")
        }
        let results = try await ask { engine throws(RequestError) in
            finished ? try await engine.purgeFinished() : try await engine.purge(.ids(ids))
        }
        return context.tell(results, Self.words, invocation, empty: "no batch is over")
    }
}
