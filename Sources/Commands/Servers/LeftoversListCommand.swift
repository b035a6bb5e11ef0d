import CommandLine
import Configuration
import MartletKit

/// `martlet leftovers list`.
struct LeftoversListCommand: EngineCommand {
    let context: CommandContext

    static let bucket = Option(
        "in", ValueSyntax<String>.text("s3://BUCKET/PREFIX"),
        "ask the service which uploads were begun there and not finished, by whomever; keys and endpoint as for upload, and "
            + "NAME: or NAME:PATH is a configured destination")

    static let command = Command(
        "list", "what unfinished uploads have left at servers",
        groups: [OptionGroup("Where", [bucket]), CommonOptions.output])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        if let bucket = invocation.value(Self.bucket) { return try await listBucket(bucket, invocation) }
        guard try await context.queueToLookAt(invocation) else { return .done }
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

    private func listBucket(_ url: String, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let found = try await context.bucketUploads(url, aborting: [], "leftovers list")
        let uploads = found.uploads
        if !found.isWhole {
            console.note("there may be more uploads than these: name a longer prefix than \(RawPath(url).displayed)")
        }
        if invocation.has(CommonOptions.json) {
            for upload in uploads { console.json(upload) }
            return .done
        }
        if uploads.isEmpty {
            console.note("nothing unfinished is below \(RawPath(url).displayed)")
            return .done
        }
        let table = TextTable(
            columns: [.init(title: "Task", width: 7), .init(title: "Begun", width: 24)],
            lastTitle: "Would become, and its upload ID", width: nil)
        console.line(table.header)
        for upload in uploads {
            console.line(
                table.row(
                    [upload.task?.description ?? "-", upload.begun?.description ?? "-"],
                    "\(upload.destination)  \(RawPath(upload.uploadID).displayed)"))
        }
        if uploads.contains(where: { $0.task == nil }) {
            console.note("those without a task are not this queue's: somebody may still be sending them")
        }
        return .done
    }
}
