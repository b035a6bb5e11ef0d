import CommandLine
import MartletKit

/// The nodes that a command line means: the IDs it names, or a selector.
enum Selection {
    case ids([NodeID])
    case matching(NodeSelector)

    /// `nil` when the command line names nothing.
    init?(_ invocation: Invocation, command: String) throws(CommandFailure) {
        var ids = invocation.operands(as: .node)
        var batch = invocation.value(CommonOptions.batch)
        let session = invocation.value(CommonOptions.session)
        let states =
            (invocation.value(CommonOptions.state) ?? []) + (invocation.has(CommonOptions.failed) ? [.failed] : [])
        let filter = try Self.filter(invocation, command)
        let selects =
            invocation.has(CommonOptions.all) || batch != nil || session != nil || !states.isEmpty || filter != nil
        // `b7 --failed` says the same as `--batch b7 --failed`.
        if selects, batch == nil, !invocation.has(CommonOptions.all), ids.count == 1, case .batch(let only) = ids[0] {
            (batch, ids) = (only, [])
        }
        guard !selects || ids.isEmpty else {
            throw .usage(
                "\(command): both IDs and selectors are given", "give one or the other, or one batch with selectors")
        }
        if !ids.isEmpty {
            self = .ids(ids)
        } else if selects {
            self = .matching(NodeSelector(batch: batch, session: session, states: states, filter: filter))
        } else {
            return nil
        }
    }

    /// The nodes that a command changes: something has to be named.
    static func required(_ invocation: Invocation, command: String) throws(CommandFailure) -> NodeChoice {
        guard let selection = try Selection(invocation, command: command) else {
            throw .usage("\(command): nothing is named", "give IDs such as b7, or a selector such as --all")
        }
        return selection.choice
    }

    /// The filter's text; one that the engine would refuse is refused before anything is started.
    private static func filter(_ invocation: Invocation, _ command: String) throws(CommandFailure) -> String? {
        guard let text = invocation.value(CommonOptions.filter) else { return nil }
        guard !invocation.has(CommonOptions.session) else {
            throw .usage("\(command): --filter and --session together are not understood", "give --batch instead")
        }
        do throws(FilterFault) { _ = try TransferFilter(text) } catch {
            throw .usage(
                "\(command): --filter is wrong at character \(error.position + 1): \(error.message)",
                "see FILTERS in martlet(1)")
        }
        return text
    }

    /// As the engine wants it.
    var choice: NodeChoice {
        switch self {
        case .ids(let ids): .ids(ids)
        case .matching(let selector): .matching(selector)
        }
    }
}

extension Command {
    /// A command that changes the nodes that are named or selected.
    static func changing(_ name: String, _ summary: String, _ details: String...) -> Command {
        var command = Command(name, summary)
        command.details =
            details + [
                "Prints one line for each ID. Does all that it can; the status is 1 if any was refused, 3 if any is unknown."
            ]
        command.operands = [Operand(.node, .any)]
        command.operandForm = "ID...|SELECTORS"
        command.groups = [CommonOptions.selectors, CommonOptions.output]
        return command
    }
}

extension NodeSelector {
    /// Conditions about tasks mean tasks; else it means batches.
    var meansTasks: Bool { !states.isEmpty || filter != nil }
}
