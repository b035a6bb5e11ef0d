import LinuxSystem
package import TransferModel

package actor QueueWriter {
    private let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(loop: EventLoop) { self.loop = loop }

    // MARK: Adding and walking

    /// Queues a batch: all of it, durably, or nothing. A request whose UUID is known returns the batch that is there.
    /// Throws `QueueError`.
    package func add(_ request: BatchRequest) throws -> AddedBatch { fatalError() }
    /// Sources of upload batches that are not completely in the queue: after start all, after `add` those of the batch.
    package func unscannedSources(of batch: BatchID? = nil) throws -> [WalkState] { fatalError() }
    /// Says what sources are. Directories are to be walked from then on: `foldersToWalk`. A source that is begun already is left alone.
    package func begin(_ sources: [FoundSource]) throws { fatalError() }
    /// Directories that are known and not completely listed, oldest first.
    package func foldersToWalk(of source: SourceID, limit: Int) throws -> [FolderToWalk] { fatalError() }
    /// Takes what a walk found; at most some 5000 entries a call. Returns the next directories to walk of the same source as the last chunk.
    package func insert(walked chunks: [WalkedChunk], next limit: Int = 64) throws -> [FolderToWalk] { fatalError() }
    /// Ends the scanning of a batch when nothing of it is left to be walked, and says whether that is so. Durable on return.
    @discardableResult
    package func finishScan(_ batch: BatchID) throws -> Bool { fatalError() }

    // MARK: Running

    /// The lanes of batches that are not finished, in the order priority, position, lane.
    package func lanes() throws -> [LaneSummary] { fatalError() }
    /// What the tasks of a batch need. `nil`: no such batch.
    package func order(of batch: BatchID) throws -> BatchOrder? { fatalError() }
    /// Takes the next tasks of a lane, and marks durably that they may have begun before it returns.
    /// Nothing when the batch is held, paused, or may not begin before a time after `now`.
    package func claim(_ lane: LaneID, limit: Int, now: Timestamp) throws -> [ClaimedTask] { fatalError() }
    /// Gives claimed tasks back that were never started.
    package func release(unstarted tasks: [TaskID]) throws { fatalError() }
    /// Records a fact about a claimed task. Never waits; it is durable after the next group commit.
    /// Facts of tasks that were cancelled or paused meanwhile are dropped where they no longer matter.
    package nonisolated func record(_ change: TaskChange, for task: TaskID) { fatalError() }
    /// Returns when everything recorded before is durable. Throws `QueueError` when that failed; it is tried again later.
    package func commit() async throws { fatalError() }
    /// Lets tasks stand in line again whose time has come.
    package func wakeDue(now: Timestamp) throws { fatalError() }
    /// When the next task or batch is due by itself.
    package func nextWake() throws -> Timestamp? { fatalError() }
    /// A reason to wait is gone, everywhere or only in a batch or a lane's origin: tasks that waited for nothing else stand in line again.
    package func clearWait(_ reasons: WaitReasons, batch: BatchID? = nil, origin: String? = nil) throws { fatalError() }

    // MARK: People

    package func pause(_ nodes: [NodeID]) throws -> NodeChange { fatalError() }
    /// Also starts a held batch.
    package func resume(_ nodes: [NodeID]) throws -> NodeChange { fatalError() }
    package func cancel(_ nodes: [NodeID]) throws -> NodeChange { fatalError() }
    /// A new run of what failed or was cancelled; what waits tries again now.
    package func retry(_ nodes: [NodeID]) throws -> NodeChange { fatalError() }
    /// Takes back the last cancel, of these nodes or (empty) of any, when it is not longer ago than the grace time.
    package func undo(_ nodes: [NodeID], now: Timestamp) throws -> NodeChange { fatalError() }
    /// Forgets terminal batches and tasks, their events and their secrets.
    package func purge(_ nodes: [NodeID]) throws -> NodeChange { fatalError() }
    /// Forgets batches that finished before a time; all finished ones when it is `nil`.
    package func purge(finishedBefore time: Timestamp?) throws -> NodeChange { fatalError() }
    /// Moves a consumer's cursor forward; never back.
    package func acknowledge(consumer: String, through sequence: EventSequence) throws { fatalError() }
}
