// Digests: SHA-256, SHA-1, MD5 and HMAC-SHA256 over libcrypto, and the two ways in which they are written.
//
// For whom: protocols (S3 signatures, Content-MD5, Repr-Digest), the engine (verification), the receiver.
// Which thread: any; a `RunningDigest` belongs to whoever holds it and is not shared.
// Start at `RunningDigest`, for one buffer at `DigestAlgorithm.digest(of:)`.

import CCrypto

/// The digests that Martlet computes.
package enum DigestAlgorithm: Sendable, Hashable {
    case sha256
    /// For protocols that ask for it (`Content-MD5`, S3's ETag); never a proof against an adversary.
    case md5
    /// For tus, whose checksum extension demands it of every server; like MD5 no proof against an adversary.
    case sha1

    /// Bytes of the digest.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .md5: 16
        case .sha1: 20
        }
    }

    /// The name in `Repr-Digest` and `Content-Digest` (RFC 9530's registry).
    package var fieldName: String {
        switch self {
        case .sha256: "sha-256"
        case .md5: "md5"
        case .sha1: "sha"
        }
    }

    /// The digest of one buffer.
    package func digest(of bytes: some Sequence<UInt8>) -> DigestValue {
        let running = RunningDigest(self)
        running.update(bytes)
        return running.value()
    }

    fileprivate var method: OpaquePointer? {
        switch self {
        case .sha256: Self.fetchedSHA256
        case .md5: Self.fetchedMD5
        case .sha1: Self.fetchedSHA1
        }
    }

    // Looked up once: `EVP_sha256()` makes every digest look it up again, which costs a small one more than its bytes do.
    // Unsafe only to the compiler: the objects never change, live as long as the process, and libcrypto lets any thread use
    // them.
    nonisolated(unsafe) private static let fetchedSHA256 = EVP_MD_fetch(CryptoLibrary.context, "SHA256", nil)
    nonisolated(unsafe) private static let fetchedMD5 = EVP_MD_fetch(CryptoLibrary.context, "MD5", nil)
    nonisolated(unsafe) private static let fetchedSHA1 = EVP_MD_fetch(CryptoLibrary.context, "SHA1", nil)
}

/// A finished digest or authentication code.
package struct DigestValue: Hashable, Sendable {
    /// The bytes, most significant first, as every protocol writes them.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Lower-case hexadecimal, as in `sha256sum` and SigV4.
    package var hex: String { Hexadecimal.encode(bytes) }

    /// Base64 with padding, as in `Content-MD5` and RFC 9530's fields.
    package var base64: String { Base64.encode(bytes) }
}

/// A digest that is still growing: the one owner of a libcrypto context, released with it. Not thread-safe.
package final class RunningDigest {
    private let context: OpaquePointer
    /// The algorithm that is computed.
    package let algorithm: DigestAlgorithm

    /// Starts the digest of nothing. Corresponds to `EVP_DigestInit_ex`.
    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        context = Self.demand(EVP_MD_CTX_new())
        Self.demand(EVP_DigestInit_ex(context, algorithm.method, nil))
    }

    private init(copying other: RunningDigest) {
        algorithm = other.algorithm
        context = Self.demand(EVP_MD_CTX_new())
        Self.demand(EVP_MD_CTX_copy_ex(context, other.context))
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Appends bytes. Corresponds to `EVP_DigestUpdate`.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        Self.demand(EVP_DigestUpdate(context, start, bytes.count))
    }

    /// Appends bytes.
    package func update(_ bytes: some Sequence<UInt8>) {
        let contiguous: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
        if contiguous == nil { Array(bytes).withUnsafeBytes { update($0) } }
    }

    /// The digest of everything so far; more may be appended afterwards.
    package func value() -> DigestValue {
        let last = RunningDigest(copying: self)
        var bytes = [UInt8](repeating: 0, count: algorithm.byteCount)
        Self.demand(EVP_DigestFinal_ex(last.context, &bytes, nil))
        return DigestValue(bytes: bytes)
    }

    /// A second digest that goes on from here: the stored state of a prefix that more files share.
    package func copy() -> RunningDigest { RunningDigest(copying: self) }

    // These calls fail only without memory or with an OpenSSL that lacks the algorithm: there is no way to go on.
    private static func demand(_ pointer: OpaquePointer?) -> OpaquePointer {
        guard let pointer else { fatalError("libcrypto: no memory for a digest") }
        return pointer
    }

    private static func demand(_ result: CInt) {
        guard result == 1 else { fatalError("libcrypto: the digest is not available") }
    }
}
