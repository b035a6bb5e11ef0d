import TransferModel

/// The logins of a netrc file, as curl and ftp read it.
struct Netrc: Sendable {
    struct Entry: Sendable, Hashable {
        /// `nil`: `default`, for every other host.
        var machine: String?
        var user = ""
        var password = ""
    }

    private var entries: [Entry] = []

    init(_ text: String) {
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine": entries.append(Entry(machine: words.popFirst()?.lowercased() ?? ""))
            case "default": entries.append(Entry(machine: nil))
            case "login": set(\.user, words.popFirst())
            case "password": set(\.password, words.popFirst())
            case "account": _ = words.popFirst()
            default: break
            }
        }
    }

    /// A line end in a login would be a command at the server.
    var hasControl: Bool { entries.contains { $0.user.hasControl || $0.password.hasControl } }

    /// The first entry for a host, else the default.
    /// - Parameter user: who was named to log in: only what is said of that login counts, or of none.
    func entry(for host: String, user: String? = nil) -> Entry? {
        let fitting = user.map { user in entries.filter { $0.user == user || $0.user.isEmpty } } ?? entries
        guard var entry = fitting.first(where: { $0.machine == host }) ?? fitting.first(where: { $0.machine == nil })
        else {
            // Known by name all the same; perhaps no password is wanted.
            return user.map { Entry(machine: host, user: $0) }
        }
        entry.user = user ?? entry.user
        return entry
    }

    private mutating func set(_ part: WritableKeyPath<Entry, String>, _ value: String?) {
        guard let value, !entries.isEmpty else { return }
        entries[entries.count - 1][keyPath: part] = value
    }

    /// Words between white space; one in quotes may hold spaces, a backslash takes the next character as it is. A macro
    /// ends at an empty line, a comment at the line's end.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isMacro = false
        // A CR and an LF are one Character, which is not equal to LF.
        for line in text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false) {
            let found = self.words(line: line)
            if isMacro {
                if found.isEmpty { isMacro = false }
            } else if let start = found.firstIndex(of: "macdef") {
                words += found[..<start]
                isMacro = true
            } else {
                words += found
            }
        }
        return words
    }

    private static func words(line: Substring) -> [String] {
        var words: [String] = []
        var rest = line.drop { $0.isWhitespace }
        while let first = rest.first, first != "#" || !words.isEmpty {
            var word = ""
            let isQuoted = first == "\""
            if isQuoted { rest = rest.dropFirst() }
            while let character = rest.first, isQuoted ? character != "\"" : !character.isWhitespace {
                rest = rest.dropFirst()
                if character == "\\", isQuoted, let escaped = rest.popFirst() {
                    word.append(escaped)
                } else {
                    word.append(character)
                }
            }
            if isQuoted { rest = rest.dropFirst() }
            words.append(word)
            rest = rest.drop { $0.isWhitespace }
        }
        return words
    }
}
