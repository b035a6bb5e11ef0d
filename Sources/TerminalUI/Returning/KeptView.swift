import MartletKit

/// The place where a person was when the screen of an engine was left, and the progress of its batches then.
struct KeptView: Hashable, Sendable {
    /// The progress of a batch.
    struct Standing: Hashable, Sendable {
        var completed: Int64
        var failed: Int64
        var bytes: Int64
    }

    /// By the engine's clock.
    var leftAt: Timestamp
    /// The row of the cursor, and behind it the rows that it is in.
    var cursor: [RowID] = []
    /// Rows that were open.
    var open: [RowID] = []
    /// Those of them that had opened by themselves.
    var selfOpened: [RowID] = []
    /// Rows that were closed.
    var closed: [RowID] = []
    var filter: String?
    var order = TreeOrder()
    /// Lines of the lower part.
    var lowerHeight: Int?
    var batches: [BatchID: Standing] = [:]
    /// Files that waited for the person.
    var waiting: Int64 = 0

    init(leftAt: Timestamp) { self.leftAt = leftAt }

    /// More rows than these are not remembered.
    static let most = 500
}

/// The changes of an engine's batches between two screens.
struct SinceLeaving: Hashable, Sendable {
    private(set) var completed: Int64 = 0
    private(set) var bytes: Int64 = 0
    private(set) var failed: Int64 = 0
    private(set) var finishedBatches: Int64 = 0
    private(set) var cancelledBatches: Int64 = 0
    private(set) var newBatches: Int64 = 0
    private(set) var hasUnfinished = false

    /// Compares the batches with the last screen. Of older ones that were not on it only that they have ended is known.
    init(_ kept: KeptView, _ batches: [BatchSnapshot]) {
        for batch in batches {
            let isNew = batch.createdAt >= kept.leftAt
            if isNew { newBatches += 1 }
            if !batch.state.isTerminal { hasUnfinished = true }
            if let finished = batch.finishedAt, finished >= kept.leftAt {
                if batch.state == .cancelled { cancelledBatches += 1 } else { finishedBatches += 1 }
            }
            let none = KeptView.Standing(completed: 0, failed: 0, bytes: 0)
            guard let before = isNew ? none : kept.batches[batch.id] else { continue }
            ByteSum.add(max(0, batch.filesCompleted - before.completed), to: &completed)
            ByteSum.add(max(0, batch.filesFailed - before.failed), to: &failed)
            ByteSum.add(max(0, batch.bytesAccepted - before.bytes), to: &bytes)
        }
    }
}
