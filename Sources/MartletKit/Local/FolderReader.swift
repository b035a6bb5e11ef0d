import LinuxSystem

/// The known part of a folder while it is read. Entries are sorted, and more come as long as it is not complete.
package struct FolderSnapshot: Hashable, Sendable {
    package var entries: [FolderEntry]
    package var isComplete: Bool
    /// The reason why it could not be read, or not to its end.
    package var problem: String?

    package init(_ entries: [FolderEntry], isComplete: Bool, problem: String? = nil) {
        self.entries = entries
        self.isComplete = isComplete
        self.problem = problem
    }
}

/// Reads one folder, however large, so that its beginning is there at once: the first names after a few hundred, then
/// again each time that their number has doubled. So the sum of all sorting is a small multiple of sorting once.
struct FolderReader {
    private var entries: [FolderEntry] = []
    private var fresh: [FolderEntry] = []
    private let order: FolderOrder

    /// About four screens.
    static let firstPortion = 256

    init(_ order: FolderOrder) { self.order = order }

    /// Blocks; stops when nobody wants it any more.
    static func read(
        _ path: [UInt8], _ order: FolderOrder, isWanted: () -> Bool, publish: (FolderSnapshot) -> Void
    ) {
        var reader = FolderReader(order)
        do throws(Errno) {
            let folder = try DirectoryReader(path: path)
            while let found = try folder.next() {
                let portion = reader.take(FolderEntry(found, in: folder.descriptor))
                guard isWanted() else { return }
                if let portion { publish(FolderSnapshot(portion, isComplete: false)) }
            }
            publish(FolderSnapshot(reader.all(), isComplete: true))
        } catch {
            publish(FolderSnapshot(reader.all(), isComplete: true, problem: "\(error)"))
        }
    }

    /// Takes an entry; all of them, sorted, when it is time to show them.
    mutating func take(_ entry: FolderEntry) -> [FolderEntry]? {
        fresh.append(entry)
        return fresh.count >= max(Self.firstPortion, entries.count) ? all() : nil
    }

    /// All entries so far, sorted.
    mutating func all() -> [FolderEntry] {
        fresh.sort(by: order.places)
        entries = Self.merged(entries, fresh, order)
        fresh = []
        return entries
    }

    private static func merged(_ one: [FolderEntry], _ other: [FolderEntry], _ order: FolderOrder) -> [FolderEntry] {
        if one.isEmpty || other.isEmpty { return one.isEmpty ? other : one }
        var result: [FolderEntry] = []
        result.reserveCapacity(one.count + other.count)
        var (left, right) = (0, 0)
        while left < one.count, right < other.count {
            if order.places(other[right], before: one[left]) {
                result.append(other[right])
                right += 1
            } else {
                result.append(one[left])
                left += 1
            }
        }
        result += one[left...]
        result += other[right...]
        return result
    }
}
