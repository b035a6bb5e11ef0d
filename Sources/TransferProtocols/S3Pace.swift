import TransferModel

/// How fast the parts of an attempt go.
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
}

extension S3Plan {
    /// Parts that may be on their way together: about 64 MiB, two at least. On a fast line more, since each part costs the server a while
    /// in which the line would be idle: as much as is sent again, after a kill, within two seconds.
    /// - Parameter rate: bytes a second so far; `nil`: unknown.
    func partsAtOnce(at rate: Int64?) -> Int {
        min(parallel, max(2, Int(max(64 << 20, 2 * (rate ?? 0)) / partSize)))
    }
}
