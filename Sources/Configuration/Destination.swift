/// A configured server: one section of `destinations.conf`, named by it. Nothing secret stands in it.
package struct Destination: Equatable, Sendable {
    /// The text before the colon in `NAME:path`.
    package var name: String
    /// The URL below which the paths are, without user and password.
    package var url: String
    package var user: String?
    package var login = Login.none
    package var passwordCommand: String?
    /// Absolute, or from `~/`.
    package var netrcFile: String?
    /// The profile in AWS's configuration files.
    package var profile: String?
    package var endpoint: String?
    package var region: String?
    package var authoritiesFile: String?
    package var pin: String?
    package var insecure = false
    package var sshCommand: String?
    package var uploadBy: String?
    package var chunk: ByteSize?
    package var limit: RateLimit?
    package var ifExists: String?
    package var verify: String?

    /// The place of the password or the keys.
    package enum Login: String, Equatable, Sendable, CaseIterable {
        /// Nowhere, or where the other keys say.
        case none
        /// The engine keeps them in its store of secrets, under the destination's name.
        case kept
    }

    /// It says where a password or keys come from each time.
    package var namesLogin: Bool { passwordCommand != nil || netrcFile != nil || profile != nil }

    /// Returns true when a command's program is a path from the current directory, such as `./pw`: the engine runs commands in `/`.
    package static func isRelative(command: String) -> Bool {
        let program = command.drop { " \t".contains($0) }.prefix { !" \t\n;|&<>()".contains($0) }
        if program.hasPrefix("/") || !program.contains("/") { return false }
        // A shell makes something else of these.
        return !program.contains { "$~='\"`\\*?[{".contains($0) }
    }

    package init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    /// 1 to 64 letters, digits, dots, dashes and underscores; the first a letter or a digit. Names are told from the
    /// schemes of URLs by what follows the colon.
    package static func isName(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, (1...64).contains(text.utf8.count) else { return false }
        return first.isLetterOrDigit && text.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
    }

    /// `NAME:path` taken apart; `nil` when it is none. A URL is none: `//` follows its colon.
    package static func split(_ text: String) -> (name: String, path: String)? {
        guard let colon = text.firstIndex(of: ":"), isName(text[..<colon]) else { return nil }
        let path = text[text.index(after: colon)...]
        return path.hasPrefix("//") ? nil : (String(text[..<colon]), String(path))
    }
}

/// One key of a destination's section.
package struct DestinationKey: Sendable {
    package let name: String
    /// Continues "give …" in the message about a bad value.
    package let allowed: String
    let read: @Sendable (String, inout Destination) -> Bool
    let written: @Sendable (Destination) -> String?

    private init(
        _ name: String, _ allowed: String, _ place: any WritableKeyPath<Destination, String?> & Sendable,
        isAllowed: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }
    ) {
        self.name = name
        self.allowed = allowed
        read = { text, destination in
            guard isAllowed(text) else { return false }
            destination[keyPath: place] = text
            return true
        }
        written = { $0[keyPath: place] }
    }

    private init<Value: WrittenValue>(
        _ name: String, _ allowed: String, _ place: any WritableKeyPath<Destination, Value?> & Sendable,
        value: @escaping @Sendable (String) -> Value?
    ) {
        self.name = name
        self.allowed = allowed
        read = { text, destination in
            guard let value = value(text) else { return false }
            destination[keyPath: place] = value
            return true
        }
        written = { $0[keyPath: place]?.written }
    }

    private init(
        _ name: String, _ allowed: String, read: @escaping @Sendable (String, inout Destination) -> Bool,
        written: @escaping @Sendable (Destination) -> String?
    ) {
        self.name = name
        self.allowed = allowed
        self.read = read
        self.written = written
    }

    private static func choice(
        _ name: String, _ words: [String], _ place: any WritableKeyPath<Destination, String?> & Sendable
    ) -> DestinationKey {
        DestinationKey(name, "one of \(words.joined(separator: " "))", place) { words.contains($0) }
    }

    /// All keys, in the order in which they are written. They are named as the options of the commands are.
    package static let all: [DestinationKey] = [
        DestinationKey(
            "url", "a URL such as sftp://nas.example/photos/",
            read: { text, destination in
                destination.url = text
                return text.contains("://")
            },
            written: { $0.url }),
        DestinationKey("user", "a name without control characters", \.user) { text in
            !text.isEmpty && !text.utf8.contains { $0 < 32 || $0 == 127 }
        },
        DestinationKey(
            "login", "kept: the engine has the password, see martlet destination add",
            read: { text, destination in
                Destination.Login(rawValue: text).map { destination.login = $0 } != nil
            }, written: { $0.login == .none ? nil : $0.login.rawValue }),
        DestinationKey("password-command", "a command whose first line is the password", \.passwordCommand),
        DestinationKey("netrc", "an absolute path, or one from ~/", \.netrcFile) {
            $0.hasPrefix("/") || $0.hasPrefix("~/")
        },
        DestinationKey("profile", "a profile of ~/.aws/credentials", \.profile),
        DestinationKey("endpoint", "the URL of an S3 service", \.endpoint) {
            $0.hasPrefix("https://") || $0.hasPrefix("http://")
        },
        DestinationKey("region", "an S3 region such as eu-central-1", \.region),
        DestinationKey("ca", "an absolute path, or one from ~/", \.authoritiesFile) {
            $0.hasPrefix("/") || $0.hasPrefix("~/")
        },
        DestinationKey("pin", "sha256// and a base64 digest", \.pin) { $0.hasPrefix("sha256//") },
        DestinationKey(
            "insecure", "on or off",
            read: { text, destination in
                guard text == "on" || text == "off" else { return false }
                destination.insecure = text == "on"
                return true
            }, written: { $0.insecure ? "on" : nil }),
        DestinationKey("ssh-command", "a command such as ssh -i KEY", \.sshCommand),
        choice("protocol", ["tus", "ietf", "put", "post", "form"], \.uploadBy),
        DestinationKey("chunk", "a size such as 8M", \.chunk) { ByteSize($0) },
        DestinationKey("limit", "bytes a second such as 8M, or off", \.limit) { RateLimit($0) },
        choice("if-exists", ["fail", "skip", "replace"], \.ifExists),
        choice("verify", ["none", "size", "digest"], \.verify),
    ]
}
