import CommandLine

/// `martlet session`: the owners of work.
enum SessionGroup: CommandGroup {
    static var command: Command {
        var command = Command("session", "the owners of work")
        command.runsAlone = false
        return command
    }

    static var subcommands: [any MartletCommand.Type] {
        [
            SessionListCommand.self, SessionShowCommand.self, SessionRemoveCommand.self, SessionSetCommand.self,
        ]
    }
}
