import DisplayText
import TransferModel
package import WireOperations

/// Answers to requests for an address, without the secrets in it: servers repeat their requests in their messages.
extension HTTPAddress {
    /// Bytes of the longest target that is looked for. A server has written it: thousands of words in it, each sought at each place of a
    /// text, would hold up all else. Behind a longer one the whole text is left out.
    private static let longestSought = 256
    /// Values of a query that are sought. Those of a signed address are fewer.
    private static let mostValues = 8
    /// Bytes of header fields that are gone through; those behind them are left out.
    private static let longestHead = 16 << 10

    /// The fields of an answer to a request for this address, without the address where it is secret, and without the queries of both.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        let sought = Sought(self, answer)
        var answer = answer
        var room = Self.longestHead
        answer.headers = answer.headers.map { field in
            room -= field.value.utf8.count
            return switch field.name.lowercased() {
            case "location", "content-location": isSecret ? HeaderField(field.name, "...") : field
            // Another kind of login is chosen by these.
            case "www-authenticate", "proxy-authenticate": field
            default:
                HeaderField(field.name, sought.isTooLong || room < 0 ? "" : sought.redaction.redacted(field.value))
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
            if 300..<400 ~= answer.status { answer.field("location").map { add(queryOf: $0) } }
        }

        private mutating func add(queryOf target: String) {
            guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
            redaction.add(
                query: String(peer: target.utf8[target.utf8.index(after: mark)...]), most: mostValues)
        }
    }
}
