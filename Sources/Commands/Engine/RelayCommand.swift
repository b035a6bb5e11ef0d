import CommandLine

/// `martlet relay`, which `attach` runs on the other machine: standard input and output become the control socket.
enum RelayCommand: MartletCommand {
    static let noStart = Option.flag("no-start", "start no engine")

    static let command = Command(
        "relay", "pass the control socket on over standard input and output",
        groups: [OptionGroup("Options", [noStart])],
        isHidden: true)

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        .relay(launching: !invocation.has(noStart))
    }
}
