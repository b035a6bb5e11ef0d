package import TransferModel

/// Counts of the whole queue.
package struct QueueStatistics: Hashable, Sendable {
    package var sessions: Int64 = 0
    package var batches: Int64 = 0
    package var counts = FileCounts()
    package var databaseBytes: Int64 = 0
    /// True when something paused resumes by itself.
    package var awaitsPauseEnd = false
    /// True when a batch that nobody holds goes on though no file of it waits: folders are listed, here or at its server.
    package var isLooking = false
}

/// The state of a node and the reasons for it, for `why`.
package struct NodeStanding: Hashable, Sendable {
    /// As shown.
    package var state: TransferState
    package var batch: BatchID
    package var isDownload = false
    package var counts: FileCounts
    package var scanning: Bool
    /// The batch was queued with `--hold` and never started.
    package var isHeld: Bool
    /// The nodes whose own flag pauses it: the batch, folders above, itself.
    package var pausedBy: [NodeID]
    /// Batches and folders only: the paused folders below it, the first of them.
    package var pausedBelow: [NodeID] = []
    /// When the last of these flags goes by itself; `nil`: one of them does not.
    package var pauseEnds: Timestamp?
    package var notBefore: Timestamp?
    package var waitReasons: [WaitReason]
    /// The earliest retry of its tasks.
    package var retryAt: Timestamp?
    /// Since when, where known.
    package var since: Timestamp?
    /// The error of the task, or of one of the tasks that wait or failed.
    package var error: TransferError?
    /// The host of the task, or of one of the tasks.
    package var origin: String?
    /// Cancelled uploads only: true when a part is still at a server, from which a retry goes on. `nil`: not looked at.
    package var isLeftAtServer: Bool?
    /// Runnable tasks of batches that come first (higher priority or earlier position).
    package var ahead: Int64
    /// Tasks only: number of tasks of its own batch that come first.
    package var aheadInBatch: Int64 = 0
    /// A person wants it now.
    package var isUrgent = false
    /// The limits on its way, without the whole engine's.
    package var limits: [Limit] = []

    /// A limit that it draws from.
    package struct Limit: Hashable, Sendable {
        package var rate: Int64
        /// The thing that has the limit, as a person is told.
        package var name: String
        /// The command that takes it away.
        package var remedy: AdvisedCommand

        package init(rate: Int64, name: String, remedy: AdvisedCommand) {
            self.rate = rate
            self.name = name
            self.remedy = remedy
        }
    }
}
