import CommandLine
import Configuration
import MartletKit

/// Commands for the order and the settings of nodes.
extension Front {
    func move(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let ids = invocation.operands(as: .node)
        var places: [MovePlace] = []
        if invocation.has(MartletProgram.top) { places.append(.top) }
        if invocation.has(MartletProgram.bottom) { places.append(.bottom) }
        if let node = invocation.value(MartletProgram.before) { places.append(.before(node)) }
        guard let place = places.first, places.count == 1 else {
            throw .usage(
                "move: \(places.isEmpty ? "it is not said where to" : "more than one place is given")",
                "give one of --top, --bottom and --before ID")
        }
        return try await change(.ids(ids), .move(place), .move, invocation)
    }

    func set(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        var settings = NodeSettings()
        settings.priority = invocation.value(MartletProgram.newPriority)
        settings.limit = invocation.value(MartletProgram.newLimit).map { $0.bytesPerSecond ?? 0 }
        settings.notBefore = time(of: MartletProgram.newTime, invocation)
        settings.giveUpAfterSeconds = invocation.value(MartletProgram.newPatience)?.seconds
        settings.ifExists = invocation.value(MartletProgram.newPolicy)
        settings.name = invocation.value(MartletProgram.newName)
        settings.caFile = invocation.value(QueueOptions.certificates).map {
            SourcePath.absolute($0, from: surroundings.currentDirectory)
        }
        settings.pin = invocation.value(QueueOptions.pin)
        try refuse(settings.ifExists, invocation)
        let nodes = try selected(invocation, "set")
        let secrets = try TransferSecrets(renewing: invocation, surroundings)
        if settings.isEmpty, secrets.isEmpty {
            throw .usage(
                "set: nothing is to be changed", "give --priority, --limit, --not-before, --header or another option")
        }
        return try await change(nodes, .set(settings, secrets: secrets.isEmpty ? nil : secrets), .set, invocation)
    }

    func runNow(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        try await change(try selected(invocation, "run-now"), .runNow, .runNow, invocation)
    }

    private func selected(_ invocation: Invocation, _ command: String) throws(CommandFailure) -> NodeChoice {
        guard let selection = try Selection(invocation, command: command) else {
            throw .usage("\(command): nothing is named", "give IDs such as b7, or a selector such as --all")
        }
        return selection.choice
    }

    private func change(
        _ nodes: NodeChoice, _ deed: NodeDeed, _ change: NodeChange, _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let changed = try await ask { engine throws(RequestError) in try await engine.change(nodes, deed) }
        return tell(changed.results, of: change, invocation, empty: "nothing matches")
    }
}
