import Digests
import TransferModel

/// The SHA-256 of a source, from its beginning as far as it was read without a gap. On the engine's loop.
struct SourceHash {
    /// Bytes that are in it.
    private(set) var count: Int64 = 0
    private let running = RunningDigest(.sha256)

    /// Bytes were read there. What is sent again changes nothing, and what lies behind a gap cannot be used.
    mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let known = count - offset
        guard known >= 0, known < Int64(bytes.count) else { return }
        running.update(UnsafeRawBufferPointer(rebasing: bytes[Int(known)...]))
        count = offset + Int64(bytes.count)
    }

    var value: TransferDigest { TransferDigest(sha256: running.value()) }
}

extension TransferDigest {
    init(sha256 value: DigestValue) { self.init(algorithm: "sha-256", value: value.hex) }
}
