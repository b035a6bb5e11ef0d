package import TransferModel

/// Counts of the whole queue.
package struct QueueStatistics: Hashable, Sendable {
    package var sessions: Int64 = 0
    package var batches: Int64 = 0
    package var counts = FileCounts()
    package var databaseBytes: Int64 = 0
}

/// Why a node stands where it stands.
package struct NodeStanding: Hashable, Sendable {
    /// As shown.
    package var state: TransferState
    package var batch: BatchID
    package var counts: FileCounts
    package var scanning: Bool
    /// The batch was queued with `--hold` and never started.
    package var isHeld: Bool
    /// The nodes whose own flag pauses it: the batch, folders above, itself.
    package var pausedBy: [NodeID]
    package var notBefore: Timestamp?
    package var waitReasons: [WaitReason]
    /// The earliest retry of its tasks.
    package var retryAt: Timestamp?
    /// Since when, where known.
    package var since: Timestamp?
    /// Of the task, or of one of the tasks that wait or failed.
    package var error: TransferError?
    /// The host of the task, or of one of the tasks.
    package var origin: String?
    /// Runnable tasks of batches that come first (higher priority or earlier position).
    package var ahead: Int64
}
