package import TransferModel

/// A row of answers that nothing is there of an upload. A gateway says so, too, while its server is made anew: what has taken hours is not begun
/// again, and not removed, for one such word.
package struct Absence: Hashable, Sendable {
    /// When the answer came last.
    let last: Timestamp
    /// Milliseconds for which it has been the same.
    let lasting: Int64

    /// Returns true of bytes that are sent again sooner than waited for.
    package static func isCheap(_ bytes: Int64) -> Bool { bytes < 16 << 20 }

    private static let patience: Int64 = 60_000
    /// With the longest back-off between two answers it takes most of an hour.
    private static let outage: Int64 = 300_000
    /// The most that counts of the time between two answers: in a longer one, as of a pause, the server may have come and gone.
    private static let mostBetweenTwo: Duration = .seconds(30)
    /// After so long an answer is the first of another row.
    private static let memory: Duration = .seconds(86_400)

    /// The next answer of a row.
    /// - Parameter earlier: the row so far; `nil`: this answer is the first.
    package init(after earlier: Absence?, at now: Timestamp) {
        last = now
        guard let earlier else {
            lasting = 0
            return
        }
        // The clock may have been set back.
        let passed = max(.zero, now.since(earlier.last))
        let counted = Timestamp(milliseconds: 0).advanced(by: min(passed, Self.mostBetweenTwo)).milliseconds
        lasting = passed < Self.memory ? min(earlier.lasting + counted, Self.outage) : 0
    }

    init(last: Timestamp, lasting: Int64) {
        self.last = last
        self.lasting = min(max(0, lasting), Self.outage)
    }

    /// Returns true when the server is to say it again, and later.
    /// - Parameter bytes: those that would be sent again.
    package func isDoubted(losing bytes: Int64) -> Bool { !Self.isCheap(bytes) && lasting < Self.patience }

    /// An upload that is not there cannot be begun anew either, as nothing is found at its place: true when the server may still be away.
    package var mayBeOutage: Bool { lasting < Self.outage }
}
