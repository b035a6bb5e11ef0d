import DisplayText
import MartletKit

/// The entries of the palette that act on a batch of the list by its name.
extension Model {
    var batchEntries: [PaletteEntry] {
        let batches = (tree.root?.rows ?? []).filter { if case .batch = $0.id { true } else { false } }
        let twins = Dictionary(grouping: batches, by: \.name).filter { $0.value.count > 1 }
        return BatchCommand.allCases.flatMap { command in
            batches.map { row in
                let number = twins[row.name] == nil ? "" : " (\(nodeID(of: row)))"
                return PaletteEntry(
                    run: .batch(command, row), title: "\(command.verb) batch \"\(row.name)\"\(number)", key: "",
                    detail: SafeText(nodeID(of: row).description), obstacle: obstacle(to: command, row))
            }
        }
    }

    /// The reason why the command can do nothing to this batch now; `nil`: it can.
    private func obstacle(to command: BatchCommand, _ row: NodeRow) -> SafeText? {
        if !canChange { return "the engine does not answer" }
        switch command {
        case .retry:
            return row.counts.failed + row.counts.cancelled + row.counts.waiting > 0 ? nil : "nothing failed in it"
        case .cancel where row.counts.failed > 0: return nil
        case .verify: return row.counts.completed + row.counts.failed > 0 ? nil : "nothing of it has arrived"
        case _ where row.isOver: return "it is over"
        case .pause: return standsStill(row) ? "already paused" : nil
        case .resume: return standsStill(row) ? nil : "not paused"
        case .cancel, .runNow: return nil
        }
    }

    /// As its key would, with the same questions.
    mutating func run(_ command: BatchCommand, _ row: NodeRow) {
        switch command {
        case .pause: pauseOrResume([row])
        case .resume: send(.resume, [row])
        case .cancel: cancel([row])
        case .retry: retry([row])
        case .runNow: send(.runNow, [row])
        case .verify: verify([row])
        }
    }
}
