/// In which order the rows of a section stand.
///
/// Folders stand before files in every order. Speed and time left order what moves; what stands still stays behind it
/// in the queue's order, and so does, of files, how much of them is done.
public struct TreeOrder: Codable, Hashable, Sendable {
    /// The sort key.
    public enum Key: String, Codable, Hashable, Sendable, CaseIterable {
        /// As the engine works through it: files of one fate are folded into one row.
        case queue
        /// By the bytes of the names.
        case name
        /// The largest first.
        case size
        /// The most first.
        case files
        /// The largest share done first.
        case done
        /// The fastest first.
        case speed
        /// The shortest time left first.
        case eta
        /// Moving rows first, then those that need a look, that wait, and that are over.
        case state
    }

    public var by: Key
    /// The other way round.
    public var reversed: Bool

    public init(_ by: Key = .queue, reversed: Bool = false) {
        self.by = by
        self.reversed = reversed
    }

    /// True when files stand one by one, none folded together.
    public var listsFiles: Bool { by == .name || by == .size }
}

extension TreeOrder {
    /// Rows that were read in this order, by what has moved since. Stable: equal ones stay as they were.
    package func settled(_ rows: [NodeRow]) -> [NodeRow] {
        guard by == .done || by == .speed || by == .eta else { return rows }
        let isFile = { (row: NodeRow) in
            switch row.id {
            case .batch, .folder: false
            case .task, .group: true
            }
        }
        return settledPart(rows.filter { !isFile($0) }) + settledPart(rows.filter(isFile))
    }

    private func settledPart(_ rows: [NodeRow]) -> [NodeRow] {
        let moving = rows.enumerated().compactMap { row in figure(row.element).map { (row.offset, $0) } }
        let sorted = moving.sorted { one, other in
            one.1 == other.1 ? one.0 < other.0 : (one.1 < other.1) != reversed
        }.map(\.0)
        let taken = Set(sorted)
        return sorted.map { rows[$0] } + rows.indices.filter { !taken.contains($0) }.map { rows[$0] }
    }

    /// The smallest first; `nil`: it has none, and stays behind those that have.
    private func figure(_ row: NodeRow) -> Double? {
        switch by {
        case .speed: return row.bytesPerSecond > 0 ? -Double(row.bytesPerSecond) : nil
        case .eta: return row.bytesPerSecond > 0 ? row.secondsLeft.map(Double.init) : nil
        case .done:
            switch row.id {
            case .batch, .folder: return -row.shareDone
            case .task: return row.state.isActive ? -row.shareDone : nil
            case .group: return nil
            }
        case .queue, .name, .size, .files, .state: return nil
        }
    }
}

extension NodeRow {
    /// From 0 to 1; by files where there are no bytes to count.
    private var shareDoneOfWhole: (part: Int64, whole: Int64) {
        bytes.total > 0 ? (bytes.done, bytes.total) : (counts.completed, counts.total)
    }

    fileprivate var shareDone: Double {
        let share = shareDoneOfWhole
        return share.whole > 0 ? Double(share.part) / Double(share.whole) : 0
    }
}
