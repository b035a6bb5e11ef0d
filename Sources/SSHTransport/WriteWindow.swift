/// A range that is written in pieces: which have been sent, which are acknowledged.
struct WriteWindow: Equatable {
    let range: Range<Int64>
    /// The next piece begins here.
    private(set) var next: Int64
    /// Everything from the start to here is acknowledged.
    private(set) var through: Int64
    /// The most pieces that may wait for the acknowledgement of one in front of them: many more than are on their way at a time.
    static let mostHeld = 1024
    /// Pieces that were acknowledged before one in front of them, by their starts.
    private var early: [Int64: Int64] = [:]

    init(_ range: Range<Int64>) {
        self.range = range
        next = range.lowerBound
        through = range.lowerBound
    }

    var isSent: Bool { next == range.upperBound }
    var isAcknowledged: Bool { through == range.upperBound }
    var left: Int64 { range.upperBound - next }
    /// True while the oldest piece has to be acknowledged before another is sent.
    var isFull: Bool { early.count >= Self.mostHeld }

    /// Takes the next piece.
    mutating func take(_ count: Int) -> Range<Int64> {
        let piece = next..<(next + min(Int64(count), left))
        next = piece.upperBound
        return piece
    }

    mutating func acknowledge(_ piece: Range<Int64>) {
        if piece.lowerBound != through {
            early[piece.lowerBound] = piece.upperBound
            return
        }
        through = piece.upperBound
        while !early.isEmpty, let end = early.removeValue(forKey: through) { through = end }
    }
}
