package import Configuration

/// A command line that was understood: which command, with which values. Values are asked for with the option's own
/// declaration, so they have its type.
package struct Invocation: Sendable {
    /// The names of the command and its subcommand; empty for the program without a command.
    package let path: [String]
    package let operands: [Argument]
    /// The words as they stood, without the names in ``path``: for a command that another program carries out.
    package let words: [Argument]
    private let values: [String: [any Sendable]]

    init(path: [String], operands: [Argument], words: [Argument], values: [String: [any Sendable]]) {
        self.path = path
        self.operands = operands
        self.words = words
        self.values = values
    }

    /// The last value given; `nil` when the option was not.
    package func value<Value>(_ option: Option<Value>) -> Value? { values[option.name]?.last as? Value }

    /// Every value given, in order.
    package func values<Value>(_ option: Option<Value>) -> [Value] {
        values[option.name, default: []].compactMap { $0 as? Value }
    }

    /// Returns true when the option was given.
    package func has(_ option: some AnyOption) -> Bool { values[option.name] != nil }

    /// The operands as values of a kind. Those that are no such value were refused when the line was read, if the
    /// command's operands have this kind.
    package func operands<Value>(as syntax: ValueSyntax<Value>) -> [Value] {
        operands.compactMap { syntax.read($0.bytes) }
    }
}

/// The request of a command line.
package enum CommandLineRequest: Sendable {
    case run(Invocation)
    /// Help or version was asked for, whatever else there is: print this text and exit with status 0.
    case help(String)
}

extension Program {
    /// Understands a command line without the program's name. Fails with status 2 and names what it stumbled over,
    /// the value and what is allowed.
    /// - Parameter width: columns for help.
    package func parse(
        _ arguments: [Argument], width: Int = TerminalWidth.standard
    ) throws(CommandFailure) -> CommandLineRequest {
        var command = root
        var path: [String] = []
        var rest = arguments
        while let index = command.positionOfCommand(in: rest) {
            let word = rest.remove(at: index)
            guard let next = command.subcommands.first(where: { $0.name == word.text }) else {
                // It may be the value of an option that is wrong: then that is what there is to say, or help.
                if command.hasUnknownOption(in: rest[..<index]) {
                    rest.insert(word, at: index)
                    break
                }
                throw command.unknownCommand(word, path: path, program: root.name)
            }
            command = next
            path.append(next.name)
        }
        let request = try command.parse(rest, path: path, program: self, width: width)
        guard command.showsHelp, case .run(let invocation) = request else { return request }
        return .help(try help(about: invocation.operands, width: width))
    }
}

extension Command {
    /// The index of the first word that is neither an option nor an option's value; `nil`: there is none, or no subcommand.
    fileprivate func positionOfCommand(in arguments: [Argument]) -> Int? {
        guard !subcommands.isEmpty else { return nil }
        var index = 0
        while index < arguments.count {
            guard let word = arguments[index].text, word.hasPrefix("-"), word != "-" else { return index }
            if word == "--" { return nil }
            let takesNext = options.contains { option in
                option.placeholder != nil
                    && (word == "--\(option.name)" || option.short.map { word == "-\($0)" } ?? false)
            }
            index += takesNext ? 2 : 1
        }
        return nil
    }

    fileprivate func hasUnknownOption(in arguments: ArraySlice<Argument>) -> Bool {
        ArgumentScanner.scan(arguments.map(\.bytes), options: options).contains { item in
            if case .unknown = item { true } else { false }
        }
    }

    func unknownCommand(_ word: Argument, path: [String], program: String) -> CommandFailure {
        let nearest = Suggestion.nearest(to: word.shown, among: shownSubcommands.map(\.name))
        let place = path.map { "\($0): " }.joined()
        let others = path.isEmpty ? "see \(program) --help" : "give \(alternatives(shownSubcommands.map(\.name)))"
        return .usage(
            "\(place)there is no command \"\(word.shown)\"", nearest.map { "did you mean \($0)?" } ?? others)
    }

    fileprivate func parse(
        _ arguments: [Argument], path: [String], program: Program, width: Int
    ) throws(CommandFailure) -> CommandLineRequest {
        let place = path.map { "\($0): " }.joined()
        let options = options
        let found = ArgumentScanner.scan(arguments.map(\.bytes), options: options)
        let helpIndex = options.count - 1
        if found.contains(.option(helpIndex, value: nil)) {
            try checkHelpIsMeant(arguments, place: place)
            return .help(CommandHelp.page(program, self, path: path, width: width))
        }
        if found.contains(where: { $0.names("version", of: options) }) {
            return .help("\(program.root.name) \(ProductVersion.current)\n")
        }
        if case .notBuilt(let remedy) = availability {
            throw .usage("the command \(path.joined(separator: " ")) is not built yet", remedy)
        }
        var values: [String: [any Sendable]] = [:]
        var operands: [Argument] = []
        for item in found {
            switch item {
            case .operand(let bytes): operands.append(Argument(bytes))
            case .option(let index, let value):
                let option = options[index]
                values[option.name, default: []].append(try option.value(value ?? [], place: place))
            default: throw refusal(of: item, place: place, program: program.root.name)
            }
        }
        try check(operands, place: place)
        return .run(Invocation(path: path, operands: operands, words: arguments, values: values))
    }

