import Digests

/// `Repr-Digest`, `Content-Digest` and `Want-Repr-Digest` (RFC 9530), as far as SHA-256 goes.
enum DigestFields {
    /// The content of a digest field.
    enum Claim: Equatable {
        /// No field, or only algorithms that we do not compute: nothing is checked.
        case none
        case sha256(DigestValue)
        /// A sha-256 that is not 32 bytes in base64 between colons.
        case malformed
    }

    /// Reads a field such as `sha-256=:…base64…:, sha-512=:…:`.
    static func claim(_ field: String?) -> Claim {
        guard let value = member(named: DigestAlgorithm.sha256.fieldName, of: field) else { return .none }
        guard value.utf8.count >= 2, value.hasPrefix(":"), value.hasSuffix(":"),
            let bytes = Base64.decode(value.dropFirst().dropLast()), bytes.count == DigestAlgorithm.sha256.byteCount
        else { return .malformed }
        return .sha256(DigestValue(bytes: bytes))
    }

    /// The digest that a request with both fields claims; the content of a PUT is the representation, so both must agree.
    static func claim(of fields: RequestFields) -> Claim {
        switch (claim(fields["repr-digest"]), claim(fields["content-digest"])) {
        case (.malformed, _), (_, .malformed): .malformed
        case (.none, let claim), (let claim, .none): claim
        case (let one, let other): one == other ? one : .malformed
        }
    }

    /// Returns true when the `Want-Repr-Digest` field asks for the file's SHA-256.
    static func wantsSHA256(_ field: String?) -> Bool {
        guard let value = member(named: DigestAlgorithm.sha256.fieldName, of: field) else { return false }
        return (Int(value) ?? 0) > 0
    }

    /// A field with this digest.
    static func field(_ digest: DigestValue) -> String {
        "\(DigestAlgorithm.sha256.fieldName)=:\(digest.base64):"
    }

    /// The value of a dictionary's member, without its parameters. The last one of a name counts (RFC 8941 section 4.2.2).
    private static func member(named name: String, of field: String?) -> Substring? {
        guard let field else { return nil }
        var found: Substring?
        for member in listMembers(field) {
            let halves = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, halves[0] == name else { continue }
            found = trimmed(halves[1].split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0])
        }
        return found
    }
}
