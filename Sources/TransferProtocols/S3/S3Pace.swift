import TransferModel

/// The speed of an attempt's parts.
struct S3Pace: Hashable, Sendable {
    /// When the first of them could be sent.
    private var begin: Timestamp?
    private var stored: Int64 = 0
    /// Bytes a second; `nil`: nobody knows yet.
    private(set) var rate: Int64?

    mutating func start(at now: Timestamp) { if begin == nil { begin = now } }

    mutating func take(_ bytes: Int64, at now: Timestamp) {
        guard let begin else { return }
        stored += bytes
        let milliseconds = now.milliseconds - begin.milliseconds
        // In less nothing is measured.
        if milliseconds >= 100 { rate = stored * 1000 / milliseconds }
    }

    /// The rate as a fact for the next file; `nil` when it is unknown, or hardly differs from the known one.
    func lesson(beside known: Int64?) -> HostFacts? {
        guard let rate, known.map({ rate > $0 / 2 * 3 || rate < $0 / 3 * 2 }) ?? true else { return nil }
        var facts = HostFacts()
        facts.partRate = rate
        return facts
    }
}

extension S3Plan {
    /// Bytes of a part where nobody says how many: every part costs the server several requests of its own, and a kill repeats those that
    /// are on their way. So about what goes in a second, and of a file a sixteenth at most; a power of two, by which others, too,
    /// find out of which parts an object was made.
    /// - Parameter rate: bytes a second that parts went to this host before.
    func usual(at rate: Int64) -> Int64 {
        let wished = min(rate, subject.size / 16)
        return Self.usualPartSizes.last { $0 <= wished } ?? Self.usualPartSizes[0]
    }

    private static let usualPartSizes: [Int64] = (3...8).map { 1 << ($0 + 20) }

    /// Parts that may be on their way together: about 64 MiB, two at least. On a fast line more, since each part costs the server a while
    /// in which the line would be idle: as much as is sent again, after a kill, within two seconds.
    /// - Parameter rate: bytes a second so far; `nil`: unknown.
    func partsAtOnce(at rate: Int64?) -> Int {
        let together = max(64 << 20, 2 * (rate ?? 0))
        return min(parallel, max(2, Int((together + partSize - 1) / partSize)))
    }
}
