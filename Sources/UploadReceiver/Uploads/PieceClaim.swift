import Digests

/// The digest that a piece of an upload must have before it counts: tus's `Upload-Checksum`, the IETF's `Content-Digest`.
/// A piece that differs is thrown away as if it had never come.
struct PieceClaim: Equatable, Sendable {
    let algorithm: DigestAlgorithm
    let value: DigestValue

    /// Reads `sha1 BASE64`.
    static func tus(_ fields: RequestFields) throws(UploadRefusal) -> PieceClaim? {
        guard let field = fields["upload-checksum"] else { return nil }
        let words = field.split(separator: " ")
        guard words.count == 2, let algorithm = algorithms.first(where: { $0.name == words[0] })?.algorithm else {
            throw .unknownChecksum
        }
        guard let bytes = Base64.decode(words[1]), bytes.count == algorithm.byteCount else {
            throw .badField("Upload-Checksum")
        }
        return PieceClaim(algorithm: algorithm, value: DigestValue(bytes: bytes))
    }

    /// Reads the sha-256 of a `Content-Digest`; other algorithms are not checked, as RFC 9530 permits.
    static func ietf(_ fields: RequestFields) throws(UploadRefusal) -> PieceClaim? {
        switch DigestFields.claim(fields["content-digest"]) {
        case .none: return nil
        case .malformed: throw .badField("Content-Digest")
        case .sha256(let value): return PieceClaim(algorithm: .sha256, value: value)
        }
    }

    /// The names that tus gives the algorithms, for `Tus-Checksum-Algorithm`.
    static let algorithms: [(name: String, algorithm: DigestAlgorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("md5", .md5),
    ]
}
