import CommandLine
import Configuration
import MartletKit

/// `martlet wait`.
struct WaitCommand: EngineCommand {
    let context: CommandContext

    static let timeout = Option(
        "timeout", ValueSyntax<TimeSpan>.duration.named("D"), "wait at most so long; then the status is 75")

    static let patient = Option.flag("patient", "wait on when all that is left needs a person")

    static let command = Command(
        "wait", "wait until all is over",
        details: [
            "The status is 0 if everything completed, 1 if something failed or was cancelled, 4 if all that is left needs a person "
                + "(a password, a host key, or it is paused or held). Without IDs it waits for everything."
        ],
        operands: [Operand(.node, .any)],
        operandForm: "[ID...|SELECTORS]",
        groups: [OptionGroup("Options", [timeout, patient, CommonOptions.json]), CommonOptions.selectors])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        context.endWith130OnInterrupt()
        let json = invocation.has(CommonOptions.json)
        let selection = try Selection(invocation, command: "wait")
        let timeout = invocation.value(Self.timeout)
        let deadline = timeout.map { ContinuousClock.now.advanced(by: $0.duration) }
        guard surroundings.queueExists else {
            // Nothing was ever queued, so whatever is named is not there, and nothing is left to wait for.
            if case .ids(let ids) = selection, let first = ids.first {
                throw CommandFailure(.noSuchObject, .noSuchObject, "wait: there is no \(first)", "see martlet list")
            }
            console.note("nothing is queued")
            return .done
        }
        let found = try await context.within(deadline) { () async throws(CommandFailure) -> [NodeID] in
            try await self.context.requireKnown(selection)
            return try await self.nodes(of: selection)
        }
        guard let nodes = found else {
            throw context.timedOut("wait", timeout, "nothing is known of what is waited for")
        }
        guard !nodes.isEmpty else {
            console.note(selection == nil ? "nothing is queued" : "nothing matches")
            return .done
        }
        return try await Waiting(
            context: context, nodes: nodes, command: "wait", json: json, patient: invocation.has(Self.patient),
            timeout: timeout, deadline: deadline
        ).untilOver()
    }

    /// The nodes to wait for, as they are now; what is queued later is not waited for.
    private func nodes(of selection: Selection?) async throws(CommandFailure) -> [NodeID] {
        switch selection {
        case .ids(let ids): return ids
        case .matching(let selector) where selector.meansTasks:
            var tasks: [NodeID] = []
            try await ask(answersLate: true) { engine throws(RequestError) in
                try await engine.eachTask(selector) { tasks.append(.task($0.id)) }
            }
            return tasks
        case .matching(let selector):
            if let batch = selector.batch { return [.batch(batch)] }
            return try await context.batches(of: selector.session).map { .batch($0.id) }
        case nil: return try await context.batches(of: nil).map { .batch($0.id) }
        }
    }
}
