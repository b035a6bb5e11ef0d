import Digests

/// The statuses that the receiver answers with.
enum Status: UInt32, Sendable {
    case ok = 200
    case created = 201
    case noContent = 204
    case partialContent = 206
    case notModified = 304
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case preconditionFailed = 412
    case contentTooLarge = 413
    case uriTooLong = 414
    case unsupportedMediaType = 415
    case rangeNotSatisfiable = 416
    case misdirected = 421
    /// tus's own.
    case checksumMismatch = 460
    case internalError = 500
    case unavailable = 503
    case insufficientStorage = 507

    /// The words after the number in a status line; only answers written by hand need them.
    var reason: String {
        switch self {
        case .ok: "OK"
        case .created: "Created"
        case .noContent: "No Content"
        case .partialContent: "Partial Content"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .conflict: "Conflict"
        case .preconditionFailed: "Precondition Failed"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .rangeNotSatisfiable: "Range Not Satisfiable"
        case .misdirected: "Misdirected Request"
        case .checksumMismatch: "Checksum Mismatch"
        case .internalError: "Internal Server Error"
        case .unavailable: "Service Unavailable"
        case .insufficientStorage: "Insufficient Storage"
        }
    }
}

/// A final answer: status, fields and what follows them. `Date`, `Content-Length` and `Connection` are the library's.
struct Answer: Sendable {
    var status: Status
    var fields: [Field] = []
    var body: Body = .none

    struct Field: Equatable, Sendable {
        let name: String
        let value: String
    }

    enum Body: Sendable {
        case none
        case text(String)
        /// Bytes of an open file, sent by the kernel; the descriptor is closed with the answer.
        case file(OpenFile, offset: UInt64, count: UInt64)
    }

    /// An answer without content.
    static func plain(_ status: Status, _ fields: [Field] = []) -> Answer { Answer(status: status, fields: fields) }

    /// A refusal with one line that says why.
    static func problem(_ status: Status, _ text: String) -> Answer {
        Answer(status: status, fields: [.plainText], body: .text(text + "\n"))
    }

    func with(_ fields: [Field]) -> Answer {
        var answer = self
        answer.fields += fields
        return answer
    }

    /// The line that explains a refusal, for the receiver's own log.
    var explanation: String {
        guard case .text(let text) = body else { return status.reason }
        return String(text.split(separator: "\n").first ?? Substring(status.reason))
    }

    /// The whole answer as bytes, for the case that it must be written past the library; the connection closes after it.
    func byHand(now: HTTPDate) -> [UInt8] {
        var text = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nDate: \(now.field)\r\n"
        var content = ""
        if case .text(let body) = body { content = body }
        for field in fields where field != .closing { text += "\(field.name): \(field.value)\r\n" }
        text += "Content-Length: \(content.utf8.count)\r\nConnection: close\r\n\r\n"
        return Array((text + content).utf8)
    }
}

extension Answer.Field {
    static let plainText = Answer.Field(name: "Content-Type", value: "text/plain; charset=utf-8")
    static let acceptsRanges = Answer.Field(name: "Accept-Ranges", value: "bytes")
    static let allow = Answer.Field(name: "Allow", value: "GET, HEAD, PUT, POST, OPTIONS")
    static let allowedOnUpload = Answer.Field(name: "Allow", value: "HEAD, PATCH, DELETE, OPTIONS")
    static let bearerChallenge = Answer.Field(name: "WWW-Authenticate", value: "Bearer realm=\"martlet\"")

    static func contentRange(_ range: ByteRange, of size: UInt64) -> Answer.Field {
        Answer.Field(name: "Content-Range", value: "bytes \(range.first)-\(range.last)/\(size)")
    }

    static func unsatisfiedRange(of size: UInt64) -> Answer.Field {
        Answer.Field(name: "Content-Range", value: "bytes */\(size)")
    }

    /// `ETag` and `Last-Modified`.
    static func version(_ facts: FileFacts) -> [Answer.Field] {
        [
            Answer.Field(name: "ETag", value: facts.tag.field),
            Answer.Field(name: "Last-Modified", value: facts.modified.field),
        ]
    }

    /// A digest that comes with a file is checked; so clients know that it is told, too, when they ask.
    static let wantsDigest = Answer.Field(name: "Want-Repr-Digest", value: "sha-256=1")

    static func digest(_ digest: DigestValue) -> Answer.Field {
        Answer.Field(name: "Repr-Digest", value: DigestFields.field(digest))
    }
}
