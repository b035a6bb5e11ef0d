import TransferModel
package import WireOperations

/// Answers to requests for the address of an upload, which servers repeat in them.
extension HTTPAddress {
    /// Bytes of the longest target that is looked for. A server has written it: thousands of words in it, each sought at each place of a
    /// text, would hold up all else. Behind a longer one the whole text is left out.
    private static let longestSought = 256

    /// The fields of an answer to a request for this address, without it where it is secret.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard let redaction else { return answer }
        var answer = answer
        answer.headers = answer.headers.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": HeaderField(field.name, "...")
            // Another kind of login is chosen by these.
            case "www-authenticate", "proxy-authenticate": field
            default: HeaderField(field.name, isTooLong ? "" : redaction.redacted(field.value))
            }
        }
        return answer
    }

    /// The body of such an answer.
    /// - Parameter isCut: it is the beginning of one.
    package func redacted(_ body: [UInt8], isCut: Bool = false) -> [UInt8] {
        guard let redaction else { return body }
        return isTooLong ? [] : redaction.redacted(body, isCut: isCut)
    }

    private var isTooLong: Bool { target.utf8.count > Self.longestSought }

    /// `nil`: the address is no secret.
    private var redaction: Redaction? {
        guard isSecret else { return nil }
        var redaction = Redaction()
        if !isTooLong { redaction.add(secretTarget: target) }
        return redaction
    }
}
