import TransferModel
import TransferQueue

/// The sources that are walked now, and what is to be walked again. A value of the engine (`TransferEngine+Walks`).
struct WalkBook {
    private var sources: Set<SourceID> = []
    /// Batches of which something is to be walked once more, when their walks have ended.
    private var again: Set<BatchID> = []
    /// Counted on by a stop, which breaks walks off.
    private(set) var run = 0

    /// Takes up sources that are not walked now; where a walk of before has not ended yet it is looked again when it has.
    /// - Returns: those that begin.
    mutating func begin(_ found: [WalkState]) -> [WalkState] {
        let new = found.filter { sources.insert($0.source).inserted }
        let taken = Set(new.map(\.source))
        for source in found where !taken.contains(source.source) { again.insert(source.batch) }
        return new
    }

    /// Ends walks that began in `run`. - Returns: true when the batch is to be looked at again.
    mutating func end(_ walked: [WalkState], of batch: BatchID, begunIn run: Int) -> Bool {
        for source in walked { sources.remove(source.source) }
        // Broken off by a stop or cancel that was taken back: from what the queue has.
        return again.remove(batch) != nil || run != self.run
    }

    mutating func breakOff() { run += 1 }
}
