import CommandLine

/// `martlet destination`: configured servers.
enum DestinationGroup: CommandGroup {
    static var command: Command {
        var command = Command("destination", "configured servers")
        command.runsAlone = false
        return command
    }

    static var subcommands: [any MartletCommand.Type] {
        [
            DestinationListCommand.self, DestinationAddCommand.self, DestinationTestCommand.self,
            DestinationRemoveCommand.self, DestinationRestoreCommand.self,
        ]
    }

    static var answeredByParsing: [Command] {
        [.notBuilt("import", "take over servers of rclone, ssh, aws or netrc", "use destination add for each")]
    }
}
