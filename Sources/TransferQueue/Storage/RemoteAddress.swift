import TransferModel

/// A URL taken apart as far as the queue needs it: where it leads, and what of it may be secret.
struct RemoteAddress: Hashable {
    /// `https://host:port`: lower case, the port always there when the scheme has one.
    let origin: String
    /// The URL without user info, query and fragment.
    let plain: String
    /// Without `?`. May be secret.
    let query: String?
    /// Last segment of the path, percent-encoding undone; empty when the path ends in a slash.
    let lastSegment: [UInt8]

    /// `nil`: not an absolute URL with a host, or one with user info, which does not belong here.
    init?(_ url: String) {
        let text = PercentEncoding.ofMarks(in: url)
        guard let colon = text.firstRange(of: "://"), !text.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else {
            return nil
        }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard let first = scheme.utf8.first, (97...122).contains(first),
            scheme.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        let withoutFragment = text[colon.upperBound...].prefix { $0 != "#" }
        let beforeQuery = withoutFragment.prefix { $0 != "?" }
        query =
            beforeQuery.endIndex == withoutFragment.endIndex
            ? nil : String(withoutFragment[beforeQuery.endIndex...].dropFirst())
        let authority = beforeQuery.prefix { $0 != "/" }
        guard !authority.isEmpty, !authority.contains("@"), let place = Self.hostAndPort(authority, scheme) else {
            return nil
        }
        origin = scheme + "://" + place
        plain = String(text[..<colon.upperBound]) + beforeQuery
        let path = beforeQuery[authority.endIndex...]
        lastSegment = PercentEncoding.decode(path.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
    }

    private static func hostAndPort(_ authority: Substring, _ scheme: String) -> String? {
        // An address in brackets has colons of its own.
        let hostEnd = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
        let host = authority[..<(hostEnd ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        let rest = authority[host.endIndex...]
        guard !host.isEmpty, host != "[]", rest.isEmpty || rest.hasPrefix(":") else { return nil }
        if rest.count > 1 {
            guard let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
            return host.lowercased() + ":\(port)"
        }
        return host.lowercased() + (TransferScheme(rawValue: scheme)?.defaultPort.map { ":\($0)" } ?? "")
    }
}
