import DisplayText
import TransferModel
package import WireOperations

/// Answers to requests for the address of an upload, which servers repeat in them.
extension HTTPAddress {
    /// A longer target is not looked for: the whole text is left out then.
    private static let longestSought = 256
    /// A shorter name at the end of a path, or query, would be found in any text.
    private static let shortestName = 8

    /// The fields of an answer to a request for this address, without it where it is secret.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard isSecret else { return answer }
        var answer = answer
        answer.headers = answer.headers.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": HeaderField(field.name, "...")
            // Another kind of login is chosen by these.
            case "www-authenticate", "proxy-authenticate": field
            default: HeaderField(field.name, String(peer: redacted(Array(field.value.utf8))))
            }
        }
        return answer
    }

    /// The body of such an answer.
    package func redacted(_ body: [UInt8]) -> [UInt8] {
        guard isSecret, !body.isEmpty else { return body }
        guard target.utf8.count <= Self.longestSought else { return [] }
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1).map { Array($0) }
        let path = parts.first ?? []
        let name = Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
        let words = [name] + parts.dropFirst()
        return ((path.count > 1 ? [path] : []) + words.filter { $0.count >= Self.shortestName })
            .reduce(body) { $0.replacing($1, with: Array("...".utf8)) }
    }
}
