/// The part of something that is done: one rule, wherever a percentage is made.
///
/// What is at the other end counts, whether it was sent or found there. Rounded down, and 100 only when all of it is done: what failed or
/// was cancelled never is, however small it was.
public struct Share: Hashable, Sendable {
    public var part: Int64
    public var whole: Int64
    /// Nothing of it is missing.
    public var isComplete: Bool

    public init(_ part: Int64, of whole: Int64, isComplete: Bool) {
        self.part = part
        self.whole = whole
        self.isComplete = isComplete
    }

    /// Bytes, or files where there are no bytes to count.
    init(_ bytes: ByteCounts, _ counts: FileCounts, isComplete: Bool) {
        self =
            bytes.total > 0
            ? Share(bytes.done, of: bytes.total, isComplete: isComplete)
            : Share(counts.completed, of: counts.total, isComplete: isComplete)
    }

    /// 0 to 100.
    public var percent: Int {
        if isComplete { return 100 }
        guard whole > 0, part > 0 else { return 0 }
        guard part < whole else { return 99 }
        let (high, low) = part.multipliedFullWidth(by: 100)
        return min(99, Int(whole.dividingFullWidth((high, low)).quotient))
    }
}

extension NodeRow {
    public var share: Share {
        Share(bytes, counts, isComplete: state == .completed && counts.cancelled == 0 && !scanning)
    }
}

extension QueueTotals {
    /// - Parameter scanning: folders of it are still being looked through: nobody knows yet what all of it is.
    public func share(scanning: Bool) -> Share {
        Share(bytes, counts, isComplete: counts.total > 0 && counts.completed == counts.total && !scanning)
    }
}

extension BatchSnapshot {
    public var share: Share {
        let isComplete = state == .completed && filesCancelled == 0 && !scanning
        return bytesTotal > 0
            ? Share(bytesSent + (bytesFound ?? 0), of: bytesTotal, isComplete: isComplete)
            : Share(filesCompleted, of: filesTotal, isComplete: isComplete)
    }
}

extension TaskSnapshot {
    /// `nil`: its size is not known yet.
    public var share: Share? {
        if state == .completed { return Share(bytesSent, of: bytesTotal ?? bytesSent, isComplete: true) }
        return bytesTotal.map { Share(bytesSent, of: $0, isComplete: false) }
    }
}
