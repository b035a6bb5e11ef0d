import TransferModel

/// A password that a person has to type. The user's name may be anybody's text, as in a link that somebody gave them, and may be written like
/// a sentence of ours: in a question the server comes before it.
package struct LoginQuestion: Hashable, Sendable {
    /// As `TransferScheme.server` names it.
    package let server: String
    package let user: String

    package init(user: String, at url: TransferURL) {
        (self.user, server) = (user, TransferScheme.server(of: url.text))
    }

    /// The question for a terminal. - Parameter secret: its word for what is to be typed.
    package func prompt(_ secret: String = "Password") -> String { "\(secret) for \(words): " }

    /// "SERVER, user NAME", NAME cut to 60 characters: a longer one would push the server off a terminal.
    package var words: String {
        let name = user.split(whereSeparator: \.isWhitespace).joined(separator: " ").unicodeScalars
        return "\(server), user \(name.count > 60 ? "\(String(name.prefix(57)))..." : String(name))"
    }
}
