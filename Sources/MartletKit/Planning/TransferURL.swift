import Configuration
import TransferModel

/// A URL that a person typed, taken apart far enough to refuse what cannot be meant and to take the user out of it.
package struct TransferURL: Equatable, Sendable {
    package let scheme: TransferScheme
    /// Host and port as given.
    package let authority: String
    /// Begins with a slash, or is empty when the URL ends after the host.
    package let path: String
    /// With its question mark; empty when there is none.
    package let query: String
    package let user: String?
    package let password: String?
    /// A fragment was left out: whoever names a place by it may have meant a name with a # in it.
    package let hasFragment: Bool

    /// A URL with its user, for whom a password is asked.
    package static func withoutPassword(_ url: String) -> String {
        let url = PercentEncoding.ofMarks(in: url)
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return url
        }
        return String(url[..<colon] + url[at...])
    }

    /// The URL without user, password and fragment.
    package var text: String { "\(scheme.rawValue)://\(authority)\(path)\(query)" }

    /// Reads a URL; `place` names the operand in messages.
    package init(_ url: String, place: String) throws(QueueingFault) {
        let text = PercentEncoding.ofMarks(in: url)
        guard let colon = text.firstRange(of: "://"), !text[..<colon.lowerBound].contains(where: { ":@/".contains($0) })
        else { throw Self.withoutScheme(text, place: place) }
        let scheme = try Self.scheme(text[..<colon.lowerBound].lowercased(), place: place)
        guard !text.unicodeScalars.contains(where: { $0.value <= 32 || $0.value == 127 }) else {
            throw .usage("\(place): \"\(ShownAddress.of(text))\" has a blank in it", "write %20 for a space")
        }
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        hasFragment = rest.endIndex < text.endIndex
        // Only browsers copy fragments, and only those of the web.
        if hasFragment, !scheme.hasQuery { throw Self.hash(in: text, place: place) }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let tail = rest.dropFirst(authority.count)
        let (credentials, host) = Self.split(authority)
        guard Self.isHostAndPort(host) else {
            throw .usage("\(place): \"\(ShownAddress.of(text))\" has no usable host", "write https://HOST/PATH")
        }
        // A question mark in a path of SFTP, FTP or S3 is one.
        path = Self.encoded(String(scheme.hasQuery ? tail.prefix { $0 != "?" } : tail), scheme)
        query = scheme.hasQuery ? Self.encoded(String(tail.drop { $0 != "?" }), scheme) : ""
        guard Self.escapesAreWhole(path + query) else {
            throw .usage("\(place): \"\(ShownAddress.of(text))\" has a % without two digits", "write %25 for a %")
        }
        self.scheme = scheme
        self.authority = String(host)
        (user, password) = try Self.userAndPassword(credentials, place: place)
    }

    private static func scheme(_ name: String, place: String) throws(QueueingFault) -> TransferScheme {
        if let scheme = TransferScheme(rawValue: name) { return scheme }
        let known = TransferScheme.allCases.filter { !$0.rawValue.contains("+") }.map { "\($0.rawValue)://" }
        throw QueueingFault(
            .unsupported, "\(place): \(name):// is no protocol of Martlet",
            "use one of \(known.joined(separator: " "))")
    }

    package static func hash(in text: String, place: String) -> QueueingFault {
        .usage("\(place): \"\(ShownAddress.of(text))\" has a # in it, which ends an address", "write %23 for a #")
    }

    static func withoutScheme(_ text: String, place: String) -> QueueingFault {
        if let meant = meant(by: text) {
            let others = meant.hasPrefix("https") ? " (or http://, davs://, sftp:// ... if it speaks that)" : ""
            return .usage("\(place): \"\(text)\" does not say the protocol", "write \(meant)\(others)")
        }
        let unknown = QueueingFault.usage(
            "\(place): \"\(ShownAddress.of(text))\" is not a URL",
            "write https://HOST/PATH, or NAME:PATH of a destination")
        guard text.contains(":"), !text.hasPrefix("/") else { return unknown }
        let name = text.prefix { $0 != ":" }
        if let scheme = TransferScheme(rawValue: name.lowercased()) {
            let rest = text.dropFirst(name.count + 1).drop { $0 == "/" }
            let isPlain = !rest.isEmpty && !rest.contains { "@?#".contains($0) }
            return .usage(
                "\(place): after \(scheme.rawValue): a URL has two slashes",
                "write \(scheme.rawValue)://\(isPlain ? String(rest) : "HOST/PATH")")
        }
        return unknown
    }

    /// A user may have an @ in the password: the last one counts.
    private static func split(_ authority: Substring) -> (credentials: Substring?, host: Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        return (authority[..<at], authority[authority.index(after: at)...])
    }

    private static func isHostAndPort(_ text: Substring) -> Bool {
        var host = text
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]"), host[..<end].dropFirst().contains(":") else { return false }
            let port = host[host.index(after: end)...]
            return port.isEmpty || port.hasPrefix(":") && isPort(port.dropFirst())
        }
        if let colon = host.firstIndex(of: ":") {
            guard isPort(host[host.index(after: colon)...]) else { return false }
            host = host[..<colon]
        }
        return !host.isEmpty && !host.contains(where: { "[]<>\"\\^`{|}%".contains($0) })
    }

    static func isPort(_ text: Substring) -> Bool {
        guard let port = Int(text), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return false }
        return (1...65535).contains(port)
    }

    /// Bytes that a URL cannot have, percent-encoded; what is encoded stays.
    private static func encoded(_ text: String, _ scheme: TransferScheme) -> String {
        text.utf8.reduce(into: "") { result, byte in
            var isPlain = byte > 32 && byte < 127 && !"\"<>\\^`{|}".utf8.contains(byte)
            if byte == UInt8(ascii: "?"), !scheme.hasQuery { isPlain = false }
            result +=
                isPlain
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16).uppercased()
        }
    }

    private static func escapesAreWhole(_ text: String) -> Bool {
        text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy { piece in
            piece.prefix(2).count == 2 && piece.prefix(2).allSatisfy { $0.isASCII && $0.isHexDigit }
        }
    }

    private static func userAndPassword(_ text: Substring?, place: String) throws(QueueingFault) -> (String?, String?) {
        guard let text, !text.isEmpty else { return (nil, nil) }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts.map(decoded)
        guard let user = words[0], !words.contains(nil) else {
            throw .usage("\(place): user or password of the URL cannot be read", "percent-encode them, or use --user")
        }
        guard !words.contains(where: { $0?.hasControl == true }) else {
            throw .usage(
                "\(place): user or password of the URL has a control character in it (%0A is a line end)",
                "leave it out")
        }
        return (user, words.count > 1 ? words[1] : nil)
    }

    /// Percent-decoded; `nil` when that gives no text.
    private static func decoded(_ text: Substring) -> String? {
        guard PercentEncoding.isWhole(text) else { return nil }
        let bytes = PercentEncoding.decode(text)
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }
}
