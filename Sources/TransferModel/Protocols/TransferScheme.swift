/// A scheme of URLs that can be uploaded to or downloaded from, for fronts, queue and engine. `ProtocolFacts.all` has the one list: nothing
/// names a scheme, everything asks it.
public struct TransferScheme: RawRepresentable, Sendable, Hashable, CaseIterable {
    /// As it stands in a URL, in lower case.
    public let rawValue: String
    /// The port when the URL names none; `nil` where the URL names no host.
    public let defaultPort: Int?
    /// `http` or `https` for what goes over it by the URL's own host.
    public let overHTTP: String?
    /// The protocol that it means.
    package let facts: ProtocolFacts

    public static let allCases: [TransferScheme] = ProtocolFacts.all.flatMap { facts in
        facts.spellings.map { TransferScheme($0, facts) }
    }

    /// Those that need no more words in a list than their own: they name a protocol and a host, and the login is a person's there. The last
    /// of all protocols comes first, as the example.
    package static let plain: [TransferScheme] = ProtocolFacts.all.reversed().filter {
        !$0.isNegotiated && $0.login.source == nil
    }.flatMap { facts in
        facts.spellings.filter { !$0.name.contains("+") }.map { TransferScheme($0, facts) }
    }

    public init?(rawValue: String) {
        guard let scheme = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = scheme
    }

    /// The scheme that a URL begins with, whatever its case; `nil`: none of these.
    public init?(of url: some StringProtocol) {
        guard let end = url.firstIndex(of: ":") else { return nil }
        self.init(rawValue: url[..<end].lowercased())
    }

    private init(_ spelling: ProtocolFacts.Spelling, _ facts: ProtocolFacts) {
        (rawValue, defaultPort, overHTTP) = (spelling.name, spelling.port, spelling.overHTTP)
        self.facts = facts
    }

    public static func == (one: TransferScheme, other: TransferScheme) -> Bool { one.rawValue == other.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The name of a URL's server: its host, and the port where that is not the scheme's own; no user. A bucket is no host, and keeps
    /// its scheme. Empty for what is no URL.
    package static func server(of url: some StringProtocol) -> String {
        guard let mark = url.firstRange(of: "://") else { return "" }
        let authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        let place = (authority.split(separator: "@").last ?? "").lowercased()
        let scheme = TransferScheme(of: url)
        if let scheme, scheme.facts.urlNamesNoHost { return "\(scheme.rawValue)://" + place }
        guard let port = scheme?.defaultPort, place.hasSuffix(":\(port)") else { return place }
        return String(place.dropLast(":\(port)".count))
    }

    /// True when files can be fetched by it; the resumable-upload protocols only send.
    public var downloads: Bool { facts.downloads != .no }

    /// True when its servers may be asked to list a folder.
    public var lists: Bool { facts.lists != nil }

    /// True when the URL's path may carry a query.
    public var hasQuery: Bool { overHTTP != nil }
}
