import Digests
import LinuxSystem
import TransferModel

/// Digests of a range of a file, which grow piece by piece on a blocking thread.
///
/// Unchecked: one thread at a time; who has a piece read waits for it (`DiskWorkers.digests`).
final class RangeDigest: @unchecked Sendable {
    private static let known: [String: DigestAlgorithm] = ["sha-256": .sha256, "sha-1": .sha1, "md5": .md5]
    /// Bytes that are read in one piece, which takes some hundredths of a second.
    private static let piece: Int64 = 16 << 20

    private let running: [(name: String, digest: RunningDigest)]
    private let file: OwnedDescriptor
    private var rest: Range<Int64>

    init(_ range: Range<Int64>, _ algorithms: [String], in file: OwnedDescriptor) {
        running = algorithms.compactMap { name in Self.known[name].map { (name, RunningDigest($0)) } }
        self.file = file
        rest = range
    }

    /// Reads the next piece.
    /// - Returns: true when there is none behind it: the range has been read, or the file ends before it does.
    func readPiece() throws(Errno) -> Bool {
        let end = min(rest.upperBound, rest.lowerBound + Self.piece)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        while rest.lowerBound < end {
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(end - rest.lowerBound, Int64(buffer.count)))))
            let count = try System.pread(file.rawValue, wanted, at: rest.lowerBound)
            if count == 0 { return true }
            for (_, digest) in running { digest.update(UnsafeRawBufferPointer(rebasing: wanted[..<count])) }
            rest = rest.lowerBound + Int64(count)..<rest.upperBound
        }
        return rest.isEmpty
    }

    /// The digests in the order of their algorithms; `nil` when the file ends before the range does.
    var values: [TransferDigest]? {
        rest.isEmpty ? running.map { TransferDigest(algorithm: $0.name, value: $0.digest.value().hex) } : nil
    }

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
}
