import CommandLine
import Configuration
import MartletKit

/// `martlet watch`.
struct WatchCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "watch", "one plain line a second, for logs and screen readers",
        details: ["Ends when everything that it watches is over."],
        operands: [Operand(.node, .optional)],
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let id = invocation.operands(as: .node).first
        let json = invocation.has(CommonOptions.json)
        guard !json else { throw .usage("watch has no --json yet", "use events --follow --json, or list --json") }
        guard surroundings.queueExists else {
            console.note("nothing is queued")
            return .done
        }
        console.endsWithReader()
        var wasSeen = false
        while true {
            let look: (text: String, isOver: Bool)?
            do { look = try await watched(id) } catch {
                guard wasSeen, let id, error.status == .noSuchObject else { throw error }
                // Only what is over can be purged.
                console.line("\(clock()) \(id) was purged")
                return .done
            }
            guard let (text, isOver) = look else {
                console.note("nothing is queued")
                return .done
            }
            wasSeen = true
            console.line("\(clock()) \(text)")
            console.flush()
            if isOver { return .done }
            try? await Task.sleep(for: .seconds(1))
            if Task.isCancelled { return .interrupted }
        }
    }

    /// `nil`: there is nothing at all.
    private func watched(_ id: NodeID?) async throws(CommandFailure) -> (text: String, isOver: Bool)? {
        switch id {
        case .batch(let id):
            let batch = try await ask { engine throws(RequestError) in try await engine.batch(id) }
            let because = try await because(.batch(id), .batch(batch))
            return (batch.progressText(console.units, because: because), batch.state.isTerminal)
        case .task(let id):
            let task = try await ask { engine throws(RequestError) in
                try await engine.task(id, history: false, response: false)
            }
            return (NodeSnapshot.text(of: .task(id), .task(task), console.units), task.state.isTerminal)
        case .folder(let batch, let path):
            let id = NodeID.folder(batch, path: path)
            let node = try await ask { engine throws(RequestError) in try await engine.node(id) }
            let because = try await because(id, .node(node))
            return (node.progressText(id, console.units, because: because), node.state.isTerminal)
        case nil:
            let totals = try await ask { engine throws(RequestError) in try await engine.totals() }
            guard totals.batches > 0 else { return nil }
            let isOver = totals.unfinished.map { $0 == 0 } ?? (totals.counts.total == totals.counts.terminal)
            // A file that waits makes its batch no running one, and the sums do not know which batch it is of.
            let answers =
                isOver ? [] : try await ask { engine throws(RequestError) in try await engine.why(nil) }
            let states = isOver ? "" : answers.states(of: totals.batches)
            return (totals.progressText(console.units, states: states), isOver)
        }
    }

    /// The reason why it does not move.
    private func because(_ id: NodeID, _ seen: NodeSnapshot) async throws(CommandFailure) -> String? {
        guard seen.mayBeStuck else { return nil }
        return try await ask { engine throws(RequestError) in try await engine.why(id) }.first?.waitsInShort
    }

    private func clock() -> String {
        String(context.time(Timestamp(milliseconds: surroundings.now())).suffix(8))
    }
}
