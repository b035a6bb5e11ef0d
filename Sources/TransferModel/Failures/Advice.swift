/// Advice to a person: a sentence with commands of the shell in it, as `martlet why` prints it. It is written
/// once; where commands are done another way, as by the keys of a screen, each is written in that way instead.
///
/// It is read from its text, because the queue keeps what failures said, and an engine of another version speaks too.
package struct Advice: Sendable, Hashable {
    package enum Piece: Sendable, Hashable {
        case words(String)
        case command(AdvisedCommand)
    }

    package let pieces: [Piece]

    /// - Parameter node: what it is about: the name of a folder may have blanks, which end any other word.
    package init(_ text: String, about node: NodeID? = nil) {
        var pieces: [Piece] = []
        var words = ""
        var rest = text[...]
        while let first = rest.first {
            let isWordStart = words.last.map { " '(\"".contains($0) } ?? true
            if isWordStart, let (command, length) = AdvisedCommand.read(rest, about: node) {
                if !words.isEmpty { pieces.append(.words(words)) }
                pieces.append(.command(command))
                words = ""
                rest = rest.dropFirst(length)
            } else {
                words.append(first)
                rest = rest.dropFirst()
            }
        }
        if !words.isEmpty { pieces.append(.words(words)) }
        self.pieces = pieces
    }

    /// The sentence with its commands written by `form`; `nil`: that one stays as the shell takes it.
    package func written(_ form: (AdvisedCommand) -> String?) -> String {
        var text = ""
        var isUnquoted = false
        for piece in pieces {
            switch piece {
            case .words(let words):
                // The quotes of 'martlet retry b7' are for the shell's form alone.
                text += isUnquoted && words.hasPrefix("'") ? String(words.dropFirst()) : words
                isUnquoted = false
            case .command(let command):
                guard let other = form(command) else {
                    text += command.text
                    continue
                }
                isUnquoted = text.hasSuffix("'")
                if isUnquoted { text.removeLast() }
                text += other
            }
        }
        return text
    }

    /// The command, when nothing else is said.
    package var loneCommand: AdvisedCommand? {
        guard pieces.count == 1, case .command(let command) = pieces[0] else { return nil }
        return command
    }
}

/// `martlet VERB ...` inside a sentence.
package struct AdvisedCommand: Sendable, Hashable {
    /// As it stands there.
    package let text: String
    /// With its second word, where it has one: `engine start`.
    package let verb: String
    package let nodes: [NodeID]
    /// Options and their values, `off` and words in capitals that stand for something, in their order.
    package let arguments: [String]

    /// The commands that advice names, with the second words that belong to them.
    private static let verbs: [String: Set<String>] = [
        "retry": [], "resume": [], "pause": [], "cancel": [], "undo": [], "run-now": [], "move": [], "set": [],
        "limit": [], "log": [], "list": [], "why": [], "show": [], "purge": [], "leftovers": ["abort"], "upload": [],
        "engine": ["start", "stop"], "session": ["set", "list"], "destination": ["add", "list"],
    ]
    /// Options with a value behind them.
    private static let valued: Set<String> = [
        "--user", "--header", "--limit", "--host", "--transfers", "--if-exists", "--priority", "--state",
        "--give-up-after", "--not-before", "--before", "--session", "--ca", "--pin",
    ]

    /// The command that a text begins with, and how many characters of it that is.
    static func read(_ text: Substring, about node: NodeID?) -> (command: AdvisedCommand, length: Int)? {
        let program = "martlet "
        guard text.hasPrefix(program) else { return nil }
        var reader = WordReader(rest: text.dropFirst(program.count))
        guard var verb = reader.next(), let seconds = verbs[verb] else { return nil }
        var (nodes, arguments): ([NodeID], [String]) = ([], [])
        if let second = reader.peek(), seconds.contains(second) { verb += " \(reader.next() ?? "")" }
        if verb == "session set", let name = reader.next() { arguments.append(name) }
        var wantsValue = false
        while !reader.isOver {
            if !wantsValue, let node, reader.skip(node.description) {
                nodes.append(node)
                continue
            }
            guard let word = reader.peek() else { break }
            if wantsValue || word.hasPrefix("--") || word == "off" || isPlaceholder(word) {
                wantsValue = !wantsValue && valued.contains(word)
                arguments.append(word)
            } else if let node = NodeID(word) {
                nodes.append(node)
            } else {
                break
            }
            _ = reader.next()
        }
        let length = text.count - reader.remaining.count
        let command = AdvisedCommand(
            text: String(text.prefix(length)), verb: verb, nodes: nodes, arguments: arguments)
        return (command, length)
    }

    /// `ID`, `BATCH`, `N`: what is to be filled in.
    private static func isPlaceholder(_ word: String) -> Bool {
        word.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}

/// The words of a command up to the sign that ends its part of the sentence.
private struct WordReader {
    /// Behind the blank after the last word that was read.
    var rest: Substring
    private(set) var isOver = false
    /// The unread rest, with the blank in front of it.
    private(set) var remaining: Substring

    init(rest: Substring) { (self.rest, remaining) = (rest, rest) }

    private static let ends: Set<Character> = [",", ";", ":", ".", ")", "\"", "?"]

    func peek() -> String? {
        var copy = self
        return copy.next()
    }

    /// The next word, quotes taken off; `nil`: there is none.
    mutating func next() -> String? {
        guard !isOver, let first = rest.first, first != " " else { return nil }
        if first == "'" { return quoted() }
        var word = rest.prefix { $0 != " " && $0 != "'" }
        while let last = word.last, Self.ends.contains(last), word != "..." { word = word.dropLast() }
        guard !word.isEmpty else { return nil }
        take(upTo: word.endIndex)
        return String(word)
    }

    /// As `NodeID.written` has written it: a quote inside stands between two quoted parts.
    private mutating func quoted() -> String? {
        var word = ""
        var tail = rest
        let joint = "'\\''"
        while tail.first == "'" {
            let inside = tail.dropFirst().prefix { $0 != "'" }
            guard inside.endIndex < tail.endIndex else { return nil }
            word += inside
            tail = tail[inside.endIndex...]
            guard tail.hasPrefix(joint) else { break }
            word += "'"
            tail = tail.dropFirst(joint.count - 1)
        }
        take(upTo: tail.index(after: tail.startIndex))
        return word
    }

    /// Reads a word that is known.
    mutating func skip(_ known: String) -> Bool {
        guard !isOver, rest.hasPrefix(known) else { return false }
        let end = rest.index(rest.startIndex, offsetBy: known.count)
        guard end == rest.endIndex || rest[end] == " " || rest[end] == "'" || Self.ends.contains(rest[end]) else {
            return false
        }
        take(upTo: end)
        return true
    }

    private mutating func take(upTo end: Substring.Index) {
        remaining = rest[end...]
        isOver = remaining.first != " "
        rest = remaining.dropFirst()
    }
}
