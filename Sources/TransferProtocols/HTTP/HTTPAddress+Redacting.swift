import TransferModel
package import WireOperations

/// Answers to requests for the address of an upload, which servers repeat in them.
extension HTTPAddress {
    /// The fields of an answer to a request for this address, without it where it is secret.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard let redaction else { return answer }
        var answer = answer
        answer.headers = answer.headers.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": HeaderField(field.name, "...")
            // Another kind of login is chosen by these.
            case "www-authenticate", "proxy-authenticate": field
            default: HeaderField(field.name, redaction.redacted(field.value))
            }
        }
        return answer
    }

    /// The body of such an answer.
    package func redacted(_ body: [UInt8]) -> [UInt8] { redaction?.redacted(body) ?? body }

    /// `nil`: the address is no secret.
    private var redaction: Redaction? {
        guard isSecret else { return nil }
        var redaction = Redaction()
        redaction.add(secretTarget: target)
        return redaction
    }
}
