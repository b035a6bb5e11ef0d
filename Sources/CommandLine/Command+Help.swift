import Configuration

extension Command {
    /// `help [COMMAND]`: the same as `--help`, for whoever types that. Does nothing but name what it is about.
    /// - Parameter commands: what may be asked about.
    package static func help(about commands: [Command]) -> Command {
        let names = commands.filter { !$0.isHidden && $0.availability == .built }.map(\.name)
        var command = Command("help", "this text, or that of a command")
        command.operands = [
            Operand(
                ValueSyntax("COMMAND", allowed: "a command", completion: .words(names)) { (text: String) in text }, .any
            )
        ]
        command.operandForm = "[COMMAND]"
        command.showsHelp = true
        return command
    }
}

extension Program {
    /// The page about the command that these words name.
    func help(about words: [Argument], width: Int) throws(CommandFailure) -> String {
        var command = root
        var path: [String] = []
        for word in words {
            guard let next = command.subcommands.first(where: { $0.name == word.text }) else {
                guard !command.subcommands.isEmpty else {
                    throw .usage(
                        "help: \(path.joined(separator: " ")) has no commands of its own, such as \"\(word.shown)\"",
                        "\(root.name) help \(path.joined(separator: " "))")
                }
                throw command.unknownCommand(word, path: path, program: root.name)
            }
            command = next
            path.append(next.name)
        }
        return CommandHelp.page(self, command, path: path, width: width)
    }
}
