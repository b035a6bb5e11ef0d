import CommandLine
import Configuration
import MartletKit

/// `martlet move`.
struct MoveCommand: EngineCommand {
    let context: CommandContext

    static let top = Option.flag("top", "the first in the queue; files and folders: in their batch")
    static let bottom = Option.flag("bottom", "the last")
    static let before = Option("before", ValueSyntax<NodeID>.node, "just before this one")

    static let command = Command(
        "move", "change the order of the queue, or of a batch",
        details: [
            "Batches move among those of their priority; files and folders within their batch. Several keep the order in which "
                + "they are named. What runs already goes on."
        ],
        operands: [Operand(.node, .oneOrMore)],
        groups: [OptionGroup("Where to", [top, bottom, before]), CommonOptions.output],
        examples: [
            .init(line: "martlet move b9 --top", effect: "Have the newest batch go first"),
            .init(line: "martlet move t31 t40 --before t7", effect: "Two files before a third"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let ids = invocation.operands(as: .node)
        var places: [MovePlace] = []
        if invocation.has(Self.top) { places.append(.top) }
        if invocation.has(Self.bottom) { places.append(.bottom) }
        if let node = invocation.value(Self.before) { places.append(.before(node)) }
        guard let place = places.first, places.count == 1 else {
            throw .usage(
                "move: \(places.isEmpty ? "it is not said where to" : "more than one place is given")",
                "give one of --top, --bottom and --before ID")
        }
        return try await context.change(
            .ids(ids), .move(place), ResultWords(done: "moved", already: "stands there already"), invocation)
    }
}
