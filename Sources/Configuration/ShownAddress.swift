/// A word that may be an address, as a message may repeat it: what may be a password or a token of it is left out.
///
/// A word can be shown whole when nothing in it can be user info or a query. Of others the scheme stays, and the host
/// where it is sure which it is: `https://ana:pa/ss@host/` has its password in what looks like host and path.
package enum ShownAddress {
    /// Stands for what is left out.
    package static let mark = "..."

    /// Everything but what may be secret; for messages about words that cannot be meant.
    package static func of(_ text: String) -> String {
        // With a mark behind it a separator is another `Character`, and everybody else still reads a separator.
        let isHidden = text.contains { $0.utf8.count > 1 && $0.utf8.first.map(":/?#@".utf8.contains) ?? false }
        guard !isHidden else { return mark }
        guard let colon = text.firstRange(of: "://") else { return withoutScheme(text) }
        guard isScheme(text[..<colon.lowerBound]) else { return mark }
        let scheme = String(text[..<colon.upperBound])
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let tail = rest[authority.endIndex...]
        guard !tail.contains("@") else { return scheme + mark }
        guard let at = authority.lastIndex(of: "@") else {
            guard isHostAndPort(authority) else { return scheme + mark }
            let path = tail.prefix { $0 != "?" }
            return scheme + String(authority + path) + (path.endIndex == tail.endIndex ? "" : "?" + mark)
        }
        let host = authority[authority.index(after: at)...]
        guard isHostAndPort(host) else { return scheme + mark }
        return scheme + String(host) + (tail.count > 1 ? "/" + mark : String(tail))
    }

    /// `ana:geheim@host/x?token=…`, a URL whose scheme is missing; or a path, if it begins like one.
    private static func withoutScheme(_ text: String) -> String {
        let beginnings = ["/", "./", "../", "~"]
        if !text.hasPrefix("//"), beginnings.contains(where: { text.hasPrefix($0) }) { return text }
        if let at = text.lastIndex(of: "@"), text[..<at].contains(":") { return mark }
        guard let query = text.firstIndex(of: "?") else { return text }
        return text[..<query] + "?" + mark
    }

    private static func isScheme(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }

    /// A colon that no port follows may be the one in front of a password.
    private static func isHostAndPort(_ text: Substring) -> Bool {
        let name = text.hasPrefix("[") ? text.drop { $0 != "]" }.dropFirst() : text.drop { $0 != ":" }
        return name.isEmpty || (name.hasPrefix(":") && name.dropFirst().utf8.allSatisfy { (48...57).contains($0) })
    }

}

extension UInt8 {
    /// True for an ASCII letter or digit.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
