import Digests

/// An entity tag as it stands in a field (RFC 9110 section 8.8.3).
struct EntityTag: Equatable, Sendable {
    let isWeak: Bool
    /// The text between the quotes.
    let opaque: String

    init(strong opaque: String) {
        isWeak = false
        self.opaque = opaque
    }

    /// Reads `"…"` or `W/"…"`.
    init?(field: some StringProtocol) {
        var rest = trimmed(field)
        isWeak = rest.hasPrefix("W/")
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\"") else { return nil }
        opaque = String(rest.dropFirst().dropLast())
        guard !opaque.utf8.contains(UInt8(ascii: "\"")) else { return nil }
    }

    var field: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Strong comparison: both strong and the same.
    func isIdentical(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Weak comparison: the same, weak or strong.
    func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}

/// `If-Match` or `If-None-Match`: any version at all, or one of these.
enum TagCondition: Equatable, Sendable {
    case any
    case tags([EntityTag])

    /// `nil` when the field is neither `*` nor a list of tags.
    init?(field: String) {
        if trimmed(field) == "*" {
            self = .any
            return
        }
        let members = listMembers(field)
        let tags = members.compactMap { EntityTag(field: $0) }
        guard !tags.isEmpty, tags.count == members.count else { return nil }
        self = .tags(tags)
    }

    var field: String {
        switch self {
        case .any: "*"
        case .tags(let tags): tags.map(\.field).joined(separator: ", ")
        }
    }
}

/// The facts that distinguish one version of a file from another.
struct FileFacts: Hashable, Sendable {
    let inode: UInt64
    let size: UInt64
    /// The time of the last change, in nanoseconds since 1970. The receiver sets it on every file that it publishes
    /// (see `PublicationClock`), never twice the same, so a replaced file of the same length has another tag.
    let modifiedNanoseconds: Int64

    /// A strong tag: a digest of inode, time of change and size, so that it tells nothing about the machine.
    var tag: EntityTag {
        let facts = "\(inode) \(modifiedNanoseconds) \(size)"
        return EntityTag(strong: Hexadecimal.encode(DigestAlgorithm.sha256.digest(of: facts.utf8).bytes.prefix(12)))
    }

    var modified: HTTPDate {
        let (seconds, rest) = modifiedNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return HTTPDate(secondsSince1970: rest < 0 ? seconds - 1 : seconds)
    }
}
