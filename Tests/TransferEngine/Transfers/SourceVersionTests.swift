import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// One version of a source: whatever happens to the file, what is read, hashed and compared is that one, or nothing is whole.
@Suite struct SourceVersionTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func bytes(_ source: SourceFile, _ range: Range<Int>, framed: Bool = false) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: range.count)
        let part = Int64(range.lowerBound)..<Int64(range.upperBound)
        let count = try buffer.withUnsafeMutableBytes {
            framed
                ? try FramedSource([], part, [], of: source).read(into: $0, at: 0)
                : try source.read(into: $0, at: part.lowerBound)
        }
        return Array(buffer.prefix(count))
    }

    /// Sets the time of modification.
    private func touch(_ path: [UInt8], _ nanoseconds: Int64) throws {
        let opened = try System.open(path, flags: O_WRONLY)
        try System.setModificationTime(opened.rawValue, nanoseconds: nanoseconds)
    }

    @Test("of a small file that is rewritten in place every byte, range and digest is of the first reading")
    func small() throws {
        let (first, second) = (pattern(60_000), pattern(60_000, seed: 9))
        let path = try sandbox.write("f", first)
        let source = try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
        try sandbox.write("f", second)
        #expect(try bytes(source, 0..<60_000) == first)
        #expect(try bytes(source, 59_990..<60_000) == Array(first[59_990...]))
        #expect(try bytes(source, 20_000..<50_000, framed: true) == Array(first[20_000..<50_000]))
        #expect(source.digest?.value == DigestAlgorithm.sha256.digest(of: first).hex)
        let held = try #require(source.bytes)
        let digests = try #require(RangeDigest.digests(of: 100..<60_000, ["md5", "sha-256"], in: held))
        #expect(digests.map(\.algorithm) == ["md5", "sha-256"])
        #expect(digests[0].value == DigestAlgorithm.md5.digest(of: Array(first[100...])).hex)
        #expect(RangeDigest.digests(of: 0..<60_001, ["md5"], in: held) == nil)
    }

    @Test("a source on a disk whose inode numbers do not outlive a mount is known by its size and time")
    func otherInode() throws {
        let recorded = SourceIdentity(size: 5, modifiedNanoseconds: 7, inode: 1)
        let remounted = SourceIdentity(size: 5, modifiedNanoseconds: 7, inode: 2)
        #expect(remounted.isSame(as: recorded, hasStableInodes: false))
        #expect(!remounted.isSame(as: recorded, hasStableInodes: true))
        for other in [
            SourceIdentity(size: 6, modifiedNanoseconds: 7, inode: 1),
            SourceIdentity(size: 5, modifiedNanoseconds: 8, inode: 1),
        ] {
            #expect(!other.isSame(as: recorded, hasStableInodes: false))
        }
    }

    @Test("of a large file that is rewritten while it is sent the last byte is not given away")
    func large() throws {
        let path = try sandbox.write("f", pattern(200_000))
        try touch(path, 1_700_000_000_123_456_789)
        let source = try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
        #expect(try bytes(source, 0..<100_000).count == 100_000)
        #expect(try bytes(source, 100_000..<200_000).count == 100_000)
        // Within the same second, of the same length, in place.
        try sandbox.write("f", pattern(200_000, seed: 3))
        try touch(path, 1_700_000_000_123_456_790)
        #expect(try bytes(source, 100_000..<199_999).count == 99_999)
        #expect(try bytes(source, 100_000..<200_000).isEmpty)
        #expect(try bytes(source, 150_000..<200_000, framed: true).isEmpty)
        #expect(source.change != nil)
    }

    @Test("a file that says 0 bytes and gives some is refused; it never arrives empty")
    func lengthless() throws {
        for path in ["/proc/version", "/proc/self/status"] {
            let error = #expect(throws: LocalRefusal.self) {
                try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
            }?
            .error
            #expect(error?.code == .unsupported && error?.message.contains("0 bytes") == true)
            #expect(error?.finding.advice.contains("copy it") == true)
        }
        let empty = try SourceFile(SourcePlace(named: RawPath(try sandbox.write("empty", []))), followsLinks: false)
        #expect(empty.bytes == [])
    }

    @Test("a time of modification tells later changes once the file system's tick is over")
    func settling() throws {
        let path = try sandbox.write("f", [1, 2, 3])
        let fine: Int64 = 1_700_000_000_500_000_001
        for (modified, later, expected) in [
            (fine, 0, 20_000_001), (fine, 19_999_999, 2), (fine, 20_000_001, nil), (fine, -30_000_000, nil),
            (1_700_000_000_000_000_000, 1_000_000_000, 1_000_000_001),
            (1_700_000_000_000_000_000, 2_000_000_001, nil),
        ] as [(Int64, Int64, Int64?)] {
            try touch(path, modified)
            let source = try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
            #expect(source.unsettled(at: modified + later) == expected, "\(modified) + \(later)")
        }
        // `touch` sets any time, and so may a server of files.
        for tick: Int64 in [0, 20_000_000, 2_000_000_000] {
            for modified in [.max - tick, .min + tick] {
                try touch(path, modified)
                let source = try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
                #expect(source.unsettled(at: WallClock.nanoseconds) == nil, "\(modified)")
            }
        }
    }

    @Test("what is rewritten within the tick of its opening is seen once the tick is over")
    func settled() throws {
        for (size, other) in [(3, 3), (100_000, 100_001)] {
            let path = try sandbox.write("f", pattern(size))
            let source = try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
            #expect(source.hasSettled)
            try sandbox.write("f", pattern(other, seed: 1))
            try touch(path, source.identity.modifiedNanoseconds)
            #expect(!source.hasSettled, "\(size)")
        }
    }
}
