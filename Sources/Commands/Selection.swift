import CommandLine
import MartletKit

/// Which nodes a command line means: the IDs it names, or a selector.
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
        let selects = invocation.has(CommonOptions.all) || batch != nil || session != nil || !states.isEmpty
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
            self = .matching(NodeSelector(batch: batch, session: session, states: states))
        } else {
            return nil
        }
    }

    /// As the engine wants it.
    var choice: NodeChoice {
        switch self {
        case .ids(let ids): .ids(ids)
        case .matching(let selector): .matching(selector)
        }
    }
}
