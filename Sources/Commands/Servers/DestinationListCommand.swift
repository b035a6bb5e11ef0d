import CommandLine
import Configuration
import MartletKit

/// `martlet destination list`.
struct DestinationListCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "list", "configured servers",
        groups: [CommonOptions.output])

    /// One line of `destination list`.
    private struct ListedDestination: Encodable {
        let name: String
        /// Without user info.
        let url: String
        let scheme: String
        @OrNull var user: String?
        let login: String
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let rows = context.destinationBook().destinations.map { destination in
            ListedDestination(
                name: destination.name, url: RecentPlaces.harmless(destination.url),
                scheme: TransferScheme(of: destination.url)?.rawValue ?? "", user: destination.user,
                login: destination.loginSource.word)
        }
        if invocation.has(CommonOptions.json) {
            for row in rows { console.json(row) }
            return .done
        }
        if rows.isEmpty {
            console.note("no destination is configured: martlet destination add NAME URL")
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "Name", width: 16), .init(title: "Login", width: 10), .init(title: "User", width: 12),
            ], lastTitle: "Address", width: console.outputIsTerminal ? console.width : nil)
        console.line(table.header)
        for row in rows { console.line(table.row([row.name, row.login, row.user ?? "-"], row.url)) }
        return .done
    }
}
