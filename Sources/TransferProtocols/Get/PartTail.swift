import Digests

/// A digest of the bytes before a place in a temporary file. It recognises the file where inode numbers do not outlive a mount, as on FAT,
/// exFAT and many file systems in user space.
package struct PartTail: Hashable, Codable, Sendable {
    /// Number of bytes that are compared; fewer in a shorter file.
    package static let length: Int64 = 4096

    /// The place in the file behind them.
    package let end: Int64
    private let sha256: String

    /// - Parameter bytes: all of them that are compared. `nil`: they are all the same, and prove nothing.
    package init?(_ bytes: [UInt8], before end: Int64) {
        guard let first = bytes.first, !bytes.allSatisfy({ $0 == first }) else { return nil }
        self.end = end
        sha256 = DigestAlgorithm.sha256.digest(of: bytes).hex
    }

    var isPlausible: Bool { ResumeBounds.lengths.contains(end) }
}
