import DisplayText
import TransferModel
package import WireOperations

/// Answers to requests for the address of an upload, which servers repeat in them.
extension HTTPAddress {
    /// A longer path is not looked for: the whole text is left out then.
    private static let longestSought = 256
    /// A shorter name at the end of a path would be found in any text.
    private static let shortestName = 8

    /// The fields of an answer to a request for this address, without it where it is secret.
    package func redacted(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard isSecret else { return answer }
        var answer = answer
        answer.headers = answer.headers.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": HeaderField(field.name, "...")
            default: HeaderField(field.name, String(peer: redacted(Array(field.value.utf8))))
            }
        }
        return answer
    }

    /// The body of such an answer.
    package func redacted(_ body: [UInt8]) -> [UInt8] {
        guard isSecret, !body.isEmpty else { return body }
        let path = Array(target.utf8.prefix { $0 != UInt8(ascii: "?") })
        guard path.count <= Self.longestSought else { return [] }
        let left = Array("...".utf8)
        let name = Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
        let withoutPath = path.count > 1 ? body.replacing(path, with: left) : body
        return name.count >= Self.shortestName ? withoutPath.replacing(name, with: left) : withoutPath
    }
}
