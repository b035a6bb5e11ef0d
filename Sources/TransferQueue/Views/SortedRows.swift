import LinuxSystem
import TransferModel

/// The first rows of what has no index in the order that a screen wants: names and sizes of files, sums of folders.
///
/// Reading them anew means going through all that is in one folder, so what was found is kept until something that it
/// depends on has changed; where it is much, a little longer. Confined to the reader, and bounded.
final class SortedRows {
    struct Key: Hashable {
        enum Set: Hashable {
            case files(in: Int64)
            case folders(in: Int64)
            case allFiles
        }

        let of: Set
        let order: TreeOrder
    }

    private struct Entry {
        let token: [Int64]
        let ids: [Int64]
        let readAt: MonotonicInstant
        let took: Duration
    }

    /// As many as a section has rows.
    static let most: Int64 = 1000
    /// Number of rows above which the old order is good enough for a while.
    private static let many: Int64 = 50_000
    private static let mostKept = 64

    private var entries: [Key: Entry] = [:]
    /// Something older than what is stored was given out: it is worth looking again.
    private var isBehind = false

    /// - Parameters:
    ///   - token: while it is the same, so is the order.
    ///   - rows: how many there are to be sorted.
    func ids(_ key: Key, token: [Int64], rows: Int64, read: () throws -> [Int64]) rethrows -> [Int64] {
        if let entry = entries[key] {
            if entry.token == token { return entry.ids }
            // At most a sixth of the time goes into sorting.
            if rows > Self.many, entry.readAt.duration(to: .now) < entry.took * 5 {
                isBehind = true
                return entry.ids
            }
        }
        let begun = MonotonicInstant.now
        let ids = try read()
        if entries.count >= Self.mostKept { entries = [:] }
        let now = MonotonicInstant.now
        entries[key] = Entry(token: token, ids: ids, readAt: now, took: begun.duration(to: now))
        return ids
    }

    /// Returns true when an order given out since the last call was an old one.
    func takeBehind() -> Bool {
        defer { isBehind = false }
        return isBehind
    }
}
