import Configuration

/// A program's manual page in mdoc(7), from the same table as its help.
enum ManualPage {
    static func text(_ program: Program) -> String {
        let root = program.root
        var lines = [
            ".\\\" Made from the option table; see \"make docs\". Do not edit.",
            ".Dd \(ProductVersion.manualDate)", ".Dt \(root.name.uppercased()) 1",
            ".Os Martlet \(ProductVersion.current)",
            ".Sh NAME", ".Nm \(root.name)", ".Nd \(line(root.summary))", ".Sh SYNOPSIS",
        ]
        lines += synopses(root)
        lines += [".Sh DESCRIPTION"] + paragraphs(root.details)
        lines += options(of: root)
        if !root.shownSubcommands.isEmpty {
            lines.append(".Sh COMMANDS")
            lines += root.shownSubcommands.flatMap { command($0, path: []) }
        }
        lines += notBuilt(program)
        lines += program.sections.flatMap(section)
        let examples = root.examples + root.shownSubcommands.flatMap(\.examples)
        if !examples.isEmpty {
            lines.append(".Sh EXAMPLES")
            lines += examples.flatMap { [".Pp", line("\($0.effect):"), ".Dl \(argument($0.line))"] }
        }
        if !program.seeAlso.isEmpty {
            lines.append(".Sh SEE ALSO")
            let last = program.seeAlso.count - 1
            lines += program.seeAlso.enumerated().map { ".Xr \($1) 1" + ($0 < last ? " ," : "") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func synopses(_ root: Command) -> [String] {
        let own = root.runsAlone ? [".Nm\n" + argument(root.form)] : []
        return own.map { $0.hasSuffix("\n") ? ".Nm" : $0 }
            + root.shownSubcommands.map {
                ".Nm\n" + argument([$0.name, $0.form].filter { !$0.isEmpty }.joined(separator: " "))
            }
    }

    private static func command(_ command: Command, path: [String]) -> [String] {
        let path = path + [command.name]
        guard command.shownSubcommands.isEmpty else {
            return command.shownSubcommands.flatMap { self.command($0, path: path) }
        }
        return [
            ".Ss \(argument((path + [command.form]).joined(separator: " ")))",
            line(CommandHelp.sentence(command.summary)),
        ]
            + paragraphs(command.details).reduce(into: []) { $0 += $0.isEmpty ? [".Pp", $1] : [$1] }
            + options(of: command)
    }

    private static func options(of command: Command) -> [String] {
        command.shownGroups.flatMap { group -> [String] in
            let items = group.options.filter {
                $0.name != "help" || command.shownGroups.count == 1 && group.options.count == 1
            }
            guard !items.isEmpty, command.groups.count > 0 else { return [] }
            return [".Pp", line("\(group.title):"), ".Bl -tag -width Ds"] + items.flatMap(option) + [".El"]
        }
    }

    private static func option(_ option: any AnyOption) -> [String] {
        let short = option.short.map { "Fl \($0) , " } ?? ""
        let value = option.placeholder.map { " Ar \(argument($0))" } ?? ""
        return [
            ".It \(short)Fl -\(option.name)\(value)",
            line(option.help + (option.repeats ? " (may be repeated)." : ".")),
        ]
    }

    private static func notBuilt(_ program: Program) -> [String] {
        let commands = program.root.unbuiltBelow
        var options: [(words: String, commands: [String])] = []
        for command in program.root.shownSubcommands where !command.unbuiltOptions.isEmpty {
            let words = command.unbuiltOptions.map { "--\($0.name)" }.joined(separator: " ")
            if let index = options.firstIndex(where: { $0.words == words }) {
                options[index].commands.append(command.name)
            } else {
                options.append((words, [command.name]))
            }
        }
        guard !commands.isEmpty || !options.isEmpty || !program.unbuiltWords.isEmpty else { return [] }
        var lines = [".Sh NOT BUILT YET", line("These are refused by name and never ignored.")]
        if !commands.isEmpty { lines += [".Pp", line("Commands: \(commands.joined(separator: ", ")).")] }
        for (words, commands) in options {
            lines += [".Pp", line("Options of \(commands.joined(separator: " and ")): \(words).")]
        }
        if !program.unbuiltWords.isEmpty {
            lines += [".Pp", line("Values: \(program.unbuiltWords.joined(separator: ", ")).")]
        }
        return lines
    }

    private static func section(_ section: ManualSection) -> [String] {
        [".Sh \(section.title)"]
            + section.parts.flatMap { part -> [String] in
                switch part {
                case .paragraph(let text): return [".Pp", line(text)]
                case .list(let items):
                    return [".Bl -tag -width Ds"] + items.flatMap { [".It \(argument($0.term))", line($0.text)] } + [
                        ".El"
                    ]
                case .picture(let lines):
                    return [".Bd -literal"] + lines.map { $0.isEmpty ? "\\&" : self.line($0) } + [".Ed"]
                }
            }
    }

    private static func paragraphs(_ texts: [String]) -> [String] {
        texts.enumerated().map { ($0 > 0 ? ".Pp\n" : "") + line($1) }
    }

    /// Text on a line of its own.
    static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// Text after a macro: short words could be macros themselves, punctuation alone is moved about.
    static func argument(_ text: String) -> String {
        text.split(separator: " ").map { word in
            let plain = escaped(String(word))
            return word.count <= 3 || ".,:;()[]?!|".contains(word.first ?? " ") ? "\\&" + plain : plain
        }.joined(separator: " ")
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { line, character in
            switch character {
            case "\\": line += "\\e"
            case "-": line += "\\-"
            case "\"": line += "\\(dq"
            case "~": line += "\\(ti"
            case "^": line += "\\(ha"
            case "`": line += "\\(ga"
            case "'": line += "\\(aq"
            default: line.append(character)
            }
        }
    }
}
