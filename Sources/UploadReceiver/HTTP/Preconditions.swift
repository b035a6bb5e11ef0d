/// The conditions of a request, as RFC 9110 section 13 has them.
struct Preconditions: Equatable, Sendable {
    var ifMatch: TagCondition?
    var ifNoneMatch: TagCondition?
    var ifModifiedSince: HTTPDate?
    var ifUnmodifiedSince: HTTPDate?

    /// No conditions.
    init() {}

    /// Reads the fields. A tag condition that cannot be read is an error (`nil`), because ignoring it could overwrite
    /// what it was meant to protect; a date that cannot be read is ignored, as RFC 9110 asks.
    init?(_ fields: RequestFields) {
        if let field = fields["if-match"] {
            guard let condition = TagCondition(field: field) else { return nil }
            ifMatch = condition
        }
        if let field = fields["if-none-match"] {
            guard let condition = TagCondition(field: field) else { return nil }
            ifNoneMatch = condition
        }
        ifModifiedSince = fields["if-modified-since"].flatMap { HTTPDate(field: $0) }
        ifUnmodifiedSince = fields["if-unmodified-since"].flatMap { HTTPDate(field: $0) }
    }

    /// Never replaces anything: `If-None-Match: *`.
    static let absence: Preconditions = {
        var conditions = Preconditions()
        conditions.ifNoneMatch = .any
        return conditions
    }()

    /// True when the request sets no condition on a file that may exist.
    var isEmpty: Bool { self == Preconditions() }

    /// The fields that `init` reads, as they are stored.
    static let fieldNames = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]

    /// The fields from which `init` would read these conditions.
    var fields: [(name: String, value: String)] {
        let values = [ifMatch?.field, ifNoneMatch?.field, ifModifiedSince?.field, ifUnmodifiedSince?.field]
        return zip(Self.fieldNames, values).compactMap { name, value in value.map { (name, $0) } }
    }

    /// True when the file must not exist yet: `If-None-Match: *`.
    var demandsAbsence: Bool { ifNoneMatch == .any }

    /// Evaluates the conditions in the order of RFC 9110 section 13.2.2 against the file there is, if there is one.
    func outcome(of existing: FileFacts?, isRead: Bool) -> Outcome {
        if let ifMatch {
            if !Self.matches(ifMatch, existing, by: { $0.isIdentical(to: $1) }) { return .failed }
        } else if let limit = ifUnmodifiedSince, let existing, existing.modified > limit {
            return .failed
        }
        if let ifNoneMatch {
            if Self.matches(ifNoneMatch, existing, by: { $0.isEquivalent(to: $1) }) {
                return isRead ? .notModified : .failed
            }
        } else if isRead, let since = ifModifiedSince, let existing, existing.modified <= since {
            return .notModified
        }
        return .met
    }

    enum Outcome: Equatable, Sendable {
        case met
        /// 304: the client has this version.
        case notModified
        /// 412.
        case failed
    }

    private static func matches(
        _ condition: TagCondition, _ existing: FileFacts?, by agree: (EntityTag, EntityTag) -> Bool
    ) -> Bool {
        guard let existing else { return false }
        switch condition {
        case .any: return true
        case .tags(let tags):
            let tag = existing.tag
            return tags.contains { agree($0, tag) }
        }
    }
}

/// `If-Range`: whether the range of a request still means the file that the client knows (RFC 9110 section 13.1.5).
enum RangeCondition {
    /// A strong tag that agrees, or a date that is exactly the file's; anything else means the whole file.
    static func holds(_ field: String?, for facts: FileFacts) -> Bool {
        guard let field else { return true }
        if let tag = EntityTag(field: field) { return tag.isIdentical(to: facts.tag) }
        return HTTPDate(field: field) == facts.modified
    }
}
