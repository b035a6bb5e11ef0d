import DisplayText

/// A request that begins an upload, read from its head.
struct UploadCreation: Equatable, Sendable {
    var dialect: UploadDialect
    var record: UploadRecord
    /// The bytes that come with the request.
    var append: UploadAppend
    /// True when the method itself asks to replace the file (PUT); false when it only creates one (POST).
    var isPut = false

    /// tus's POST. `target` is the folder, or the file when no name is given.
    static func tus(
        _ head: RequestHead, _ target: TargetPath, _ conditions: Preconditions, unnamed: String
    ) throws(UploadRefusal) -> UploadCreation {
        let fields = head.fields
        guard let metadata = UploadMetadata(fields["upload-metadata"]) else { throw .badField("Upload-Metadata") }
        let length = try CountField(fields["upload-length"]).value(of: "Upload-Length")
        switch (length, fields["upload-defer-length"]) {
        case (nil, nil): throw .missingField("Upload-Length")
        case (nil, let deferred?) where trimmed(deferred) != "1": throw .badField("Upload-Defer-Length")
        case (_?, _?): throw .inconsistentLength(nil)
        case (nil, _), (_, nil): break
        }
        var record = UploadRecord(path: try path(target, metadata, unnamed), completesByLength: true)
        record.length = length
        record.metadata = fields["upload-metadata"]
        try record.takeConditions(conditions, fields, metadata["overwrite"])
        if let concat = fields["upload-concat"] {
            guard trimmed(concat) == "partial" else { throw .badField("Upload-Concat") }
            record.role = .partial
        }
        try record.takeDigestFields(fields)
        if head.body != .none, !UploadAppend.hasType(fields, UploadAppend.tusType) {
            throw .wrongContentType(UploadAppend.tusType)
        }
        let append = UploadAppend(
            dialect: .tus, offset: 0, completes: false, length: nil, body: head.body,
            piece: try PieceClaim.tus(fields))
        return UploadCreation(dialect: .tus, record: record, append: append)
    }

    /// The IETF's POST or PUT, which is any request with `Upload-Complete`.
    static func ietf(
        _ head: RequestHead, _ version: InteropVersion, _ target: TargetPath, _ conditions: Preconditions,
        completes: Bool, unnamed: String
    ) throws(UploadRefusal) -> UploadCreation {
        let fields = head.fields
        let isPut = head.method == .put
        var record = UploadRecord(
            path: isPut ? target : try path(target, disposition: fields["content-disposition"], unnamed),
            completesByLength: false)
        record.length = try CountField(fields["upload-length"]).value(of: "Upload-Length")
        if isPut { record.conditions = conditions } else { try record.takeConditions(conditions, fields, nil) }
        try record.takeDigestFields(fields)
        if completes, record.length == nil {
            switch head.body {
            case .none: record.length = 0
            case .known(let count): record.length = count
            case .unknown: break
            }
        }
        // Of a request that is complete by itself the content is the file.
        if completes, case .sha256(let digest) = DigestFields.claim(fields["content-digest"]) { record.claim = digest }
        let append = UploadAppend(
            dialect: .ietf(version), offset: 0, completes: completes, length: nil, body: head.body,
            piece: completes ? nil : try PieceClaim.ietf(fields))
        return UploadCreation(dialect: .ietf(version), record: record, append: append, isPut: isPut)
    }

    private static func path(
        _ target: TargetPath, _ metadata: UploadMetadata, _ unnamed: String
    ) throws(UploadRefusal) -> TargetPath {
        do {
            return try UploadName.path(target, metadata, unnamed: unnamed)
        } catch {
            throw .name(error)
        }
    }

    private static func path(
        _ target: TargetPath, disposition: String?, _ unnamed: String
    ) throws(UploadRefusal) -> TargetPath {
        do {
            return try UploadName.path(target, contentDisposition: disposition, unnamed: unnamed)
        } catch {
            throw .name(error)
        }
    }
}

extension UploadRecord {
    /// Takes the client's conditions on a file that exists: those of HTTP, or permission to replace it, by `Overwrite: T` (RFC 4918's
    /// field) or by `overwrite` in tus metadata. Without any of them nothing is replaced.
    mutating func takeConditions(
        _ conditions: Preconditions, _ fields: RequestFields, _ metadata: [UInt8]?
    ) throws(UploadRefusal) {
        self.conditions = conditions
        if !conditions.isEmpty { return }
        let mayReplace =
            switch (
                fields["overwrite"].map { trimmed($0).uppercased() },
                metadata.map { String(peer: $0) }
            )
            {
            case ("T"?, _), (nil, ""?), (nil, "true"?), (nil, "1"?): true
            case ("F"?, _), (nil, nil), (nil, "false"?), (nil, "0"?): false
            case (nil, _): throw UploadRefusal.badField("Upload-Metadata's overwrite")
            case (_?, _): throw UploadRefusal.badField("Overwrite")
            }
        if mayReplace { return }
        self.conditions = .absence
        conditionsAreImplied = true
    }

    /// `Repr-Digest` and `Want-Repr-Digest` are about the whole file.
    mutating func takeDigestFields(_ fields: RequestFields) throws(UploadRefusal) {
        switch DigestFields.claim(fields["repr-digest"]) {
        case .none: break
        case .malformed: throw .badField("Repr-Digest")
        case .sha256(let digest): claim = digest
        }
        wantsDigest = DigestFields.wantsSHA256(fields["want-repr-digest"])
    }
}
