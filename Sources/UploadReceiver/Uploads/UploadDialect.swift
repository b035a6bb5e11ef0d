/// The protocol in which a client speaks about its upload.
enum UploadDialect: Equatable, Sendable {
    /// tus 1.0.0.
    case tus
    /// "Resumable Uploads for HTTP" of the IETF, in one of its versions.
    case ietf(InteropVersion)
}

/// The versions of the IETF's drafts that are told apart by `Upload-Draft-Interop-Version`.
enum InteropVersion: Int, CaseIterable, Comparable, Sendable {
    /// draft-01: `Upload-Incomplete`, appends answered 201.
    case three = 3
    /// draft-03: `Upload-Complete`, progress by 104.
    case five = 5
    /// draft-04, draft-05: `application/partial-upload`, `Upload-Limit` with `expires`, problem types.
    case six = 6
    /// draft-09 to draft-12: limits are announced, with `max-age`.
    case eight = 8

    static func < (one: InteropVersion, other: InteropVersion) -> Bool { one.rawValue < other.rawValue }

    /// The field that says whether an upload is complete, as this version writes it.
    func completeness(_ isComplete: Bool) -> Answer.Field {
        self == .three
            ? Answer.Field(name: "Upload-Incomplete", value: isComplete ? "?0" : "?1")
            : Answer.Field(name: "Upload-Complete", value: isComplete ? "?1" : "?0")
    }

    /// True when 104 may carry an `Upload-Offset`.
    var hasProgress: Bool { self >= .five }
    /// True when an append must say `application/partial-upload`.
    var demandsPartialUpload: Bool { self >= .six }
    /// The status that answers an append that is not the last.
    var appendStatus: Status { self >= .six ? .noContent : .created }
}

/// The protocol that a request names.
enum SpokenDialect: Equatable, Sendable {
    /// Neither: plain HTTP, as far as the fields go.
    case none
    case known(UploadDialect)
    /// `Tus-Resumable` with a version that we do not speak.
    case foreignTus
    /// A draft that we do not speak; its requests count as plain HTTP.
    case foreignDraft

    init(_ fields: RequestFields) {
        if let version = fields["tus-resumable"] {
            self = trimmed(version) == Tus.version ? .known(.tus) : .foreignTus
        } else if let field = fields["upload-draft-interop-version"] {
            let version = Int(trimmed(field)).flatMap { InteropVersion(rawValue: $0) }
            self = version.map { .known(.ietf($0)) } ?? .foreignDraft
        } else {
            self = .none
        }
    }

    /// The dialect of a request to an upload: without a word about it, the newest of the drafts.
    var forUpload: UploadDialect? {
        switch self {
        case .none: .ietf(.eight)
        case .known(let dialect): dialect
        case .foreignTus, .foreignDraft: nil
        }
    }
}

/// tus as it is versioned.
enum Tus {
    /// The only version there is.
    static let version = "1.0.0"
}

/// `Upload-Complete`, or `Upload-Incomplete` with the opposite sense: either name is taken in every version, because
/// clients have mixed them up.
enum Completeness: Equatable, Sendable {
    case unsaid
    case complete
    case incomplete
    case malformed

    init(_ fields: RequestFields) {
        switch (Self.boolean(fields["upload-complete"]), Self.boolean(fields["upload-incomplete"])) {
        case (.unsaid, .unsaid): self = .unsaid
        case (.said(let isComplete), .unsaid): self = isComplete ? .complete : .incomplete
        case (.unsaid, .said(let isIncomplete)): self = isIncomplete ? .incomplete : .complete
        case (.said(let isComplete), .said(let isIncomplete)) where isComplete != isIncomplete:
            self = isComplete ? .complete : .incomplete
        default: self = .malformed
        }
    }

    private enum Boolean { case unsaid, said(Bool), malformed }

    /// A boolean of RFC 8941.
    private static func boolean(_ field: String?) -> Boolean {
        guard let field else { return .unsaid }
        return switch trimmed(field) {
        case "?1": .said(true)
        case "?0": .said(false)
        default: .malformed
        }
    }
}

/// A field that is a count of bytes.
enum CountField: Equatable, Sendable {
    case absent
    case malformed
    case count(UInt64)

    /// Decimal digits up to the largest size that a file can have.
    init(_ field: String?) {
        guard let field else {
            self = .absent
            return
        }
        let digits = trimmed(field)
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = UInt64(digits), count <= UInt64(Int64.max)
        else {
            self = .malformed
            return
        }
        self = .count(count)
    }

    /// The number, `nil` when there is none; throws what the client is told when it is no number.
    func value(of name: String) throws(UploadRefusal) -> UInt64? {
        switch self {
        case .absent: return nil
        case .malformed: throw .badField(name)
        case .count(let count): return count
        }
    }
}
