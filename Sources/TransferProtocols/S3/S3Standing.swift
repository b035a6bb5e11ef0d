import Digests
import TransferModel
import WireOperations

/// The state of the place where the object belongs, by a HEAD.
enum S3Standing: Hashable, Sendable {
    case nothing
    /// An attempt of this task has put it there, from the source as it is.
    case ours(S3Object)
    /// An attempt of this task has put it there, from the source as it was.
    case oursBefore(S3Object)
    case foreign(S3Object)
    /// It does not tell: who may write may not always read.
    case untold

    /// - Parameter isStored: the server has just said that it has this attempt's object.
    init(_ answer: HTTPAnswer, _ subject: UploadSubject, isStored: Bool) {
        let object = S3Object(answer)
        guard answer.field(S3Messages.tokenField) == subject.token, isStored || !subject.targetIsOther else {
            self = .foreign(object)
            return
        }
        let isCurrent = object.size == subject.size && object.modified(like: subject) != false
        // Without the time nothing tells the versions apart.
        let isTold = object.time != nil || !subject.hasChanged
        self = isCurrent && isTold ? .ours(object) : .oursBefore(object)
    }
}

/// The properties of an object, by a HEAD.
struct S3Object: Hashable, Sendable {
    var size: Int64?
    /// Verbatim, quotes included.
    var tag: String?
    /// Modification time of the file that it was made of, nanoseconds since 1970.
    var time: Int64?

    init(_ answer: HTTPAnswer) {
        size = answer.contentLength
        tag = answer.etag
        time = answer.field(S3Messages.timeField).flatMap(Self.nanoseconds)
    }

    /// True when it was made of a file of that time; `nil` when one of them does not say.
    func modified(like subject: UploadSubject) -> Bool? {
        guard let time, subject.modifiedNanoseconds > 0 else { return nil }
        return time == subject.modifiedNanoseconds
    }

    /// Seconds with an optional fraction.
    private static func nanoseconds(_ text: String) -> Int64? {
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = halves.first.flatMap({ Int64($0) }), (0..<9_000_000_000).contains(seconds) else {
            return nil
        }
        let digits = halves.count > 1 ? halves[1].prefix(9) : ""
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let fraction = Int64(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
        return seconds * 1_000_000_000 + fraction
    }
}

/// The file is hashed as the object was made, and compared with the object's tag.
struct S3Comparison: Hashable, Sendable {
    /// The reason for the comparison.
    enum Purpose: Hashable, Sendable {
        /// A foreign object may be the same file.
        case isItTheSame
        /// Ours was found there, and a digest is wanted.
        case isItWhole
    }

    let purpose: Purpose
    let object: S3Object
    private let tag: String
    private var ranges: ArraySlice<Range<Int64>>
    private var sums: [[UInt8]] = []

    private static let knownPartSizes: [Int64] = [8, 16, 5, 32, 64, 128, 256, 10, 15, 50, 100].map { $0 << 20 }

    /// `nil` when the tag does not tell by which digests the object could be compared.
    init?(_ object: S3Object, _ purpose: Purpose, size: Int64, partSize: Int64) {
        guard let tag = object.tag, object.size == size, let count = S3Tag.partCount(tag) else { return nil }
        self.purpose = purpose
        self.object = object
        self.tag = S3Tag.plain(tag)
        guard size > 0 else {
            ranges = []
            sums = [DigestAlgorithm.md5.digest(of: []).bytes]
            return
        }
        guard self.tag.contains("-") else {
            ranges = [0..<size]
            return
        }
        // Of what parts it was made is not told, only how many they were: ours, or those of a program that many use.
        let sizes = [partSize] + Self.knownPartSizes
        guard let made = sizes.first(where: { S3PartCount(size: size, partSize: $0) == count }),
            let parts = S3Parts(size: size, partSize: made)
        else { return nil }
        ranges = parts.parts.indices.map(parts.range)[...]
    }

    /// The next digest that is needed; `nil` when all are there.
    var wanted: ProtocolAction? { ranges.first.map { .digestRange($0, ["md5"]) } }

    /// Takes a digest that was asked for.
    mutating func take(_ range: Range<Int64>, _ digests: S3Digests) {
        guard range == ranges.first, let md5 = digests.md5 else { return }
        ranges.removeFirst()
        sums.append(md5)
    }

    /// True when the object has the file's bytes; false as long as a digest is wanted.
    var isSame: Bool {
        guard let first = sums.first, ranges.isEmpty else { return false }
        return tag.contains("-") ? tag == S3Tag.composite(sums) : S3Tag.isMD5(tag, first)
    }

    /// Digest of the whole file, where the object was made in one piece.
    var digest: TransferDigest? {
        tag.contains("-") ? nil : TransferDigest(algorithm: "md5", value: tag)
    }
}
