/// A file that is read in pieces: which are asked for, what may be told on in order, where the end is.
///
/// A piece that arrives before one in front of it is held. However short, late and mixed the answers are, the window holds at most `reach`
/// bytes and one packet, in at most `mostHeld` chunks, and keeps no more than that many holes between them.
struct ReadWindow: Equatable {
    /// Bytes that arrived before others in front of them, and where they begin.
    private struct Chunk: Equatable {
        var start: Int64
        var bytes: [UInt8]
        var end: Int64 { start + Int64(bytes.count) }
    }

    /// The most chunks that are held.
    static let mostHeld = 1024
    /// Chunks that touch become one of at most this many bytes, so that short answers cost no more than long ones.
    private static let chunk = 256 * 1024

    /// All before this was told on.
    private(set) var through: Int64
    /// The next new piece begins here.
    private var next: Int64
    /// Ranges that answers left out, by their starts; none touches another. The first is asked for before anything new.
    private var again: [Range<Int64>] = []
    /// Pieces that arrived before one in front of them, by their starts.
    private var early: [Chunk] = []
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

    /// Chunks that are held.
    var held: Int { early.count }

    /// The next piece to ask for, at most `limit` long; `nil` while nothing can be asked.
    func wanted(_ limit: Int) -> Range<Int64>? {
        // Each answer may become a chunk. The oldest missing piece never does: it is told on at once, and what waits behind it as well.
        let isFull = early.count + asked >= Self.mostHeld
        if let first = again.first {
            if isFull, first.lowerBound != through { return nil }
            return first.lowerBound..<min(first.upperBound, first.lowerBound + Int64(limit))
        }
        // A server that leaves the first piece out gets no further than that.
        if isFull || asked >= allowed || next - through >= reach { return nil }
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
        if got < piece.upperBound { askAgain(got..<piece.upperBound) }
        if piece.lowerBound != through {
            hold(data, at: piece.lowerBound)
            return true
        }
        through = got
        tell(data)
        var told = 0
        while told < early.count, early[told].start == through {
            through = early[told].end
            early[told].bytes.withUnsafeBytes { tell($0) }
            told += 1
        }
        early.removeFirst(told)
        return true
    }

    /// The server has nothing at that piece's start.
    mutating func reachedEnd(at piece: Range<Int64>) {
        asked -= 1
        let found = max(through, min(end ?? piece.lowerBound, piece.lowerBound))
        end = found
        again.removeAll { $0.lowerBound >= found }
        early.removeAll { $0.start >= found }
    }

    /// Puts a range in its place among those that are missing, as one with those that it touches.
    private mutating func askAgain(_ hole: Range<Int64>) {
        var hole = hole
        var place = again.count { $0.lowerBound < hole.lowerBound }
        if place < again.count, again[place].lowerBound == hole.upperBound {
            hole = hole.lowerBound..<again.remove(at: place).upperBound
        }
        if place > 0, again[place - 1].upperBound == hole.lowerBound {
            place -= 1
            hole = again.remove(at: place).lowerBound..<hole.upperBound
        }
        again.insert(hole, at: place)
    }

    private mutating func hold(_ data: UnsafeRawBufferPointer, at start: Int64) {
        var (place, above) = (0, early.count)
        while place < above {
            let middle = (place + above) / 2
            if early[middle].start < start { place = middle + 1 } else { above = middle }
        }
        if place > 0, early[place - 1].end == start, early[place - 1].bytes.count + data.count <= Self.chunk {
            place -= 1
            early[place].bytes.append(contentsOf: data)
        } else {
            early.insert(Chunk(start: start, bytes: Array(data)), at: place)
        }
        // It may have filled the gap before the next one.
        guard place + 1 < early.count, early[place].end == early[place + 1].start else { return }
        let behind = early[place + 1].bytes
        guard early[place].bytes.count + behind.count <= Self.chunk else { return }
        early[place].bytes.append(contentsOf: behind)
        early.remove(at: place + 1)
    }
}
