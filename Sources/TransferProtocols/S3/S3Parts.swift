import Digests
import TransferModel

/// The digests of a body before it is sent.
struct S3Digests: Hashable, Sendable {
    /// For `Content-MD5` and the comparison with the server's tag; `nil` when nobody wants to compare.
    var md5: [UInt8]?
    /// For the signature over a connection that is not encrypted.
    var sha256: String?

    init() {}

    init(_ digests: [TransferDigest]) {
        for digest in digests {
            switch digest.algorithm {
            case "md5": md5 = Hexadecimal.decode(digest.value)
            case "sha-256": sha256 = digest.value
            default: break
            }
        }
    }
}

extension S3Digests {
    /// The digests of an empty file.
    static var ofNothing: S3Digests {
        var digests = S3Digests()
        digests.md5 = DigestAlgorithm.md5.digest(of: []).bytes
        digests.sha256 = SignatureV4.emptyPayload
        return digests
    }
}

/// A number of parts that an upload or an object of S3 can have: 1 to 10,000. Whatever is sized by a number of parts is sized by one of these:
/// the other end, or a damaged disk, may name any number.
struct S3PartCount: Hashable, Sendable {
    /// The numbers of the parts, which are counted from 1.
    static let numbers = 1...10_000

    let number: Int

    /// `nil`: no upload has so many.
    init?(_ number: Int) {
        guard Self.numbers.contains(number) else { return nil }
        self.number = number
    }

    /// The parts of `partSize` bytes, at least 1, into which a file of `size` bytes is cut.
    init?(size: Int64, partSize: Int64) { self.init(Int(ResumeBounds.pieces(size, of: partSize))) }

    /// As it stands at the end of a tag: digits, and nothing else.
    init?(_ digits: Substring) {
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits) else { return nil }
        self.init(number)
    }
}

