import DisplayText
import FoundationEssentials

/// A small JSON document of a server.
enum PeerJSON {
    /// Bytes of the longest document that is read: what servers say beside a status is short, and a decoder compares all keys of an object.
    private static let longest = 16 << 10

    /// `nil` when it is no such document, or too long.
    static func decode<Document: Decodable>(_ type: Document.Type, _ bytes: [UInt8]) -> Document? {
        guard bytes.count <= longest else { return nil }
        return try? JSONDecoder().decode(type, from: Data(String(peer: bytes).utf8))
    }
}
