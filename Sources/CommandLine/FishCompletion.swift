import Configuration

/// Completion for fish, from the same table as the help.
enum FishCompletion {
    static func text(_ program: Program) -> String {
        let name = program.root.name
        let lines = commands(program.root, name: name, parents: [])
        return """
            # Completion of \(name)(1) for fish. Made from the option table; see "make docs". Do not edit.

            complete -c \(name) -f
            \(lines.joined(separator: "\n"))

            """
    }

    private static func commands(_ command: Command, name: String, parents: [String]) -> [String] {
        let below = command.shownSubcommands
        let seen = parents.map { "__fish_seen_subcommand_from \($0)" }
        let none = below.isEmpty ? [] : ["not __fish_seen_subcommand_from \(below.map(\.name).joined(separator: " "))"]
        let condition = (seen + none).joined(separator: "; and ")
        let start = "complete -c \(name)" + (condition.isEmpty ? "" : " -n '\(condition)'")
        var lines = below.map { "\(start) -a \($0.name) -d \(quoted($0.summary))" }
        lines += command.options.filter(\.isBuilt).map { option in
            let short = option.short.map { " -s \($0)" } ?? ""
            let value = option.placeholder == nil ? "" : " " + values(option.completion)
            return "\(start)\(short) -l \(option.name)\(value) -d \(quoted(option.help))"
        }
        if let operand = command.operands.first, below.isEmpty, let offer = operands(operand.completion) {
            lines.append("\(start) \(offer)")
        }
        return lines + below.flatMap { commands($0, name: name, parents: parents + [$0.name]) }
    }

    private static func values(_ completion: ValueCompletion) -> String {
        switch completion {
        case .nothing: "-x"
        case .files: "-r -F"
        default: "-x " + (operands(completion) ?? "")
        }
    }

    private static func operands(_ completion: ValueCompletion) -> String? {
        switch completion {
        case .nothing: nil
        case .words(let words), .wordList(let words): "-a '\(words.joined(separator: " "))'"
        case .files: "-F"
        case .directories: "-a '(__fish_complete_directories)'"
        case .commands: "-a '(__fish_complete_command)'"
        case .identifiers:
            "-a \"(\(ValueCompletion.ifEngineRuns); and martlet list 2>/dev/null | string match -r '^b[0-9]+')\""
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
