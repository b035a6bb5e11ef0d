import DisplayText
import TransferModel
package import WireOperations

/// Answers to requests for an address, without the secrets in it: servers repeat their requests in their messages.
extension HTTPAddress {
    /// Bytes of the longest target that is looked for. A server has written it: thousands of words in it, each sought at each place of a
    /// text, would hold up all else. Behind a longer one the whole text is left out.
    private static let longestSought = 256
    /// The same of a query, which is sought as a whole and by its values: signatures and tokens are long.
    private static let longestQuery = 1024

    /// The fields of an answer to a request for this address, without the address where it is secret, and without the queries of both.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        let sought = Sought(self, answer)
        var answer = answer
        answer.headers = answer.headers.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": isSecret ? HeaderField(field.name, "...") : field
            // Another kind of login is chosen by these.
            case "www-authenticate", "proxy-authenticate": field
            default: HeaderField(field.name, sought.isTooLong ? "" : sought.redaction.redacted(field.value))
            }
        }
        return answer
    }

    /// The body of such an answer.
    /// - Parameter isCut: it is the beginning of one.
    package func redacted(_ body: [UInt8], of answer: HTTPAnswer, isCut: Bool = false) -> [UInt8] {
        let sought = Sought(self, answer)
        return sought.isTooLong ? [] : sought.redaction.redacted(body, isCut: isCut)
    }

    /// A redirect leads to addresses with signatures and tokens that stand in no batch.
    private struct Sought {
        var redaction = Redaction()
        var isTooLong = false

        init(_ address: HTTPAddress, _ answer: HTTPAnswer) {
            if address.isSecret {
                isTooLong = address.target.utf8.count > longestSought
                if !isTooLong { redaction.add(secretTarget: address.target) }
            } else {
                add(queryOf: address.target)
            }
            for name in ["location", "content-location"] { answer.field(name).map { add(queryOf: $0) } }
        }

        private mutating func add(queryOf target: String) {
            guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
            let query = target.utf8[target.utf8.index(after: mark)...]
            isTooLong = isTooLong || query.count > longestQuery
            if !isTooLong { redaction.add(query: String(peer: query)) }
        }
    }
}
