/// The source of what a batch shows to its servers: where several are given, the one that is asked.
package enum LoginSource: Hashable, Sendable {
    case nothing
    /// A name, and the password where that is given, too.
    case typed(user: String?, password: String?)
    /// A command prints the password.
    case command(String)
    case netrcFile(RawPath)
    /// Keys of S3.
    case keys(S3Keys)
    /// A program of these words prints keys of S3.
    case keyProgram([String])

    /// A server can tell by it who asks.
    package var showsWhoAsks: Bool {
        switch self {
        case .nothing: false
        case .typed(let user, _): user != nil
        case .command, .netrcFile, .keys, .keyProgram: true
        }
    }

    /// Nothing is missing: no password is to be typed, and none that is kept is to be added.
    package var isComplete: Bool {
        switch self {
        case .nothing: false
        case .typed(_, let password): password != nil
        case .command, .netrcFile, .keys, .keyProgram: true
        }
    }
}

extension TransferSecrets {
    package var source: LoginSource {
        if let words = s3Command, !words.isEmpty { return .keyProgram(words) }
        if let passwordCommand { return .command(passwordCommand) }
        if let netrcFile, password == nil { return .netrcFile(netrcFile) }
        // A password alone is nothing to those who ask for keys.
        if user != nil || password != nil && s3 == nil { return .typed(user: user, password: password) }
        return s3.map { .keys($0) } ?? .nothing
    }

    /// The reason why a netrc file and a program of keys do not go together.
    package static var oneIsAsked: String { "of a netrc file and a program that prints keys of S3 only one is asked" }

    /// True when a user, a password or a header field by which a server can tell who asks is among them: every server that the batch names
    /// would be shown it. A netrc file says itself to whom what is shown, and keys of S3 are shown to nobody.
    package var hasLogin: Bool {
        user != nil || password != nil || passwordCommand != nil || headers.contains(where: \.showsWhoAsks)
    }
}

extension HeaderField {
    /// Names the key by which a server knows a repeated request again.
    package var isIdempotencyKey: Bool { name.lowercased() == "idempotency-key" }

    /// A server can tell by it who asks.
    package var showsWhoAsks: Bool {
        let name = name.lowercased()
        if isIdempotencyKey || name.hasSuffix("author") { return false }
        return ["auth", "cookie", "token", "key"].contains { name.contains($0) }
    }
}
