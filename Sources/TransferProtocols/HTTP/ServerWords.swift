import DisplayText
import TransferModel

/// A server's explanation of its refusal, as one short line that is harmless to print: of JSON its message, of XML or HTML the message
/// or the title, else the text as it is. Servers say there what a status cannot: whose quota it is, which rule forbade it.
package enum ServerWords {
    /// Characters of the line.
    package static let longest = 200
    /// Bytes that are looked at of a document that is no JSON, or a long one.
    private static let longestDocument = 16 << 10

    /// - Returns: `nil` when the body says nothing, or is no text.
    package static func line(of body: [UInt8]) -> String? {
        let start = body.prefix(longestDocument)
        guard !start.contains(0) else { return nil }
        let text = String(peer: start)
        let first = text.first { !$0.isWhitespace && $0 != "\u{FEFF}" }
        let said: String? =
            switch first {
            case "{": member(of: body) ?? text
            case "<": element(of: text)
            default: text
            }
        return said.flatMap(shortened)
    }

    /// In one line, without quotation marks of its own, since it is shown between such.
    private static func shortened(_ text: String) -> String? {
        let words = text.split { $0.isWhitespace || $0 == "\u{FEFF}" }.joined(separator: " ")
        guard !words.isEmpty else { return nil }
        let line = words.count > longest ? words.prefix(longest - 3) + "..." : words[...]
        let quotes = String(line).utf8.map { $0 == UInt8(ascii: "\"") ? UInt8(ascii: "'") : $0 }
        return RawPath(Array(quotes)).displayed
    }

    // MARK: JSON

    /// `{"message": "…"}`, `{"error": {"message": "…"}}`, RFC 9457 and RFC 6749.
    private static func member(of body: [UInt8]) -> String? {
        // Escapes may have put marks together that stood apart.
        PeerJSON.decode(Document.self, body)?.words.map { String(peer: $0.utf8) }
    }

    private enum Key: String, CodingKey {
        case message, description = "error_description", detail, error, title
    }

    private struct Document: Decodable {
        var words: String?

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Key.self)
            func text(_ key: Key) -> String? { try? object.decode(String.self, forKey: key) }
            words = text(.message) ?? text(.description) ?? text(.detail) ?? text(.error)
            if words == nil { words = (try? object.decode(Inner.self, forKey: .error))?.words }
            words = words ?? text(.title)
        }
    }

    /// The value of `error`, one level deep: a document that nests without end takes longer at each level.
    private struct Inner: Decodable {
        var words: String?

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Key.self)
            func text(_ key: Key) -> String? { try? object.decode(String.self, forKey: key) }
            words = text(.message) ?? text(.description) ?? text(.detail) ?? text(.error) ?? text(.title)
        }
    }

    // MARK: XML and HTML

    /// Read as it comes: pages of errors are often no well-formed documents.
    private static func element(of text: String) -> String? {
        var found: [String: String] = [:]
        var plain: [String] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            let tag = rest[rest.index(after: open)...]
            guard let close = tag.firstIndex(of: ">") else { break }
            rest = tag[tag.index(after: close)...]
            let name = tag.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
            let local = (name.split(separator: ":").last ?? "").lowercased()
            let content = String(rest.prefix { $0 != "<" })
            guard content.contains(where: { !$0.isWhitespace }), !["style", "script"].contains(local) else { continue }
            plain.append(content)
            if found[local] == nil { found[local] = content }
        }
        return (found["message"] ?? found["title"] ?? plain.joined(separator: " ")).unescaped
    }
}

extension String {
    /// Without the character references that texts of pages have.
    fileprivate var unescaped: String {
        let references = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#34;", "\""),
            ("&nbsp;", " "), ("&amp;", "&"),
        ]
        return references.reduce(self) { $0.replacing($1.0, with: $1.1) }
    }
}
