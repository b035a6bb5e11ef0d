import Configuration

/// Completion for bash, from the same table as the help.
enum BashCompletion {
    static func text(_ program: Program) -> String {
        let name = program.root.name
        let function = "_" + name.replacing("-", with: "_")
        return """
            # Completion of \(name)(1) for bash. Made from the option table; see "make docs". Do not edit.

            \(function)() {
                local current previous command="" word index
                current=${COMP_WORDS[COMP_CWORD]}
                previous=${COMP_WORDS[COMP_CWORD - 1]}
                # Readline splits --option=value at the sign.
                if [[ $current == = ]]; then
                    current=""
                elif [[ $previous == = ]]; then
                    previous=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                for ((index = 1; index < COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]}
                    case "$command $word" in
                        \(transitions(program))
                    esac
                done
                COMPREPLY=()
                case "$command $previous" in
            \(values(program))
                esac
                if [[ $current == -* ]]; then
                    case "$command" in
            \(options(program))
                    esac
                    return
                fi
                case "$command" in
            \(operands(program))
                esac
            }

            complete -F \(function) \(name)

            """
    }

    /// Every command with its path, the program first.
    private static func commands(_ program: Program) -> [(path: String, command: Command)] {
        func below(_ command: Command, _ path: String) -> [(String, Command)] {
            [(path, command)]
                + command.shownSubcommands.flatMap { below($0, path.isEmpty ? $0.name : "\(path) \($0.name)") }
        }
        return below(program.root, "").map { (path: $0.0, command: $0.1) }
    }

    private static func transitions(_ program: Program) -> String {
        let steps = commands(program).flatMap { path, command in
            command.shownSubcommands.map { "\"\(path) \($0.name)\"" }
        }
        guard !steps.isEmpty else { return "*) ;;" }
        return steps.joined(separator: " | ") + ") command=\"${command:+$command }$word\" ;;"
    }

    private static func values(_ program: Program) -> String {
        var lines: [String] = []
        for (path, command) in commands(program) {
            for option in command.options where option.isBuilt && option.placeholder != nil {
                let action = reply(option.completion).map { "\($0); " } ?? ""
                let short = option.short.map { " | \"\(path) -\($0)\"" } ?? ""
                lines.append("        \"\(path) --\(option.name)\"\(short)) \(action)return ;;")
            }
        }
        return lines.isEmpty ? "        *) ;;" : lines.joined(separator: "\n")
    }

    private static func options(_ program: Program) -> String {
        commands(program).map { path, command in
            let names = command.options.filter(\.isBuilt).map { "--\($0.name)" }.joined(separator: " ")
            return "            \"\(path)\") mapfile -t COMPREPLY < <(compgen -W \"\(names)\" -- \"$current\") ;;"
        }.joined(separator: "\n")
    }

    private static func operands(_ program: Program) -> String {
        let lines = commands(program).compactMap { path, command -> String? in
            let names = command.shownSubcommands.map(\.name)
            let kind = names.isEmpty ? command.operands.first?.completion : .words(names)
            return kind.flatMap(reply).map { "        \"\(path)\") \($0) ;;" }
        }
        return lines.isEmpty ? "        *) ;;" : lines.joined(separator: "\n")
    }

    private static func reply(_ completion: ValueCompletion) -> String? {
        func compgen(_ what: String) -> String { "mapfile -t COMPREPLY < <(compgen \(what) -- \"$current\")" }
        switch completion {
        case .nothing: return nil
        case .words(let words), .wordList(let words): return compgen("-W \"\(words.joined(separator: " "))\"")
        case .files: return "compopt -o filenames; " + compgen("-f")
        case .directories: return "compopt -o filenames; " + compgen("-d")
        case .commands: return compgen("-c")
        case .identifiers:
            let list = "\(ValueCompletion.ifEngineRuns) && martlet list 2>/dev/null"
            return compgen("-W \"$(\(list) | sed -n 's/^\\(b[0-9]*\\) .*/\\1/p')\"")
        }
    }
}
