import CommandLine
import MartletKit

extension Front {
    func listLeftovers(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await queueToLookAt(invocation) else { return .done }
        let leftovers = try await ask { engine throws(RequestError) in try await engine.leftovers() }
        if invocation.has(CommonOptions.json) {
            for leftover in leftovers { console.json(leftover) }
            return .done
        }
        if leftovers.isEmpty {
            console.note("nothing is left at any server")
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "ID", width: 7), .init(title: "By", width: 9), .init(title: "State", width: 9),
            ], lastTitle: "Would become", width: console.outputIsTerminal ? console.width : nil)
        console.line(table.header)
        for leftover in leftovers {
            console.line(
                table.row(
                    [leftover.task.description, leftover.protocol, leftover.state.rawValue], leftover.destination))
        }
        return .done
    }

    func abortLeftovers(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        var tasks: [TaskID] = []
        for node in invocation.operands(as: .node) {
            guard case .task(let task) = node else {
                throw .usage(
                    "leftovers abort: \(node) is no task", "give tasks such as t31; martlet leftovers lists them")
            }
            tasks.append(task)
        }
        let all = invocation.has(CommonOptions.all)
        guard all == tasks.isEmpty else {
            throw .usage(
                "leftovers abort: \(all ? "both IDs and --all are given" : "nothing is named")", "give IDs, or --all")
        }
        guard try await queueToLookAt(invocation) else { return .done }
        if all {
            tasks = try await ask { engine throws(RequestError) in try await engine.leftovers() }
                .filter { $0.state == .failed || $0.state == .cancelled }.map(\.task)
        }
        let wanted = tasks
        let results = try await ask { engine throws(RequestError) in try await engine.abortLeftovers(of: wanted) }
        return tell(results, of: .abort, invocation, empty: "nothing is left at any server")
    }
}
