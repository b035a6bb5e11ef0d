/// A failure as values: what happened, and what a person does about it. English for a place (a screen with its keys, a shell) is made
/// of it by `Wording`; `message` is the whole for who reads text alone.
package struct Finding: Codable, Hashable, Sendable {
    /// The event that was the failure, without an end mark. Harmless to print, and one line of a bounded length, as are all texts in here:
    /// it is stored with every file that fails so, and told with each of their rows.
    package var what: String { didSet { what = Self.line(what) } }
    /// The words of a library, the system or a program about it, which stand in parentheses. Harmless to print.
    package var aside: String? { didSet { aside = aside.map { Self.line($0) } } }
    /// `what` begins with the path of the file that it happened to, so it is true of no other file.
    package var isOfFile = false
    /// `nil`: nobody has to do anything, or it is in `what`, as where an older version wrote it.
    package var remedy: Remedy?

    package init(_ what: String, aside: String? = nil, isOfFile: Bool = false, _ remedy: Remedy? = nil) {
        (self.what, self.aside, self.isOfFile) = (Self.line(what), aside.map { Self.line($0) }, isOfFile)
        self.remedy = remedy?.bounded
    }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try object.decode(String.self, forKey: .what),
            aside: try object.decodeIfPresent(String.self, forKey: .aside),
            isOfFile: try object.decode(Bool.self, forKey: .isOfFile),
            try object.decodeIfPresent(Remedy.self, forKey: .remedy))
    }

    /// Bytes of UTF-8 of the longest text: the longest path there is, and what is said of it.
    package static let longest = 6000

    /// A text as one line, without the middle of what is longer than `longest`: its subject and its end stay.
    static func line(_ text: String, longest: Int = longest) -> String {
        let isLine = !text.utf8.contains { $0 == 10 || $0 == 13 }
        if isLine, text.utf8.count <= longest { return text }
        let bytes = text.utf8.map { $0 == 10 || $0 == 13 ? UInt8(ascii: " ") : $0 }
        guard bytes.count > longest else { return String(decoding: bytes, as: UTF8.self) }
        let isInside = { (byte: UInt8) in byte & 0b1100_0000 == 0b1000_0000 }
        let half = (longest - 3) / 2
        // No character is cut in two.
        let head = bytes[..<(bytes[...half].lastIndex { !isInside($0) } ?? 0)]
        let tail = bytes.suffix(half).drop(while: isInside)
        return String(decoding: head, as: UTF8.self) + "..." + String(decoding: tail, as: UTF8.self)
    }

    /// The event with the words of a library behind it.
    package var happening: String { what + (aside.map { " (\($0))" } ?? "") }

    /// The event without the words of a library; `nil`: there are none.
    package var brief: String? { aside.map { _ in what } }

    /// `nas answered 404 Not Found: check the address`
    package var message: String { message(\.text) }

    /// The message with the command that mends it in other words.
    package func message(_ form: (Remedy.Command) -> String) -> String { joined(to: remedy?.text(form) ?? "") }

    /// The message without the promise to try again, for where that is said together with its time.
    package var messageWithoutPromise: String { joined(to: advice) }

    /// The remedy in words, without the promise to try again; empty where nothing is to be done.
    package var advice: String { remedy?.advice ?? "" }

    /// As it is told beside its message; `nil`: the message is all that is known.
    package var told: Finding? { self == Finding(what) ? nil : self }

    private func joined(to advice: String) -> String { advice.isEmpty ? happening : "\(happening): \(advice)" }

    private enum CodingKeys: String, CodingKey { case what, aside, isOfFile = "ofFile", remedy }
}

extension KeyedDecodingContainer {
    /// `nil`, too, for what a newer version says in values that are not known here: it is in the message beside it.
    func decodeIfPresent(_ type: Finding.Type, forKey key: Key) throws -> Finding? { try? decode(type, forKey: key) }

    /// The same.
    package func decodeIfPresent(_ type: Advice.Type, forKey key: Key) throws -> Advice? {
        try? decode(type, forKey: key)
    }
}

