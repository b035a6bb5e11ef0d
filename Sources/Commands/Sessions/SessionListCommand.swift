import CommandLine
import Configuration
import DisplayText
import MartletKit

/// `martlet session list`.
struct SessionListCommand: SessionCommand {
    let context: CommandContext

    static let command = Command(
        "list", "sessions and what they hold",
        groups: [CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await context.queueToLookAt(invocation) else { return .done }
        let batches = try await context.batches(of: nil)
        let limits = try await sessionLimits()
        let sessions = Dictionary(grouping: batches, by: \.session)
            .map { SessionLine($0, $1, limits[$0.rawValue]) }.sorted { $0.name < $1.name }
        let table = TextTable(
            columns: [
                .init(title: "Batches", width: 7, alignment: .right),
                .init(title: "Active", width: 6, alignment: .right),
                .init(title: "Files", width: 9, alignment: .right), .init(title: "Size", width: 6, alignment: .right),
            ],
            lastTitle: "Session", width: console.outputIsTerminal ? console.width : nil)
        let json = invocation.has(CommonOptions.json)
        if !json, console.outputIsTerminal { console.line(table.header) }
        for session in sessions {
            guard !json else {
                console.json(session)
                continue
            }
            let cells = [
                "\(session.batches)", "\(session.batchesActive)", "\(session.filesTotal)",
                console.units.size(session.bytesTotal),
            ]
            console.line(table.row(cells, session.name))
        }
        return .done
    }
}
