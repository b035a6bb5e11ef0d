import CCrypto

/// HMAC-SHA256 (RFC 2104), as SigV4 uses it.
package enum MessageAuthentication {
    /// The code of `message` under `key`; both may be empty. Corresponds to `EVP_Q_mac`.
    package static func sha256(key: [UInt8], message: [UInt8]) -> DigestValue {
        var code = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.byteCount)
        var length = 0
        // A null key means "keep the old key" to libcrypto, so an empty one needs an address.
        let done = (key.isEmpty ? [0] : key).withUnsafeBytes { keyBytes in
            EVP_Q_mac(
                CryptoLibrary.context, "HMAC", nil, "SHA256", nil, keyBytes.baseAddress, key.count, message,
                message.count,
                &code, code.count, &length)
        }
        // Fails only without memory or with an OpenSSL that has no SHA-256: there is no way to go on.
        guard done != nil, length == code.count else { fatalError("libcrypto: HMAC-SHA256 is not available") }
        return DigestValue(bytes: code)
    }

    /// The code of a text.
    package static func sha256(key: [UInt8], message: String) -> DigestValue {
        sha256(key: key, message: Array(message.utf8))
    }
}

/// Compares secrets without telling by its time where they differ.
package enum SecretComparison {
    /// Returns true when both are the same bytes. The lengths do not show either: digests of equal length are compared.
    /// Corresponds to `CRYPTO_memcmp`.
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        let left = DigestAlgorithm.sha256.digest(of: one).bytes
        let right = DigestAlgorithm.sha256.digest(of: other).bytes
        return CRYPTO_memcmp(left, right, left.count) == 0
    }
}
