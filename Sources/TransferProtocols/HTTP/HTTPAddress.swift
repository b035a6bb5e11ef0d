import DisplayText
import TransferModel

/// An `http` or `https` URL taken apart. Carries no user info; a fragment is dropped.
package struct HTTPAddress: Hashable, Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// Lower case; an IPv6 address in its brackets.
    package let host: String
    /// The scheme's own when the URL names none.
    package let port: Int
    /// Path and query, percent-encoded, beginning with a slash.
    package let target: String
    /// Scheme, host and port, the usual port left out: what credentials are meant for.
    package let origin: String
    /// A server gave it for an upload: whoever knows it may write there, so that its path is in no message, log or row.
    package private(set) var isSecret = false

    /// Bytes of a URL: a destination, and below it the longest path that a file can have, each byte encoded.
    private static let longest = 32 << 10

    /// `nil` for another scheme, no host, a bad port, user info, a character that no URL holds, or one that is too long.
    package init?(_ url: String) {
        guard url.utf8.count <= Self.longest else { return nil }
        let text = PercentEncoding.ofMarks(in: url)
        guard !text.utf8.contains(where: { $0 <= 32 || $0 == 127 || $0 == UInt8(ascii: "\\") }),
            let colon = text.utf8.firstRange(of: "://".utf8)
        else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) ?? rest.endIndex
        guard let (host, port) = Self.split(authority: rest[..<end], scheme: scheme) else { return nil }
        self.init(scheme: scheme, host: host, port: port, target: String(rest[end...]))
    }

    private init(scheme: String, host: String, port: Int, target: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        let visible = target.prefix { $0 != "#" }
        self.target = visible.first == "/" ? String(visible) : "/" + visible
        let isUsual = port == (scheme == "https" ? 443 : 80)
        origin = isUsual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    /// The same server, another path and query; it begins with a slash and is percent-encoded.
    init(_ server: HTTPAddress, target: String) {
        scheme = server.scheme
        host = server.host
        port = server.port
        origin = server.origin
        isSecret = server.isSecret
        self.target = target
    }

    /// Compares origin and target; `isSecret` does not count.
    package static func == (one: HTTPAddress, other: HTTPAddress) -> Bool {
        one.origin == other.origin && one.target == other.target
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(target)
    }

    /// The same address, of an upload.
    var asSecret: HTTPAddress {
        var address = self
        address.isSecret = true
        return address
    }

    private static func split(authority: Substring, scheme: String) -> (String, Int)? {
        guard !authority.contains("@") else { return nil }
        let bracket = authority.lastIndex(of: "]")
        let colon = authority.lastIndex(of: ":").flatMap { colon in
            bracket.map { $0 < colon } ?? true ? colon : nil
        }
        let host = authority[..<(colon ?? authority.endIndex)].lowercased()
        guard !host.isEmpty, bracket != nil || !host.contains(where: { ":%".contains($0) }) else { return nil }
        let digits = colon.map { authority[authority.index(after: $0)...] } ?? ""
        if digits.isEmpty { return (host, scheme == "https" ? 443 : 80) }
        guard let port = Int(digits), (1...65535).contains(port) else { return nil }
        return (host, port)
    }

    /// The server's name in messages: the host, and the port where it is not the scheme's own.
    package var server: String { String(origin.dropFirst(scheme.count + 3)) }

    /// The URL as a request needs it.
    package var text: String { origin + target }

    /// Without what may be secret.
    package var harmless: String { origin + harmlessPath }

    /// The path for a message: without the query, which may be secret; all of an upload's is.
    package var harmlessPath: String { isSecret ? "/..." : String(target.prefix { $0 != "?" }) }

    /// The last segment of the path, percent-decoded; empty after a slash.
    package var lastSegment: [UInt8] {
        let path = target.prefix { $0 != "?" }
        return PercentEncoding.decode(path.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
    }

    /// A reference as some servers write it in `Location`, with raw blanks: they stand for `%20`, as browsers take them.
    static func encodingBlanks(_ reference: String) -> String {
        String(peer: reference.utf8.flatMap { $0 == 32 ? Array("%20".utf8) : [$0] })
    }

    /// The most bytes of a `Location`, and of where it leads: as of the URLs that a person gives. Addresses of uploads are kept for each file.
    static let longestLocation = 8192

    /// The address that a `Location` means from here (RFC 3986 section 5.2); `nil` when it leaves http(s), is malformed or too long.
    package func resolving(_ location: String) -> HTTPAddress? {
        guard let address = resolved(location), address.text.utf8.count <= Self.longestLocation else { return nil }
        return isSecret ? address.asSecret : address
    }

    private func resolved(_ location: String) -> HTTPAddress? {
        if location.utf8.count > Self.longestLocation { return nil }
        let location = PercentEncoding.ofMarks(in: location)
        if let absolute = HTTPAddress(location) { return absolute }
        let isForbidden = { (byte: UInt8) in byte <= 32 || byte == 127 || byte == UInt8(ascii: "\\") }
        guard !location.isEmpty, !location.utf8.contains(where: isForbidden) else { return nil }
        if location.hasPrefix("//") { return HTTPAddress(scheme + ":" + location) }
        if let colon = location.firstIndex(of: ":"),
            !location[..<colon].contains(where: { $0 == "/" || $0 == "?" || $0 == "#" })
        {
            return nil
        }
        let path = target.prefix { $0 != "?" }
        let reference: String
        switch location.first {
        case "/": reference = location
        case "?": reference = path + location
        case "#": reference = target
        default: reference = path[...(path.lastIndex(of: "/") ?? path.startIndex)] + location
        }
        return HTTPAddress(scheme: scheme, host: host, port: port, target: Self.withoutDots(reference))
    }

    /// RFC 3986 section 5.2.4 for the path; query and fragment stay.
    private static func withoutDots(_ reference: String) -> String {
        let path = reference.prefix { $0 != "?" && $0 != "#" }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + reference[path.endIndex...]
    }
}
