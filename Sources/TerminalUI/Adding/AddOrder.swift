import Configuration
import DisplayText
import MartletKit

/// What a person decided to have transferred, and how: what the review shows, what is queued, and the same as a command.
struct AddOrder: Hashable, Sendable {
    enum Work: Hashable, Sendable {
        /// Absolute paths.
        case upload([[UInt8]], to: String)
        case download([String], into: [UInt8])
    }

    enum Start: String, Hashable, Sendable, CaseIterable {
        case now, held
    }

    var work: Work
    /// Empty: made from the sources.
    var name = ""
    var ifExists = ExistingFilePolicy.fail
    /// `nil`: the best that the server offers.
    var verify: VerificationWish?
    var followLinks = false
    /// Shell patterns.
    var include: [String] = []
    var exclude: [String] = []
    /// Bytes a second; `nil`: unlimited.
    var limit: RateLimit?
    var start = Start.now
    var priority = TransferPriority.normal
    /// Of the user that the URL names; never shown, and in no command.
    var password: String?

    init(_ work: Work) { self.work = work }

    /// The command that queues the same, safe to paste into a shell.
    /// - Parameter home: is written as `~`.
    func command(home: [UInt8]) -> [UInt8] {
        var words: [[UInt8]] = []
        func add(_ word: String) { words.append(ShellCommand.quoted(word)) }
        func option(_ name: String, _ value: String) {
            add(name)
            add(value)
        }
        add("martlet")
        switch work {
        case .upload: add("upload")
        case .download: add("download")
        }
        if !name.isEmpty { option("--name", name) }
        if ifExists != .fail { option("--if-exists", ifExists.rawValue) }
        if let verify { option("--verify", verify.rawValue) }
        if followLinks { add("--follow-links") }
        for pattern in include { option("--include", pattern) }
        for pattern in exclude { option("--exclude", pattern) }
        if let limit, limit.bytesPerSecond != nil { option("--limit", limit.written) }
        if priority != .normal { option("--priority", priority.rawValue) }
        if start == .held { add("--hold") }
        switch work {
        case .upload(let sources, let destination):
            words += sources.map { ShellCommand.quoted(path: $0, home: home) }
            add(Self.withoutPassword(destination))
        case .download(let urls, let folder):
            for url in urls { add(Self.withoutPassword(url)) }
            let slash: [UInt8] = folder.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
            words.append(ShellCommand.quoted(path: folder + slash, home: home))
        }
        return Array(words.joined(separator: [0x20]))
    }

    /// A URL with its user, for whom a password is asked.
    static func withoutPassword(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return url
        }
        return String(url[..<colon] + url[at...])
    }
}

/// Words for a POSIX shell.
enum ShellCommand {
    static func quoted(_ word: String) -> [UInt8] { quoted(Array(word.utf8)) }

    /// A path; what is below the home folder is written as `~/…`.
    static func quoted(path: [UInt8], home: [UInt8]) -> [UInt8] {
        let prefix = home + [UInt8(ascii: "/")]
        guard home.count > 1, path.starts(with: prefix) else { return quoted(path) }
        if path.count == prefix.count { return Array("~/".utf8) }
        return Array("~/".utf8) + quoted(Array(path.dropFirst(prefix.count)))
    }

    /// The word so that a shell reads exactly these bytes, and so that it is safe to be shown: bytes that cannot be
    /// shown are written as `$'\xNN'`, which bash, zsh, ksh and the POSIX of 2024 know.
    static func quoted(_ word: [UInt8]) -> [UInt8] {
        if !word.isEmpty, word.allSatisfy(isPlain) { return word }
        let isShowable = String(validating: word, as: UTF8.self).map { isSafe($0) } ?? false
        let quote = UInt8(ascii: "'")
        guard isShowable else {
            return Array("$'".utf8) + word.flatMap(escaped) + [quote]
        }
        return [quote] + word.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] } + [quote]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "%+,-./:=@_".utf8.contains(byte)
        }
    }

    /// Nothing in it that a screen would show otherwise than it is.
    private static func isSafe(_ text: String) -> Bool { SafeText(text, limit: 1 << 20).string == text }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): return [UInt8(ascii: "\\"), byte]
        case 0x20..<0x7F: return [byte]
        default:
            let digits = String(byte, radix: 16)
            return Array("\\x\(digits.count < 2 ? "0" : "")\(digits)".utf8)
        }
    }
}
