package import TransferModel

/// The name, never the value, of a secret that `secrets.sqlite` should hold for a batch.
package enum KeptSecret: Hashable, Sendable {
    /// One of unknown kind, as earlier versions wrote it.
    case any
    /// A user with a password or a command for it, a netrc file, or keys of S3.
    case login
    /// The query of the URL that its uploads go to.
    case query
    /// A given header field, in small letters.
    case header(String)
    /// A field of a form.
    case field(String)
    /// A proxy that wants a user, by the variable's name.
    case proxy(String)

    /// As it is stored.
    var text: String {
        switch self {
        case .any: "any"
        case .login: "login"
        case .query: "query"
        case .header(let name): "header \(name)"
        case .field(let name): "field \(name)"
        case .proxy(let name): "proxy \(name)"
        }
    }

    /// `nil`: a later version's.
    init?(text: String) {
        let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("any", nil): self = .any
        case ("login", nil): self = .login
        case ("query", nil): self = .query
        case ("header", let name?): self = .header(name)
        case ("field", let name?): self = .field(name)
        case ("proxy", let name?): self = .proxy(name)
        default: return nil
        }
    }

    /// As a batch's row has it; empty: it keeps nothing, or nobody has looked yet.
    static func read(_ text: String?) -> Set<KeptSecret> {
        let names = text.flatMap { StoredJSON.value([String].self, $0) } ?? []
        return Set(names.compactMap { KeptSecret(text: $0) })
    }

    static func stored(_ kept: Set<KeptSecret>) throws -> String {
        try StoredJSON.text(kept.map(\.text).sorted())
    }
}

extension TransferSecrets {
    /// The names of all that it has.
    var kept: Set<KeptSecret> {
        Set(
            (source == .nothing ? [] : [.login]) + headers.map { .header($0.name.lowercased()) }
                + formFields.map { .field($0.name) } + proxies.keys.map { .proxy($0) })
    }
}

extension BatchRequest {
    /// The names of its secrets that stand in the secrets store alone, besides the queries of its downloads.
    var kept: Set<KeptSecret> {
        guard case .upload(_, let destination) = work, RemoteAddress(destination)?.query != nil else {
            return secrets.kept
        }
        return secrets.kept.union([.query])
    }
}

extension SecretStore {
    /// The names of what is kept for a batch.
    static func names(_ found: (secrets: TransferSecrets, destinationQuery: String?)?) -> Set<KeptSecret> {
        guard let found else { return [] }
        return found.secrets.kept.union(found.destinationQuery == nil ? [.any] : [.any, .query])
    }
}

// For messages about what was lost.
extension KeptSecret {
    /// `martlet set` can give it anew.
    package var isGivenAgain: Bool {
        switch self {
        case .any, .login, .header, .field: true
        case .query, .proxy: false
        }
    }

    /// "the login was lost with secrets.sqlite", of one or more.
    /// - Parameter owner: whose they are, to be named with them.
    package static func lostWords(_ lost: Set<KeptSecret>, of owner: BatchID? = nil) -> String {
        let words = lost.map { part in
            switch part {
            case .any: "the password, token or header fields"
            case .login: "the login"
            case .query: "the query of the address"
            case .header(let name): "the header field '\(name)'"
            case .field(let name): "the form field '\(name)'"
            case .proxy(let name): "the login of the proxy in \(name)"
            }
        }.sorted()
        let shown = words.prefix(4)
        return shown.joined(separator: ", ") + (words.count > 4 ? " and more" : "") + (owner.map { " of \($0)" } ?? "")
            + (words.count > 1 ? " were" : " was") + " lost with secrets.sqlite"
    }

    /// The options that give these again: "--user or --password-command, and --header".
    package static func options(_ lost: Set<KeptSecret>) -> String {
        let login = "--user or --password-command"
        if lost.contains(.any) { return "\(login), --header or --field, whichever it had" }
        var options: [String] = []
        if lost.contains(.login) { options.append(login) }
        if lost.contains(where: { if case .header = $0 { true } else { false } }) { options.append("--header") }
        if lost.contains(where: { if case .field = $0 { true } else { false } }) { options.append("--field") }
        return options.count > 1
            ? options.dropLast().joined(separator: ", ") + ", and " + (options.last ?? "") : options.first ?? ""
    }
}
