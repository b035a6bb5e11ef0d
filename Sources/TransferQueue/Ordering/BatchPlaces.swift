import TransferModel

/// The order of the batches that are not over, while some of them are moved: read once and written once for each change, however many batches
/// it names.
struct BatchPlaces {
    struct Row {
        let id: BatchID
        let position: Int64
        let priority: Int64
    }

    /// As they were before the change, by their positions.
    let rows: [Row]
    private let known: [BatchID: Row]
    private var order: [BatchID]
    /// One of them has another place than before the change, or had it meanwhile.
    private(set) var haveMoved = false

    init(_ rows: [Row]) {
        self.rows = rows
        known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        order = rows.map(\.id)
    }

    /// ID and position of each, as they were before the change.
    var positions: [[Int64]] { rows.map { [$0.id.rawValue, $0.position] } }

    /// Positions that differ now. The same numbers are given out anew: nobody else's place changes.
    var changed: [(id: BatchID, position: Int64)] {
        zip(order, rows).compactMap { id, row in known[id]?.position == row.position ? nil : (id, row.position) }
    }

    /// The outcome of a move.
    enum Outcome {
        case moved
        case already
        /// `place` is before what is no batch.
        case noBatch(NodeID)
        /// `place` is before a batch that is over or that there never was.
        case noPlace(BatchID)
        /// `place` is before a batch of another priority.
        case otherPriority(BatchID, TransferPriority)
    }

    /// Moves a batch among those of its priority.
    mutating func move(_ batch: BatchID, to place: MovePlace) -> Outcome {
        guard let own = known[batch], let old = order.firstIndex(of: batch) else { return .already }
        func isEqual(_ id: BatchID) -> Bool { known[id]?.priority == own.priority }
        let new: Int
        switch place {
        case .top: new = 0
        case .bottom: new = order.endIndex
        case .earlier:
            guard let next = order[..<old].lastIndex(where: isEqual) else { return .already }
            new = next
        case .later:
            // Behind the next of its equals, wherever the one after that is.
            guard let next = order[(old + 1)...].firstIndex(where: isEqual) else { return .already }
            new = next + 1
        case .before(.batch(let other)):
            if other == batch { return .already }
            guard let row = known[other], let next = order.firstIndex(of: other) else { return .noPlace(other) }
            guard row.priority == own.priority else {
                return .otherPriority(other, TransferPriority(stored: row.priority))
            }
            new = next
        case .before(let other): return .noBatch(other)
        }
        // It stands there.
        if new == old || new == old + 1 { return .already }
        order.remove(at: old)
        order.insert(batch, at: new > old ? new - 1 : new)
        haveMoved = true
        return .moved
    }
}

/// Places of batches before a change, as pairs of ID and position.
enum BatchPositions {
    /// The pairs with one batch back where it was among the others: behind the one that it stood behind. The same positions are given out anew.
    static func putBack(_ batch: Int64, as before: [[Int64]], in now: [[Int64]]) -> [[Int64]] {
        func sorted(_ pairs: [[Int64]]) -> [[Int64]] { pairs.filter { $0.count == 2 }.sorted { $0[1] < $1[1] } }
        let now = sorted(now)
        var order = now.map { $0[0] }
        guard let own = order.firstIndex(of: batch) else { return now }
        order.remove(at: own)
        let places = Dictionary(zip(order, order.indices)) { first, _ in first }
        let above = sorted(before).prefix { $0[0] != batch }.last { places[$0[0]] != nil }
        order.insert(batch, at: above.flatMap { places[$0[0]] }.map { $0 + 1 } ?? 0)
        return zip(order, now).map { [$0, $1[1]] }
    }
}
