import CommandLine

/// `martlet destination`: configured servers.
enum DestinationGroup: CommandGroup {
    static let command = Command(
        "destination", "configured servers",
        runsAlone: false)

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
