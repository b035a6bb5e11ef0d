import TransferModel
import WireOperations

/// Reads the fields of the IETF draft in an answer.
enum ResumableAnswer {
    /// True when the server has the whole upload; `nil`: it does not say. Both names of the field count in every version: a server is known
    /// that mixes them up.
    static func completion(_ answer: HTTPAnswer) -> Bool? {
        if let complete = answer.field("upload-complete").flatMap(StructuredField.boolean) { return complete }
        return answer.field("upload-incomplete").flatMap(StructuredField.boolean).map { !$0 }
    }

    static func offset(_ answer: HTTPAnswer) -> Int64? {
        answer.field("upload-offset").flatMap { StructuredField.integer($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    static func length(_ answer: HTTPAnswer) -> Int64? {
        answer.field("upload-length").flatMap { StructuredField.integer($0) }
    }

    static func version(_ answer: HTTPAnswer) -> Int? {
        answer.field("upload-draft-interop-version").flatMap { StructuredField.integer($0) }.map(Int.init)
    }

    /// The address of the upload that an interim answer announces; `nil` when it is no such answer, or of another version.
    static func offer(_ answer: HTTPAnswer, at address: HTTPAddress, version: Int) -> HTTPAddress? {
        guard answer.status == 104, Self.version(answer) == version else { return nil }
        return answer.field("location").flatMap { address.uploadAddress($0) }
    }

    /// The draft's own kinds of refusal.
    enum Problem: String {
        case mismatchingOffset = "mismatching-upload-offset"
        case inconsistentLength = "inconsistent-upload-length"
        case completed = "completed-upload"
    }

    /// The kind of problem that the body names (RFC 9457).
    static func problem(_ end: ExchangeEnd) -> Problem? {
        struct Document: Decodable { var type: String? }
        guard end.answer?.field("content-type")?.lowercased().hasPrefix("application/problem+json") == true,
            let document = PeerJSON.decode(Document.self, end.body),
            let name = document.type?.split(separator: "#").last
        else { return nil }
        return Problem(rawValue: String(name))
    }
}
