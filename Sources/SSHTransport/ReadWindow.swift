/// A file that is read in pieces: which are asked for, what may be told on in order, where the end is.
struct ReadWindow: Equatable {
    /// All before this was told on.
    private(set) var through: Int64
    /// The next new piece begins here.
    private var next: Int64
    /// Ranges that answers left out: asked for again, before anything new.
    private var again: [Range<Int64>] = []
    /// Pieces that arrived before one in front of them, by their starts.
    private var early: [Int64: [UInt8]] = [:]
    /// The file ends here or before, as far as is known.
    private var end: Int64?
    /// Pieces without an answer.
    private(set) var asked = 0
    /// The most pieces without an answer while the file's length is not known: few at first, or a small file costs many useless ones.
    private var allowed = 4

    /// Bytes that the newest piece may be ahead of the oldest one that is missing: what comes in between is held in memory.
    private let reach: Int64

    /// - Parameter total: the file's length, where it is known; nothing is asked for beyond it.
    init(from offset: Int64, total: Int64?, reach: Int64 = 16 << 20) {
        self.reach = reach
        through = offset
        next = offset
        end = total.map { max($0, offset) }
        if total != nil { allowed = Int.max }
    }

    var isDone: Bool { asked == 0 && again.isEmpty && (end.map { through >= $0 } ?? false) }

    /// The next piece to ask for, at most `limit` long; `nil` while nothing can be asked.
    func wanted(_ limit: Int) -> Range<Int64>? {
        if let first = again.first { return first.lowerBound..<min(first.upperBound, first.lowerBound + Int64(limit)) }
        // A server that leaves the first piece out gets no further than that.
        if asked >= allowed || next - through >= reach { return nil }
        let last = end ?? Int64.max
        if next >= last { return nil }
        return next..<(last - next > Int64(limit) ? next + Int64(limit) : last)
    }

    /// A piece that `wanted` named, or the beginning of it, was asked for.
    mutating func ask(_ piece: Range<Int64>) {
        asked += 1
        guard let first = again.first else {
            next = piece.upperBound
            return
        }
        again[0] = piece.upperBound..<first.upperBound
        if again[0].isEmpty { again.removeFirst() }
    }

    /// An answer came. False when it is none to that question. `tell` gets what can be told on now.
    mutating func arrived(
        _ data: UnsafeRawBufferPointer, for piece: Range<Int64>, _ tell: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        let count = Int64(data.count)
        if count > piece.upperBound - piece.lowerBound { return false }
        if count == 0 {
            reachedEnd(at: piece)
            return true
        }
        asked -= 1
        if allowed < Int.max / 2 { allowed += 2 }
        let got = piece.lowerBound + count
        if got < piece.upperBound { again.append(got..<piece.upperBound) }
        if piece.lowerBound != through {
            early[piece.lowerBound] = Array(data)
            return true
        }
        through = got
        tell(data)
        while !early.isEmpty, let waiting = early.removeValue(forKey: through) {
            through += Int64(waiting.count)
            waiting.withUnsafeBytes { tell($0) }
        }
        return true
    }

    /// The server has nothing at that piece's start.
    mutating func reachedEnd(at piece: Range<Int64>) {
        asked -= 1
        let found = max(through, min(end ?? piece.lowerBound, piece.lowerBound))
        end = found
        again.removeAll { $0.lowerBound >= found }
    }
}
