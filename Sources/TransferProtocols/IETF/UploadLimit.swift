import TransferModel
import WireOperations

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

extension UploadLimit {
    /// The reason why a file of that size is not worth sending there; `nil` when the server takes it.
    func refusal(of size: Int64, at address: HTTPAddress) -> TransferError? {
        if let largest, size > largest { return .largerThanTaken(address, largest) }
        if let smallest, size < smallest { return .smallerThanTaken(address, smallest) }
        return nil
    }
}

extension TransferError {
    static func largerThanTaken(_ address: HTTPAddress, _ largest: Int64) -> TransferError {
        TransferError(
            .http, "\(address.server) takes files up to \(largest) bytes",
            .step("send it elsewhere, or ask for a higher limit there"), httpStatus: 413)
    }

    static func smallerThanTaken(_ address: HTTPAddress, _ smallest: Int64) -> TransferError {
        TransferError(
            .http, "\(address.server) takes files from \(smallest) bytes on",
            .step("send it elsewhere, or ask for a lower limit there"), httpStatus: 400)
    }

    static func smallPieces(_ address: HTTPAddress, _ most: Int64) -> TransferError {
        TransferError(
            .http, "\(address.server) takes at most \(most) bytes in one request",
            .step("send it elsewhere, or ask for a higher limit there"), httpStatus: 413)
    }

    static func otherLength(_ address: HTTPAddress) -> TransferError {
        TransferError(
            .badServerResponse, "\(address.server) expects a file of another length",
            .queued("queue it again"), httpStatus: 400)
    }
}