/// The cure of a failure as a value: what a person does, and what comes after that.
package struct Remedy: Codable, Hashable, Sendable {
    /// A command that mends it: its words for a person depend on the place and on the batch.
    package enum Command: String, Codable, Sendable {
        /// To replace what is there (`--if-exists replace`).
        case replace
        /// To trust the authority of the server's certificate (`--ca`).
        case authority
        /// To accept another key of the server (`--pin`).
        case pin
        /// To read the log of the engine.
        case log
        /// To give the server another login, as its protocol knows one.
        case login
    }

    package enum Next: String, Codable, Sendable {
        /// A retry, of which the message says nothing.
        case retry
        /// A retry: the message ends with `, then retry`.
        case thenRetry
        /// A retry: the message ends with ` and retry`.
        case andRetry
        /// Its own words say when to retry.
        case retrySaid
        /// Its own words say what else to queue: trying the same again mends nothing.
        case queued
        /// Nobody has to do anything: the message promises that it is tried again.
        case again
        /// Its own words say what is done by itself.
        case automatic
    }

    /// An imperative without an end mark; may be empty.
    package var words: String
    package var command: Command?
    /// The words behind the command.
    package var rest: String
    package var next: Next

    private init(_ words: String, _ command: Command? = nil, _ rest: String = "", next: Next) {
        (self.words, self.command, self.rest, self.next) = (words, command, rest, next)
    }

    /// The same in one line of a bounded length.
    fileprivate var bounded: Remedy { Remedy(Finding.line(words), command, Finding.line(rest), next: next) }

    package static func step(_ words: String) -> Remedy { Remedy(words, next: .retry) }
    /// `WORDS, then retry`
    package static func thenRetry(_ words: String) -> Remedy { Remedy(words, next: .thenRetry) }
    /// `WORDS and retry`
    package static func andRetry(_ words: String) -> Remedy { Remedy(words, next: .andRetry) }
    /// The words say when to retry.
    package static func retry(_ words: String = "retry") -> Remedy { Remedy(words, next: .retrySaid) }
    /// The words say what to queue instead.
    package static func queued(_ words: String) -> Remedy { Remedy(words, next: .queued) }
    package static let again = Remedy("", next: .again)
    /// It is tried again by itself; a person may do something all the same.
    package static func again(_ words: String) -> Remedy { Remedy(words, next: .again) }
    /// The words say what Martlet does.
    package static func automatic(_ words: String) -> Remedy { Remedy(words, next: .automatic) }
    /// Replacing what is there, between other words.
    package static func replacing(_ words: String = "", _ rest: String = "", next: Next = .retry) -> Remedy {
        Remedy(words, .replace, rest, next: next)
    }
    /// Naming the authority that signed, after a check.
    package static func authority(_ words: String) -> Remedy { Remedy(words, .authority, next: .retry) }
    /// Naming the new key, after a check.
    package static func pin(_ words: String) -> Remedy { Remedy(words, .pin, next: .retry) }
    /// Reading the log, behind other words.
    package static func log(_ words: String) -> Remedy { Remedy(words, .log, next: .retry) }
    /// Giving another login, behind other words: the server has refused the one that it was shown.
    package static func login(_ words: String = "") -> Remedy { Remedy(words, .login, next: .retry) }
    /// Another name for a file whose name a server cannot keep.
    package static let rename = Remedy.queued("rename the file (convmv does it for whole trees), then queue it again")

    /// Another name for a file where a folder has its own.
    package static let anotherName = Remedy.queued(
        "move that away and retry, or queue it again under another name")

    private static let promise = "Martlet tries again by itself"

    /// The same where nobody tries again by himself; `nil`: there is nothing else to do.
    var withoutPromise: Remedy? { words.isEmpty ? nil : .step(words) }

    /// All of it, as the second half of a message.
    func text(_ form: (Command) -> String) -> String {
        let advice = advice(form)
        return next == .again ? advice + (advice.isEmpty ? "" : "; ") + Self.promise : advice
    }

    /// The same without the promise to try again.
    package var advice: String { advice(\.text) }

    private func advice(_ form: (Command) -> String) -> String {
        let end =
            switch next {
            case .thenRetry: ", then retry"
            case .andRetry: " and retry"
            case .retry, .retrySaid, .queued, .again, .automatic: ""
            }
        return words + (command.map(form) ?? "") + rest + end
    }
}

extension Remedy.Command {
    /// The command where no batch is named, as a part of the sentence.
    package var text: String {
        switch self {
        case .replace: "set --if-exists replace for its batch"
        case .authority: ", or name its authority with --ca"
        case .pin: ", and name the new key with --pin"
        case .log: "martlet log"
        case .login: "give it a login that it takes, with martlet set"
        }
    }
}
