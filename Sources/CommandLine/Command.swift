// CommandLine: one declarative table of commands and options, read by getopt_long's rules, from which help, manual and completions are made.
//
// For whom: the three programs, each with a table of its own (`MartletProgram` in Commands, `EngineProgram`, `ReceiveProgram`).
// Which thread: any; everything is a value. Start reading here, then `Option` and `Argument` (one word each), `ArgumentScanner` (words into
// an `Invocation`), and `CommandHelp`, `ManualPage`, `BashCompletion` and its neighbours (the table in other forms).

package import Configuration

/// One command of a program, or the program itself: what it takes, what it does, and what help and manual say of it.
package struct Command: Sendable {
    package var name: String
    /// One line without a full stop.
    package var summary: String
    /// Paragraphs for help and manual.
    package var details: [String] = []
    package var operands: [Operand] = []
    /// Replaces the operands in the synopsis where they have alternatives: `[ID...|SELECTORS]`.
    package var operandForm: String?
    package var groups: [OptionGroup] = []
    package var availability: Availability = .built
    /// Works, but is nobody's business: not in help, manual and completions.
    package var isHidden = false
    /// Its operands name a command whose help is shown; see ``help(about:)``.
    var showsHelp = false
    package var subcommands: [Command] = []
    /// True when it does something without one of its subcommands.
    package var runsAlone = true
    /// Command lines with what they do.
    package var examples: [Example] = []

    /// A command line worth showing.
    package struct Example: Sendable {
        package let line: String
        package let effect: String

        package init(line: String, effect: String) {
            self.line = line
            self.effect = effect
        }
    }

    package init(
        _ name: String, _ summary: String, details: [String] = [], operands: [Operand] = [],
        operandForm: String? = nil, groups: [OptionGroup] = [], isHidden: Bool = false, runsAlone: Bool = true,
        examples: [Example] = []
    ) {
        (self.name, self.summary, self.details) = (name, summary, details)
        (self.operands, self.operandForm, self.groups) = (operands, operandForm, groups)
        (self.isHidden, self.runsAlone, self.examples) = (isHidden, runsAlone, examples)
    }

    /// Every option that it knows, `--help` included.
    package var options: [any AnyOption] { groups.flatMap(\.options) + [Option.help] }

    /// Groups as they are shown: without what is not built, and with `--help` at the end.
    var shownGroups: [OptionGroup] {
        var shown = groups.map { OptionGroup($0.title, $0.options.filter(\.isBuilt)) }.filter { !$0.options.isEmpty }
        if shown.isEmpty { return [OptionGroup("Options", [Option.help])] }
        let last = shown.removeLast()
        return shown + [OptionGroup(last.title, last.options + [Option.help])]
    }

    /// The options of the contract that are refused for now.
    var unbuiltOptions: [any AnyOption] { groups.flatMap(\.options).filter(\.isUnbuilt) }

    /// Subcommands as they are shown.
    var shownSubcommands: [Command] { subcommands.filter { !$0.isHidden && $0.availability == .built } }

    /// Commands of the contract below this one that are refused for now, as they are typed.
    var unbuiltBelow: [String] {
        subcommands.filter { !$0.isHidden }.flatMap { command in
            command.availability == .built
                ? command.unbuiltBelow.map { "\(command.name) \($0)" } : [command.name]
        }
    }

    /// `[OPTIONS] SOURCE... DEST`.
    var form: String {
        var words: [String] = []
        if !subcommands.isEmpty {
            words.append(runsAlone ? "[COMMAND]" : shownSubcommands.map(\.name).joined(separator: "|"))
        }
        if !groups.isEmpty { words.append("[OPTIONS]") }
        words += operandForm.map { [$0] } ?? operands.map(\.form)
        return words.joined(separator: " ")
    }
}

/// A place for words of a command line that are no options.
package struct Operand: Sendable {
    package enum Count: Sendable {
        case one, optional, oneOrMore, any
    }

    package let placeholder: String
    package let count: Count
    let allowed: String
    let completion: ValueCompletion
    let accepts: @Sendable ([UInt8]) -> Bool

    package init<Value>(_ syntax: ValueSyntax<Value>, _ count: Count = .one) {
        placeholder = syntax.placeholder
        self.count = count
        allowed = syntax.allowed
        completion = syntax.completion
        accepts = { syntax.read($0) != nil }
    }

    var form: String {
        switch count {
        case .one: placeholder
        case .optional: "[\(placeholder)]"
        case .oneOrMore: "\(placeholder)..."
        case .any: "[\(placeholder)...]"
        }
    }

    var least: Int { count == .one || count == .oneOrMore ? 1 : 0 }
    var takesMany: Bool { count == .oneOrMore || count == .any }
}

/// A program: its command tree and the rest of its manual page.
package struct Program: Sendable {
    /// The commands; its name is the program's.
    package var root: Command
    /// Titled paragraphs that stand after the commands in the manual.
    package var sections: [ManualSection] = []
    /// Values of the contract that are refused for now, each with what it is a value of.
    package var unbuiltWords: [String] = []
    /// Other pages of the manual.
    package var seeAlso: [String] = []

    package init(_ root: Command) { self.root = root }
}

/// A section of a manual page.
package struct ManualSection: Sendable {
    package enum Part: Sendable {
        case paragraph(String)
        /// Terms, each with its explanation.
        case list([(term: String, text: String)])
        /// Lines that stay as they are.
        case picture([String])
    }

    package let title: String
    package let parts: [Part]

    package init(_ title: String, _ parts: [Part]) {
        self.title = title
        self.parts = parts
    }
}
