/// What `--help` prints: the same table as the manual, for 80 columns. What is not built yet is in the manual alone; who asks for it by
/// name is told.
enum HelpText {
    private static let width = 79
    private static let column = 26

    static func page(_ program: Program, _ command: Command, path: [String]) -> String {
        let words = [program.root.name] + path
        var parts = [
            "Usage: " + (words + [command.form]).filter { !$0.isEmpty }.joined(separator: " "),
            wrapped(sentence(command.summary), indent: 0),
        ]
        if case .notBuilt(let remedy) = command.availability { parts.append("Not built yet: \(remedy).") }
        parts += command.details.map { wrapped($0, indent: 0) }
        parts += commands(command)
        parts += command.shownGroups.map { "\($0.title):\n" + $0.options.map(option).joined(separator: "\n") }
        if !command.examples.isEmpty {
            parts.append(
                "Examples:\n"
                    + command.examples.map { "  \($0.line)\n" + wrapped($0.effect, indent: 6) }.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func commands(_ command: Command) -> [String] {
        var parts: [String] = []
        let shown = command.shownSubcommands
        if !shown.isEmpty {
            let column = max(12, (shown.map(\.name.count).max() ?? 0) + 4)
            parts.append(
                "Commands:\n" + shown.map { entry("  \($0.name)", $0.summary, column: column) }.joined(separator: "\n"))
        }
        return parts
    }

    private static func option(_ option: any AnyOption) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return entry("  \(short)\(option.form)", option.help + (option.repeats ? " (may be repeated)" : ""))
    }

    /// A term with its explanation beside it, or below it when it is long.
    private static func entry(_ term: String, _ text: String, column: Int = column) -> String {
        let lines = lines(text, width: width - column)
        let indented = lines.map { String(repeating: " ", count: column) + $0 }
        guard term.count + 2 <= column, let first = lines.first else {
            return ([term] + indented).joined(separator: "\n")
        }
        let padded = term + String(repeating: " ", count: column - term.count)
        return ([padded + first] + indented.dropFirst()).joined(separator: "\n")
    }

    /// A summary as a sentence.
    static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }

    private static func wrapped(_ text: String, indent: Int) -> String {
        lines(text, width: width - indent).map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
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
