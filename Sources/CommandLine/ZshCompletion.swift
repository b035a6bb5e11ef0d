import Configuration

/// Completion for zsh, from the same table as the help.
enum ZshCompletion {
    static func text(_ program: Program) -> String {
        let name = program.root.name
        return """
            #compdef \(name)
            # Completion of \(name)(1) for zsh. Made from the option table; see "make docs". Do not edit.

            \(functions(program.root, path: [name]).joined(separator: "\n\n"))

            \(function([name])) "$@"

            """
    }

    private static func function(_ path: [String]) -> String {
        "_" + path.joined(separator: "_").replacing("-", with: "_")
    }

    /// The command's function and those of its subcommands; each sees only the words after its own name.
    private static func functions(_ command: Command, path: [String]) -> [String] {
        let below = command.shownSubcommands
        var specs = command.options.filter(\.isBuilt).map(spec)
        guard !below.isEmpty else {
            // What takes many words takes the rest for completion; there is nothing to offer after it.
            let many = command.operands.firstIndex(where: \.takesMany).map { $0 + 1 } ?? command.operands.count
            specs += command.operands.prefix(many).enumerated().map { operand($1, position: $0 + 1) }
            return [
                "\(function(path))() {\n    _arguments -s -S \\\n        \(specs.joined(separator: " \\\n        "))\n}"
            ]
        }
        let list = below.map { "\(quoted("\($0.name):\(described($0.summary))"))" }.joined(
            separator: "\n                ")
        let calls = below.map { "\($0.name)) \(function(path + [$0.name])) ;;" }.joined(separator: "\n                ")
        let own = """
            \(function(path))() {
                local state line
                typeset -A opt_args
                _arguments -C -s -S \\
                    \(specs.joined(separator: " \\\n        ")) \\
                    '1: :->command' '*:: :->words'
                case $state in
                    command)
                        local -a commands=(
                            \(list)
                        )
                        _describe command commands ;;
                    words)
                        case $line[1] in
                            \(calls)
                        esac ;;
                esac
            }
            """
        return [own] + below.flatMap { functions($0, path: path + [$0.name]) }
    }

    private static func spec(_ option: any AnyOption) -> String {
        let many = option.repeats ? "*" : ""
        let help = "[\(described(option.help))]"
        guard let placeholder = option.placeholder else {
            let short = option.short.map { " \(quoted("\(many)-\($0)\(help)"))" } ?? ""
            return quoted("\(many)--\(option.name)\(help)") + short
        }
        return quoted("\(many)--\(option.name)=\(help):\(described(placeholder)):\(action(option.completion))")
    }

    private static func operand(_ operand: Operand, position: Int) -> String {
        let place = operand.takesMany ? "*" : String(position)
        return quoted("\(place):\(described(operand.placeholder)):\(action(operand.completion))")
    }

    private static func action(_ completion: ValueCompletion) -> String {
        switch completion {
        case .nothing: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .wordList(let words): "_values -s , value \(words.joined(separator: " "))"
        case .files: "_files"
        case .directories: "_files -/"
        case .commands: "_command_names"
        case .identifiers:
            "($(\(ValueCompletion.ifEngineRuns) && martlet list 2>/dev/null | sed -n \"s/^\\(b[0-9]*\\) .*/\\1/p\"))"
        }
    }

    /// Text between colons and brackets.
    private static func described(_ text: String) -> String {
        text.reduce(into: "") { $0 += "[]:\\".contains($1) ? "\\\($1)" : String($1) }
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
