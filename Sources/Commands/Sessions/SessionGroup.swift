import CommandLine

/// `martlet session`: the owners of work.
enum SessionGroup: CommandGroup {
    static let command = Command(
        "session", "the owners of work",
        runsAlone: false)

    static var subcommands: [any MartletCommand.Type] {
        [
            SessionListCommand.self, SessionShowCommand.self, SessionRemoveCommand.self, SessionSetCommand.self,
        ]
    }
}
