/// The text of `--help`: the same table as the manual, for the width of a terminal. Features that are not built yet are in the manual
/// alone; who asks for one by name is told.
struct CommandHelp {
    /// The width of a line in cells; text in longer ones is hard to read, and a terminal breaks at its last column.
    private let width: Int
    /// The column of explanations; on a narrow terminal they stand below what they explain.
    private let column: Int

    private init(width: Int) {
        self.width = min(max(width, 40), 110) - 1
        column = width < 60 ? 8 : 26
    }

    /// - Parameter width: columns of the terminal.
    static func page(
        _ program: Program, _ command: Command, path: [String], width: Int = TerminalWidth.standard
    ) -> String {
        CommandHelp(width: width).page(program, command, path: path)
    }

    private func page(_ program: Program, _ command: Command, path: [String]) -> String {
        let words = [program.root.name] + path
        var parts = [usage((words + [command.form]).filter { !$0.isEmpty }), wrapped(Self.sentence(command.summary))]
        if case .notBuilt(let remedy) = command.availability { parts.append(wrapped("Not built yet: \(remedy).")) }
        parts += command.details.map { wrapped($0) }
        parts += commands(command)
        parts += command.shownGroups.map {
            wrapped("\($0.title):") + "\n" + $0.options.map(option).joined(separator: "\n")
        }
        if !command.examples.isEmpty {
            // A line that is to be typed is not broken.
            parts.append(
                "Examples:\n"
                    + command.examples.map { "  \($0.line)\n" + wrapped($0.effect, indent: 6) }.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Goes on below the first operand.
    private func usage(_ words: [String]) -> String {
        let margin = "Usage: "
        let lines = Self.lines(words.joined(separator: " "), width: width - margin.count)
        return margin + lines.joined(separator: "\n" + String(repeating: " ", count: margin.count))
    }

    private func commands(_ command: Command) -> [String] {
        var parts: [String] = []
        let shown = command.shownSubcommands
        if !shown.isEmpty {
            let column = max(12, (shown.map(\.name.count).max() ?? 0) + 4)
            parts.append(
                "Commands:\n" + shown.map { entry("  \($0.name)", $0.summary, column: column) }.joined(separator: "\n"))
        }
        return parts
    }

    private func option(_ option: any AnyOption) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return entry(
            "  \(short)\(option.form)", option.help + (option.repeats ? " (may be repeated)" : ""), column: column)
    }

    /// A term with its explanation beside it, or below it when it is long.
    private func entry(_ term: String, _ text: String, column: Int) -> String {
        let lines = Self.lines(text, width: width - column)
        let indented = lines.map { String(repeating: " ", count: column) + $0 }
        guard term.count + 2 <= column, let first = lines.first else {
            return ([term] + indented).joined(separator: "\n")
        }
        let padded = term + String(repeating: " ", count: column - term.count)
        return ([padded + first] + indented.dropFirst()).joined(separator: "\n")
    }

    /// A summary as a sentence.
    static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    private func wrapped(_ text: String, indent: Int = 0) -> String {
        Self.lines(text, width: width - indent).map { String(repeating: " ", count: indent) + $0 }.joined(
            separator: "\n")
    }

    /// The text in lines of at most `width` characters; a longer word gets a line of its own.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