/// The known state of each part of one multipart upload. The rules of order and number are here, requests are not.
struct S3Parts: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// The server does not have it. Next: `hashing`, `ready`.
        case missing
        /// Its digests are computed. Next: `ready`.
        case hashing
        /// It may be sent. Next: `sending`.
        case ready(S3Digests)
        /// It is on its way. Next: `stored`; `ready` or `missing` when it did not arrive.
        case sending(ExchangeID, S3Digests, lesson: Int)
        /// The server has it; `md5` is ours, where it is known. Next: `checking`, `missing` (repair).
        case stored(tag: String, md5: [UInt8]?)
        /// It was there when we came, and is compared with the file. Next: `stored`, `missing`.
        case checking(tag: String)
    }

    let size: Int64
    let partSize: Int64
    private(set) var parts: [Part]
    /// No part before it is missing.
    private var firstMissing = 0
    /// No part before it is stored without an MD5 of ours.
    private var firstUnchecked = 0
    private(set) var sending = 0
    private(set) var hashing = 0
    /// Parts that may be sent, in their order: one that failed comes before later ones.
    private(set) var ready: [Int] = []
    private(set) var stored = 0
    /// Bytes of parts that the server has.
    private(set) var storedBytes: Int64 = 0

    /// The parts of a file of that size; `nil`: they would be none, or more than an upload has.
    init?(size: Int64, partSize: Int64) {
        guard let count = S3PartCount(size: size, partSize: partSize) else { return nil }
        self.size = size
        self.partSize = partSize
        parts = Array(repeating: .missing, count: count.number)
    }

    private init() {
        (size, partSize) = (0, 1)
        parts = []
    }

    /// No part of anything.
    static let none = S3Parts()

    /// Range in the file of the part with this index, which is its number less one.
    func range(_ index: Int) -> Range<Int64> {
        let start = Int64(index) * partSize
        return start..<start + min(partSize, size - start)
    }

    /// The part that is exactly this range.
    func index(of range: Range<Int64>) -> Int? {
        let index = Int(range.lowerBound / partSize)
        return parts.indices.contains(index) && self.range(index) == range ? index : nil
    }

    var isComplete: Bool { stored == parts.count }
    /// Hashed, waiting or on their way.
    var busy: Int { hashing + ready.count + sending }

    /// Every part's tag in its order, when all are there.
    var tags: [String]? {
        let tags = parts.compactMap { if case .stored(let tag, _) = $0 { tag } else { nil } }
        return tags.count == parts.count ? tags : nil
    }

    /// The tag that S3 gives to the whole object, computed here: MD5 of the parts' MD5s, and their number.
    var composite: String? {
        let sums = parts.compactMap { if case .stored(_, let md5) = $0 { md5 } else { nil } }
        return !sums.isEmpty && sums.count == parts.count ? S3Tag.composite(sums) : nil
    }

    // MARK: Changes

    /// The only way in which a part changes: the counts follow.
    mutating func set(_ index: Int, _ part: Part) {
        count(parts[index], index, -1)
        parts[index] = part
        count(part, index, 1)
    }

    private mutating func count(_ part: Part, _ index: Int, _ change: Int) {
        switch part {
        case .missing: if change > 0 { firstMissing = min(firstMissing, index) }
        case .hashing: hashing += change
        case .ready:
            if change > 0 {
                ready.insert(index, at: ready.firstIndex { $0 > index } ?? ready.endIndex)
            } else {
                ready.removeAll { $0 == index }
            }
        case .sending: sending += change
        case .stored(_, let md5):
            stored += change
            storedBytes += Int64(change) * Int64(range(index).count)
            if change > 0, md5 == nil { firstUnchecked = min(firstUnchecked, index) }
        case .checking:
            storedBytes += Int64(change) * Int64(range(index).count)
            hashing += change
        }
    }

    /// The first part that the server does not have and nobody works on.
    mutating func nextMissing() -> Int? {
        while firstMissing < parts.count {
            if case .missing = parts[firstMissing] { return firstMissing }
            firstMissing += 1
        }
        return nil
    }

    /// The first part that the server has and nobody has compared with the file.
    mutating func nextUnchecked() -> Int? {
        while firstUnchecked < parts.count {
            if case .stored(_, nil) = parts[firstUnchecked] { return firstUnchecked }
            firstUnchecked += 1
        }
        return nil
    }

    /// Takes over what a list says: parts of the right length are kept, whatever else is there is written over.
    mutating func take(_ listed: [Int: S3PartPage.Part]) {
        for index in parts.indices {
            let known: (tag: String, md5: [UInt8]?)? =
                if case .stored(let tag, let md5) = parts[index] { (tag, md5) } else { nil }
            guard let part = listed[index + 1], part.size == Int64(range(index).count) else {
                set(index, .missing)
                continue
            }
            set(index, .stored(tag: part.tag, md5: known?.tag == part.tag ? known?.md5 : nil))
        }
    }
}

/// S3's tags.
enum S3Tag {
    /// Without quotes, in lower case.
    static func plain(_ tag: String) -> String {
        String(tag.trimmingSpaces().drop { $0 == "\"" }.prefix { $0 != "\"" }).lowercased()
    }

    /// True of a tag as services give objects: an MD5, or that of the parts' MD5s and their number.
    static func isOfObject(_ tag: String) -> Bool {
        let halves = plain(tag).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard !tag.hasPrefix("W/"), halves[0].utf8.count == 32, halves[0].allSatisfy(\.isHexDigit) else { return false }
        return halves.count == 1 || Int(halves[1]) != nil
    }

    /// True when the tag is this MD5: that of a part, or of a small object.
    static func isMD5(_ tag: String, _ md5: [UInt8]) -> Bool { plain(tag) == Hexadecimal.encode(md5) }

    static func composite(_ sums: [[UInt8]]) -> String {
        "\(DigestAlgorithm.md5.digest(of: sums.flatMap(\.self)).hex)-\(sums.count)"
    }

    /// Number of parts that an object was made of: 1 for one that was sent whole; `nil` when the tag is no digest, or names a number of
    /// parts that no object has.
    static func partCount(_ tag: String) -> S3PartCount? {
        let halves = plain(tag).split(separator: "-", omittingEmptySubsequences: false)
        guard let digest = halves.first, digest.utf8.count == 32, Hexadecimal.decode(digest) != nil else { return nil }
        return halves.count == 1 ? S3PartCount(1) : halves.count == 2 ? S3PartCount(halves[1]) : nil
    }
}