    /// `-photo.jpg` has an `h` in it, too: whoever meant a file must not read the help and a status of success.
    private func checkHelpIsMeant(_ arguments: [Argument], place: String) throws(CommandFailure) {
        let words = arguments.map(\.shown).prefix { $0 != "--" }
        // It may be shortened, and other options begin as it does.
        if words.contains(where: { $0 == "-h" || ($0.count > 2 && "--help".hasPrefix($0)) }) { return }
        guard let name = words.first(where: { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains("h") }) else {
            return
        }
        throw .usage(
            "\(place)\"\(name)\" is read as options",
            "write ./\(name) when it is a file, or put -- before all names; help is --help")
    }

    private func refusal(of item: ArgumentScanner.Found, place: String, program: String) -> CommandFailure {
        switch item {
        case .valueMissing(let index):
            return .usage("\(place)--\(options[index].name) has no value", "give \(options[index].allowed)")
        case .valueUnexpected(let index):
            return .usage("\(place)--\(options[index].name) takes no value", "leave out what follows the =")
        case .ambiguous(let word, let names):
            return .usage("\(place)\(word) may be more than one option", "write \(alternatives(names))")
        case .unknown(let word):
            let names = options.filter(\.isBuilt).map { "--\($0.name)" }
            let nearest = Suggestion.nearest(to: word, among: names)
            let command = place.split(separator: ": ").map { " \($0)" }.joined()
            return .usage(
                "\(place)there is no option \(word)",
                nearest.map { "did you mean \($0)?" } ?? "see \(program)\(command) --help")
        case .option, .operand:
            return .usage("\(place)cannot be read", "see --help")
        }
    }

    private func check(_ given: [Argument], place: String) throws(CommandFailure) {
        if !subcommands.isEmpty, !runsAlone {
            throw .usage(
                "\(place.dropLast(2)): what to do is missing", "give \(alternatives(shownSubcommands.map(\.name)))")
        }
        guard given.count >= operands.reduce(0, { $0 + $1.least }) else {
            // Operands fill from the left, so what is missing is the first that finds none.
            let missing = operands.dropFirst(min(given.count, operands.count - 1)).first
            throw .usage(
                "\(place)\(missing?.placeholder ?? "an operand") is missing", "give \(missing?.allowed ?? form)")
        }
        guard given.count <= operands.count || operands.contains(where: \.takesMany) else {
            throw .usage(
                "\(place)\"\(given[operands.count].shown)\" is one operand too many",
                operands.isEmpty ? "give none" : "give only \(operands.map(\.form).joined(separator: " "))")
        }
        for (operand, word) in assignment(of: given) where !operand.accepts(word.bytes) {
            throw .usage("\(place)\(operand.placeholder): \"\(word.shown)\" is not allowed", "give \(operand.allowed)")
        }
    }

    /// Assigns each word to its operand: at most one operand takes many, and those after it take the last words.
    private func assignment(of given: [Argument]) -> [(Operand, Argument)] {
        guard let many = operands.firstIndex(where: \.takesMany) else { return Array(zip(operands, given)) }
        let tail = operands.count - many - 1
        return given.enumerated().map { index, word in
            if index < many { return (operands[index], word) }
            let fromEnd = given.count - index
            return (fromEnd <= tail ? operands[operands.count - fromEnd] : operands[many], word)
        }
    }
}

extension ArgumentScanner.Found {
    /// Returns true for the flag of that name.
    fileprivate func names(_ name: String, of options: [any AnyOption]) -> Bool {
        guard case .option(let index, value: nil) = self else { return false }
        return options[index].name == name
    }
}

extension AnyOption {
    fileprivate func value(_ bytes: [UInt8], place: String) throws(CommandFailure) -> any Sendable {
        switch availability {
        case .built: break
        case .notBuilt(let remedy): throw .usage("\(place)--\(name) is not built yet", remedy)
        case .elsewhere(let owner): throw .usage("\(place)--\(name) is \(owner)", "leave it out")
        }
        guard let value = read(bytes) else {
            let shown = isSecret ? "what is given" : "\"\(Argument(bytes).shown)\""
            throw .usage("\(place)--\(name): \(shown) is not allowed", "give \(allowed)")
        }
        return value
    }
}
