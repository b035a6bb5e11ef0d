/// `Upload-Limit` of the IETF draft: what a server takes. Its presence alone says that the server knows resumable uploads.
struct UploadLimit: Hashable, Sendable {
    var largest: Int64?
    var smallest: Int64?
    /// In one PATCH.
    var largestAppend: Int64?
    /// In one PATCH that is not the last.
    var smallestAppend: Int64?
    /// Seconds that the upload is kept: `max-age`, before interop 7 `expires`.
    var age: Int64?

    /// `nil` when there is no such field, or it is malformed, or a known key is not a number: then it says nothing at all.
    init?(_ answer: HTTPAnswer) {
        guard let text = answer.field("upload-limit"), let members = StructuredField.dictionary(text) else {
            return nil
        }
        for (key, value) in members {
            guard let path = Self.keys[key] else { continue }
            guard case .integer(let number) = value, number >= 0 else { return nil }
            self[keyPath: path] = number
        }
    }

    private static var keys: [String: WritableKeyPath<UploadLimit, Int64?>] {
        [
            "max-size": \.largest, "min-size": \.smallest, "max-append-size": \.largestAppend,
            "min-append-size": \.smallestAppend, "max-age": \.age, "expires": \.age,
        ]
    }
}
