import Digests
import TestSupport
import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SourceHashTests {
    private let bytes = pattern(1000)

    private func take(_ ranges: [Range<Int>]) -> SourceHash {
        var hash = SourceHash()
        bytes.withUnsafeBytes { all in
            for range in ranges { hash.take(UnsafeRawBufferPointer(rebasing: all[range]), at: Int64(range.lowerBound)) }
        }
        return hash
    }

    private var whole: TransferDigest { TransferDigest(sha256: DigestAlgorithm.sha256.digest(of: bytes)) }

    @Test("pieces in their order, some of them sent again, are the digest of the whole")
    func order() {
        for ranges in [[0..<1000], [0..<400, 400..<1000], [0..<400, 0..<700, 100..<300, 650..<1000, 0..<1000]] {
            let hash = take(ranges)
            #expect(hash.count == 1000 && hash.value == whole, "\(ranges)")
        }
    }

    @Test("behind a gap nothing counts until the gap is closed")
    func gap() {
        #expect(take([400..<1000]).count == 0)
        #expect(take([0..<300, 400..<1000]).count == 300)
        let closed = take([0..<300, 400..<1000, 300..<1000])
        #expect(closed.count == 1000 && closed.value == whole)
    }
}
