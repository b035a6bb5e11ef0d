import DisplayText

/// Advice to a person: a sentence with commands of the shell in it. It is written once; where commands are done another way, as by the
/// keys of a screen, each is written in that way instead.
package struct Advice: Hashable, Sendable {
    package enum Piece: Hashable, Sendable {
        case words(String)
        /// `isQuoted`: the shell's form stands in quotes.
        case command(AdvisedCommand, isQuoted: Bool)
    }

    package private(set) var pieces: [Piece]
    /// Nobody has to do anything: the pieces say what happens, and what can be done all the same.
    package private(set) var isIdle = false

    /// The words alone; none: there is no advice.
    package init(_ words: String) { pieces = words.isEmpty ? [] : [.words(words)] }

    /// Advice where nobody has to do anything.
    package static func idle(_ advice: Advice) -> Advice {
        var advice = advice
        advice.isIdle = true
        return advice
    }

    /// The sentence as a shell takes its commands.
    package var text: String { (isIdle ? "nothing to do; " : "") + written() }

    /// The sentence, without saying that nothing has to be done, with its commands written by `form`; `nil`: that one stays as the shell
    /// takes it.
    package func written(_ form: (AdvisedCommand) -> String? = { _ in nil }) -> String {
        pieces.map { piece in
            switch piece {
            case .words(let words): words
            case .command(let command, let isQuoted):
                form(command) ?? (isQuoted ? "'\(command.text)'" : command.text)
            }
        }.joined()
    }

    /// As it is told beside its text; `nil`: the text says all.
    package var told: Advice? { isIdle || !commands.isEmpty ? self : nil }

    package var commands: [AdvisedCommand] {
        pieces.compactMap { if case .command(let command, _) = $0 { command } else { nil } }
    }

    package var beginsWithWords: Bool { if case .command? = pieces.first { isIdle } else { true } }

    /// The command, when nothing else is said.
    package var loneCommand: AdvisedCommand? { pieces.count == 1 && !isIdle ? commands.first : nil }
}

extension Advice: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ words: String) {
            if words.isEmpty { return }
            if case .words(let before)? = pieces.last {
                pieces[pieces.count - 1] = .words(before + words)
            } else {
                pieces.append(.words(words))
            }
        }
        package mutating func appendInterpolation(_ words: some Any) {
            appendLiteral("\(words)")
        }
        package mutating func appendInterpolation(_ command: AdvisedCommand) {
            pieces.append(.command(command, isQuoted: false))
        }
        package mutating func appendInterpolation(quoted command: AdvisedCommand) {
            pieces.append(.command(command, isQuoted: true))
        }
        package mutating func appendInterpolation(_ advice: Advice) {
            for piece in advice.pieces {
                if case .words(let words) = piece { appendLiteral(words) } else { pieces.append(piece) }
            }
        }
    }

    package init(stringLiteral words: String) { self.init(words) }
    package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }
}

extension Advice: Codable {
    private enum Key: String, CodingKey { case idle, pieces }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        isIdle = try object.decodeIfPresent(Bool.self, forKey: .idle) ?? false
        pieces = try object.decode([Piece].self, forKey: .pieces)
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        if isIdle { try object.encode(true, forKey: .idle) }
        try object.encode(pieces, forKey: .pieces)
    }
}

extension Advice.Piece: Codable {
    private enum Key: String, CodingKey { case quoted }

    package init(from decoder: any Decoder) throws {
        if let words = try? decoder.singleValueContainer().decode(String.self) {
            self = .words(words)
            return
        }
        let isQuoted = try decoder.container(keyedBy: Key.self).decodeIfPresent(Bool.self, forKey: .quoted)
        self = .command(try AdvisedCommand(from: decoder), isQuoted: isQuoted ?? false)
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .words(let words):
            var value = encoder.singleValueContainer()
            try value.encode(words)
        case .command(let command, let isQuoted):
            try command.encode(to: encoder)
            var object = encoder.container(keyedBy: Key.self)
            if isQuoted { try object.encode(true, forKey: .quoted) }
        }
    }
}

/// `martlet VERB ...` inside a sentence.
package struct AdvisedCommand: Codable, Hashable, Sendable {
    /// With its second word, where it has one: `engine start`.
    package let verb: String
    package let nodes: [NodeID]
    /// Options and their values, `off` and words in capitals that stand for something, each as the program gets it.
    package let arguments: [String]

    package init(_ verb: String, _ nodes: [NodeID] = [], _ arguments: [String] = []) {
        (self.verb, self.nodes, self.arguments) = (verb, nodes, arguments)
    }

    package static func retry(_ node: NodeID) -> AdvisedCommand { AdvisedCommand("retry", [node]) }
    package static func resume(_ nodes: NodeID...) -> AdvisedCommand { AdvisedCommand("resume", nodes) }
    package static func runNow(_ node: NodeID) -> AdvisedCommand { AdvisedCommand("run-now", [node]) }
    package static func cancel(_ node: NodeID) -> AdvisedCommand { AdvisedCommand("cancel", [node]) }
    package static func set(_ node: NodeID, _ arguments: String...) -> AdvisedCommand {
        AdvisedCommand("set", [node], arguments)
    }
    package static func limit(_ arguments: String...) -> AdvisedCommand { AdvisedCommand("limit", [], arguments) }
    package static let list = AdvisedCommand("list")
    package static let log = AdvisedCommand("log")

    /// As a shell takes it.
    package var text: String {
        (["martlet", verb] + nodes.map(\.written) + arguments.map(\.shellWord)).joined(separator: " ")
    }
}

extension NodeID {
    /// The node as one word of a shell: the name of a folder may have anything in it, and is the very name, however it is shown.
    package var written: String {
        guard case .folder(let batch, let path) = self else { return description.shellWord }
        return String(decoding: ShellQuoting.word(Array("\(batch):".utf8) + path.bytes), as: UTF8.self)
    }
}
