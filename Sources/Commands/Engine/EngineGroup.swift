import CommandLine

/// `martlet engine`: the process that does the work.
enum EngineGroup: CommandGroup {
    static let command = Command(
        "engine", "the process that does the work",
        runsAlone: false)

    static var subcommands: [any MartletCommand.Type] {
        [EngineStatusCommand.self, EngineStartCommand.self, EngineStopCommand.self]
    }

    static var answeredByParsing: [Command] {
        [
            .notBuilt("install", "have systemd start the engine", "martlet starts it when it is needed"),
            .notBuilt("uninstall", "undo install", "nothing was installed"),
        ]
    }
}
