import CommandLine
import MartletKit

/// `martlet` without a command: the screen, or plain lines where those are wanted.
struct RootCommand: EngineCommand {
    let context: CommandContext

    static let version = Option.flag("version", "print the version and exit")

    static let command = Command(
        "martlet", "transfers that go on, whatever happens to the terminal",
        details: [
            "Without a command it shows the screen, with whatever is going on. Work belongs to an engine (martletd), which is "
                + "started when it is needed: leaving the screen, closing the terminal or killing the front stops nothing.",
            "IDs: b7 is a batch, t31 a task, b7:raw/2024 a folder of a batch. Sizes and rates are binary (512K 8M 2G), "
                + "durations 30s 5m 2h 7d, times ISO 8601, HH:MM or +DURATION.",
        ],
        groups: [
            OptionGroup("Options of the screen", ScreenOptions.all + [ScreenOptions.accessible]),
            OptionGroup("Options", [version]),
        ])

    /// The commands of `martlet`, in the order of help and manual.
    static var subcommands: [any MartletCommand.Type] {
        [
            UploadCommand.self, DownloadCommand.self, AgainCommand.self, ListCommand.self, ShowCommand.self,
            WhyCommand.self, PauseCommand.self, ResumeCommand.self, CancelCommand.self, RetryCommand.self,
            VerifyCommand.self, UndoCommand.self, MoveCommand.self, SetCommand.self, RunNowCommand.self,
            LimitCommand.self, WaitCommand.self, WatchCommand.self, EventsCommand.self, PurgeCommand.self,
            LogCommand.self, LeftoversCommand.self, EngineGroup.self, ReceiveCommand.self, SessionGroup.self,
            DestinationGroup.self, AttachCommand.self, DocsCommand.self, RelayCommand.self,
        ]
    }

    static var answeredByParsing: [Command] {
        [
            .help(about: subcommands.map { $0.command }),
            .notBuilt("signals", "what policy sees", "no policy is built that would need it"),
            .notBuilt("policy", "what each signal does", "no policy is built that would need it"),
            .notBuilt("fetch", "take a kept download out of the store", "download into a directory"),
            .notBuilt("ls", "what a remote folder holds", "ask the server's own client"),
            .notBuilt("doctor", "what would make a transfer stop", "see martlet why"),
        ]
    }

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        let start = try ProgramStart(console)
        if Martlet.wantsLines(invocation) { return try start.command(invocation) }
        return start.screen(invocation, of: nil)
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        try await LineMode(context: context).run()
    }
}
