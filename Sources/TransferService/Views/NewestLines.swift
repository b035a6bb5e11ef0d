import TransferModel

/// The newest lines of a log with their numbers, the oldest first.
struct NewestLines {
    typealias Entry = (number: Int64, line: LogLine)

    private static let limit = 2000
    private var entries: [Entry] = []

    /// At most ``limit`` of them, or somewhat more.
    var all: [Entry] { entries }

    /// - Parameter number: higher than that of every line before.
    mutating func keep(_ line: LogLine, number: Int64) {
        entries.append((number, line))
        // In bulk, since removing at the front moves all the rest.
        if entries.count >= 2 * Self.limit { entries.removeFirst(entries.count - Self.limit) }
    }

    /// The lines of both, in the order of their numbers.
    static func merged(_ one: NewestLines, _ other: NewestLines) -> [Entry] {
        (one.entries + other.entries).sorted { $0.number < $1.number }
    }
}
