/// Bytes for an upload, as the head of their request announces them.
struct UploadAppend: Equatable, Sendable {
    var dialect: UploadDialect
    /// The offset at which the client goes on.
    var offset: UInt64
    /// IETF: whether these are the last bytes.
    var completes: Bool
    /// The length of the whole upload, when this request says it.
    var length: UInt64?
    var body: BodyLength
    /// The digest that these bytes must have.
    var piece: PieceClaim?

    /// Reads a PATCH.
    static func patch(_ head: RequestHead, _ dialect: UploadDialect) throws(UploadRefusal) -> UploadAppend {
        let fields = head.fields
        guard let offset = try CountField(fields["upload-offset"]).value(of: "Upload-Offset") else {
            throw .missingField("Upload-Offset")
        }
        let length = try CountField(fields["upload-length"]).value(of: "Upload-Length")
        switch dialect {
        case .tus:
            guard hasType(fields, tusType) else { throw .wrongContentType(tusType) }
            return UploadAppend(
                dialect: dialect, offset: offset, completes: false, length: length, body: head.body,
                piece: try PieceClaim.tus(fields))
        case .ietf(let version):
            guard !version.demandsPartialUpload || hasType(fields, draftType) else {
                throw .wrongContentType(draftType)
            }
            return UploadAppend(
                dialect: dialect, offset: offset, completes: try completes(fields, version), length: length,
                body: head.body, piece: try PieceClaim.ietf(fields))
        }
    }

    /// Returns true when the request has this media type, whatever its parameters.
    static func hasType(_ fields: RequestFields, _ type: String) -> Bool {
        guard let field = fields["content-type"] else { return false }
        return trimmed(field.split(separator: ";", omittingEmptySubsequences: false)[0]).lowercased() == type
    }

    static let tusType = "application/offset+octet-stream"
    static let draftType = "application/partial-upload"

    private static func completes(_ fields: RequestFields, _ version: InteropVersion) throws(UploadRefusal) -> Bool {
        switch Completeness(fields) {
        case .complete: return true
        case .incomplete: return false
        // Draft-01 is the only one in which an append without the field is the last.
        case .unsaid where version == .three: return true
        case .unsaid: throw .missingField("Upload-Complete")
        case .malformed: throw .badField("Upload-Complete")
        }
    }
}
