import Digests
import LinuxSystem
import TransferModel

/// Digests of a part of a source, on a blocking thread.
enum SourceDigest {
    private static let known: [String: DigestAlgorithm] = ["sha-256": .sha256, "sha-1": .sha1, "md5": .md5]

    /// As of a file; for one whose bytes are at hand.
    static func digests(of range: Range<Int64>, _ algorithms: [String], in bytes: [UInt8]) -> [TransferDigest]? {
        guard range.upperBound <= Int64(bytes.count) else { return nil }
        let part = bytes[Int(range.lowerBound)..<Int(range.upperBound)]
        return algorithms.compactMap { name in
            Self.known[name].map { algorithm in
                let running = RunningDigest(algorithm)
                part.withUnsafeBytes { running.update($0) }
                return TransferDigest(algorithm: name, value: running.value().hex)
            }
        }
    }

    /// The digests in the order of their algorithms (`sha-256`, `sha-1`, `md5`); `nil` when the file ends before the range does.
    static func digests(
        of range: Range<Int64>, _ algorithms: [String], in descriptor: OwnedDescriptor
    ) throws(Errno) -> [TransferDigest]? {
        let running = algorithms.compactMap { name in Self.known[name].map { (name, RunningDigest($0)) } }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(range.upperBound - offset, Int64(buffer.count)))))
            let count = try System.pread(descriptor.rawValue, wanted, at: offset)
            if count == 0 { return nil }
            for (_, digest) in running { digest.update(UnsafeRawBufferPointer(rebasing: wanted[..<count])) }
            offset += Int64(count)
        }
        return running.map { TransferDigest(algorithm: $0.0, value: $0.1.value().hex) }
    }
}
