import LinuxSystem

/// The reasons to refuse a request about an upload.
enum UploadRefusal: Error, Equatable, Sendable {
    /// A version of tus that is not spoken here, or none where the upload demands it.
    case tusVersion
    /// A part of an upload is announced, in no protocol that is spoken here; taken as plain HTTP it would become a torso.
    case unknownDraft
    case badField(String)
    case missingField(String)
    /// A field that does not belong to this request.
    case unwantedField(String)
    case wrongContentType(String)
    case unknownChecksum
    case noSuchUpload
    /// It starts where the upload does not end.
    case offsetDiffers(expected: UInt64, provided: UInt64)
    case inconsistentLength(UInt64?)
    case completed
    /// A join of pieces is not written to.
    case joined
    case piecesMissing
    /// One upload is named more than once in a join.
    case pieceTwice
    /// A join names more uploads than it may.
    case tooManyPieces(most: Int)
    /// There are as many unfinished uploads as there may be.
    case tooMany(Int)
    /// Another receiver writes it, or it is being published this moment.
    case busy
    case checksumDiffers
    /// The name is taken, and nobody asked to replace anything.
    case exists
    case name(TargetProblem)
    /// A reason for which a PUT would be refused, too.
    case file(Refusal)

    /// The refusal after an error of the disk. `EWOULDBLOCK` says that another receiver has the upload: the client asks again.
    static func after(_ error: Errno) -> UploadRefusal { error == .wouldBlock ? .busy : .file(.failed(error)) }

    func answer(in dialect: UploadDialect) -> Answer {
        switch self {
        // Where these come from, the method and the target say already which dialect is meant.
        case .file(let refusal): refusal.answer
        case .name(let problem): problem.answer
        default:
            switch dialect {
            case .tus: .problem(status, text).with(tusFields)
            case .ietf: draftAnswer
            }
        }
    }

    private var status: Status {
        switch self {
        case .tusVersion: .preconditionFailed
        case .unknownDraft, .badField, .missingField, .unwantedField, .unknownChecksum, .inconsistentLength,
            .piecesMissing, .pieceTwice, .tooManyPieces:
            .badRequest
        case .tooMany: .insufficientStorage
        case .wrongContentType: .unsupportedMediaType
        case .noSuchUpload: .notFound
        case .offsetDiffers, .exists: .conflict
        // Of all that a client may do about a completed upload only asking for it is right.
        case .completed: .conflict
        case .joined: .forbidden
        case .busy: .unavailable
        case .checksumDiffers: .checksumMismatch
        case .name(let problem): problem.answer.status
        case .file(let refusal): refusal.answer.status
        }
    }

    private var text: String {
        switch self {
        case .tusVersion: "the receiver speaks tus \(Tus.version); Tus-Resumable must say so"
        case .unknownDraft:
            "a part of an upload, but Upload-Draft-Interop-Version names none of "
                + InteropVersion.allCases.map { String($0.rawValue) }.joined(separator: ", ")
        case .badField(let name): "\(name) cannot be read"
        case .missingField(let name): "\(name) is missing"
        case .unwantedField(let name): "\(name) does not belong here"
        case .wrongContentType(let type): "Content-Type must be \(type)"
        case .unknownChecksum:
            "Upload-Checksum must name one of " + PieceClaim.algorithms.map(\.name).joined(separator: ", ")
        case .noSuchUpload: "there is no such upload, or not any more"
        case .offsetDiffers(let expected, let provided): "the upload goes on at \(expected), not at \(provided)"
        case .inconsistentLength(let length):
            length.map { "the upload was to have \($0) bytes" } ?? "the lengths contradict each other"
        case .completed: "the upload is complete"
        case .joined: "a join of uploads is not written to"
        case .piecesMissing: "one of the uploads to join is missing or not complete"
        case .pieceTwice: "an upload is named more than once"
        case .tooManyPieces(let most): "a join takes up to \(most) uploads: join fewer"
        case .tooMany(let limit): "there are \(limit) unfinished uploads, and more are not begun"
        case .busy: "the upload is being written or published: ask again"
        case .checksumDiffers: "the bytes do not have the checksum that was announced; none were kept"
        case .exists: "there is a file of this name, and nothing is replaced unless the upload asks for it"
        case .name(let problem): problem.answer.explanation
        case .file(let refusal): refusal.answer.explanation
        }
    }

    private var tusFields: [Answer.Field] {
        switch self {
        case .tusVersion: [Answer.Field(name: "Tus-Version", value: Tus.version)]
        case .offsetDiffers(let expected, _): [.offset(expected)]
        case .busy: [.retrySoon]
        default: []
        }
    }

    /// The drafts have problem types (RFC 9457) for three of them.
    private var draftAnswer: Answer {
        switch self {
        case .offsetDiffers(let expected, let provided):
            return .typedProblem(
                status, "mismatching-upload-offset", text,
                members: ["expected-offset": expected, "provided-offset": provided]
            ).with([.offset(expected), InteropVersion.eight.completeness(false)])
        case .inconsistentLength: return .typedProblem(status, "inconsistent-upload-length", text)
        case .completed: return .typedProblem(.badRequest, "completed-upload", text)
        case .checksumDiffers: return .problem(.badRequest, text)
        case .busy: return .problem(status, text).with([.retrySoon])
        default: return .problem(status, text)
        }
    }
}

extension Answer {
    /// A problem document of a registered type (RFC 9457); `text` has no quotes in it.
    fileprivate static func typedProblem(
        _ status: Status, _ type: String, _ text: String, members: KeyValuePairs<String, UInt64> = [:]
    ) -> Answer {
        let numbers = members.map { ",\"\($0)\":\($1)" }.joined()
        return Answer(
            status: status, fields: [Field(name: "Content-Type", value: "application/problem+json")],
            body: .text(
                "{\"type\":\"https://iana.org/assignments/http-problem-types#\(type)\",\"title\":\"\(text)\"\(numbers)}\n"
            ))
    }
}

extension Answer.Field {
    static func offset(_ offset: UInt64) -> Answer.Field { Answer.Field(name: "Upload-Offset", value: String(offset)) }
    static let retrySoon = Answer.Field(name: "Retry-After", value: "1")
    static let notStored = Answer.Field(name: "Cache-Control", value: "no-store")
}
