import CommandLine
import Configuration
import DisplayText
import MartletKit

/// `martlet session remove`. Nothing is cancelled by it: work that is not over is named, and what to do about it.
struct SessionRemoveCommand: SessionCommand {
    let context: CommandContext

    static let command = Command(
        "remove", "forget a session whose work is over, with its limit; never a file",
        details: [
            "Prints one line for each batch that is forgotten. While one is not over nothing is forgotten."
        ],
        operands: [Operand(ValueSyntax<SessionName>.session)],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, batches) = try await named(invocation, "session remove")
        let unfinished = batches.filter { !$0.state.isTerminal }
        guard unfinished.isEmpty else {
            let ids = unfinished.prefix(5).map(\.id.description).joined(separator: ", ")
            throw CommandFailure(
                .refused, .refused,
                "session remove: \(ids)\(unfinished.count > 5 ? " and more" : "") of \(name.rawValue) are not over",
                "wait for them, or run martlet cancel --session \(name.rawValue.shellWord)")
        }
        let results = try await ask { engine throws(RequestError) in
            try await engine.purge(.ids(batches.map { .batch($0.id) }))
        }
        let isWhole = results.allSatisfy { $0.result != .refused }
        if isWhole, try await sessionLimits()[name.rawValue] != nil {
            let none = ScopedLimit(kind: .session, name: name.rawValue, rate: 0)
            _ = try await ask { engine throws(RequestError) in try await engine.setLimits(LimitsWish(scoped: [none])) }
        }
        return context.tell(results, PurgeCommand.words, invocation)
    }
}
