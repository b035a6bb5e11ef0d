import CommandLine
import Configuration
import MartletKit

/// The change that `undo` is told to take back.
enum UndoTarget: Hashable, Sendable {
    /// The last change of this node.
    case node(NodeID)
    /// The change with this number in the list.
    case step(Int64)
}

extension ValueSyntax where Value == UndoTarget {
    /// `b7`, `12`.
    static var undoTarget: ValueSyntax {
        ValueSyntax("ID|NUMBER", allowed: "an ID such as b7, or a number of undo --list", completion: .identifiers) {
            (bytes: [UInt8]) in
            if let number = String(validating: bytes, as: UTF8.self).flatMap({ Int64($0) }), number > 0 {
                return .step(number)
            }
            return NodeID(bytes: bytes).map(UndoTarget.node)
        }
    }
}

/// `martlet undo`.
struct UndoCommand: EngineCommand {
    let context: CommandContext

    static let list = Option.flag("list", "show what can be taken back, the last change first")

    static let command = Command(
        "undo", "take back the last change, within its grace time (10 s unless set)",
        details: [
            "Takes back the last cancel, pause, resume, move, set, run-now, limit or purge of finished batches, whoever made it, on "
                + "a screen or by a command; asked again, the one before it. With an ID the last of that, with a number the one that "
                + "--list shows with it. What was cancelled can be had back by its ID for a day: it is queued again, and files of "
                + "which only a part had arrived start again from 0."
        ],
        operands: [Operand(.undoTarget, .optional)],
        groups: [OptionGroup("Options", [list, CommonOptions.json])],
        examples: [
            .init(line: "martlet undo --list", effect: "See what can be taken back, and for how long"),
            .init(line: "martlet undo b7", effect: "Take back what was done to a batch last"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let target = invocation.operands(as: .undoTarget).first
        if invocation.has(Self.list) {
            guard target == nil else {
                throw .usage("undo: --list shows all, and something is named besides", "leave one of them out")
            }
            return try await listSteps(invocation)
        }
        let choice: UndoChoice =
            switch target {
            case .node(let id): .nodes(.ids([id]))
            case .step(let number): .operation(number)
            case nil: .last
            }
        let changed = try await ask { engine throws(RequestError) in try await engine.takeBack(choice) }
        if let limits = changed.limits {
            context.tell(limits, invocation)
            return .done
        }
        guard !changed.results.isEmpty else {
            if case .step(let number) = target {
                throw CommandFailure(
                    .noSuchObject, .noSuchObject, "undo: there is no change \(number) that can be taken back",
                    "see martlet undo --list")
            }
            throw CommandFailure(
                .refused, .refused, "undo: there is nothing to take back",
                "only the last change can be, within its grace time; martlet undo --list shows what can")
        }
        let what =
            changed.startsAgain
            ? "queued again; what had arrived in part is gone, so that starts again from 0"
            : changed.undone.map { "the \($0.noun) was taken back" } ?? "taken back"
        return context.tell(
            changed.results, done: { ": \(pausedAgain($0) ?? what)" }, already: " had nothing to take back", invocation,
            empty: "there is nothing to take back", untold: changed.untold)
    }

    /// The words when an undo took back only the end of a pause; `nil`: it did not.
    private func pausedAgain(_ result: NodeResult) -> String? {
        guard result.pausedAgain == true else { return nil }
        return result.pausedUntil.map { "paused until \(context.time($0)) again" }
            ?? "paused again until somebody resumes it"
    }

    /// Lists the changes that can be taken back, one line each.
    private func listSteps(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await context.queueToLookAt(invocation) else { return .done }
        let steps = try await ask { engine throws(RequestError) in try await engine.undoable() }
        if invocation.has(CommonOptions.json) {
            for step in steps { console.json(step) }
            return .done
        }
        guard !steps.isEmpty else {
            console.note("nothing can be taken back now")
            return .done
        }
        let grace = await engine.graceTime()
        let table = TextTable(
            columns: [
                .init(title: "No", width: 5), .init(title: "Time", width: 8), .init(title: "Change", width: 8),
                .init(title: "ID", width: 6),
            ],
            lastTitle: "Name", width: console.outputIsTerminal ? console.width : nil)
        if console.outputIsTerminal { console.line(table.header) }
        for step in steps {
            let cells = [
                "\(step.operation)", context.shortTime(step.at), step.deed.noun, step.node?.description ?? "-",
            ]
            let name = step.node == nil ? "limits of \(step.name)" : step.name
            console.line(table.row(cells, name, remark: remark(on: step, grace)))
        }
        return .done
    }

    /// The size of the change, and the seconds for which it can be had back.
    private func remark(on step: UndoStep, _ grace: Duration?) -> String {
        var words = step.nodes > 1 ? ["and \(step.nodes - 1) more"] : []
        if step.startsAgain {
            words.append("starts again from 0")
        } else if let grace {
            let left = grace - Timestamp(milliseconds: surroundings.now()).since(step.at)
            words.append("for \(max(0, left.components.seconds)) s more")
        }
        return words.joined(separator: "; ")
    }
}
