import CommandLine

/// `martlet leftovers`, which alone is `leftovers list`.
struct LeftoversCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "leftovers", "unfinished uploads, parts and temporary files on servers",
        details: [
            "A cancelled upload's remains go by themselves when its grace time is over. Those of a failed one stay, because a retry goes on from them.",
            "A bucket may hold more: --in asks its service. What belongs to a task of this queue is shown with it; the rest is somebody else's, or of a queue that has forgotten it, and is taken away only by its upload ID.",
        ],
        groups: [CommonOptions.output],
        examples: [
            .init(line: "martlet leftovers abort --all", effect: "Leave no parts behind"),
            .init(
                line: "martlet leftovers list --in s3://archive/2026/",
                effect: "Unfinished uploads in a bucket, whoever began them"),
        ])

    static var subcommands: [any MartletCommand.Type] { [LeftoversListCommand.self, LeftoversAbortCommand.self] }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        try await LeftoversListCommand(context: context).run(invocation)
    }
}
