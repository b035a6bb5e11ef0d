package import TransferModel
package import TransferQueue

/// The engine as the service uses it. `TransferEngine` is the one that moves bytes; a test of the service brings a fake.
///
/// The queue is the truth: the service changes the queue first and then tells the engine, which looks again.
package protocol EngineControl: Actor {
    /// Takes up what the queue holds: tasks found running go on, folders not yet walked are walked.
    func start() async throws

    /// A batch is in the queue (durably). Its folders are walked and its tasks run; returns at once.
    func batchAdded(_ batch: BatchID)

    /// The queue has ended these claims: their tasks were paused or cancelled there. Their attempts are broken off, their resume points kept.
    /// Returns when nothing more is read from a source, and how far each had come is durable, or the queue has refused to write it, which is
    /// reported and tried again. What the kernel, ssh or the buffer of an SFTP connection had taken by then may still arrive.
    func stop(_ claims: [TaskClaim]) async

    /// Something that uploads or downloads have left is to be removed: after the grace time of a cancel or purge, or once a server that was
    /// away can be asked again.
    var owesRemovals: Bool { get }

    /// The service has changed the queue, and something may run now that could not before: resumed, retried, given another priority, undone.
    func queueChanged()

    /// The order or the priorities within these batches changed in the queue: what is at hand of them goes back and is
    /// taken anew. Returns when it has gone back.
    func reordered(_ batches: Set<BatchID>) async

    /// Limits or other settings of nodes changed in the queue: they hold for what is under way, too, when this returns.
    func settingsChanged() async

    /// The active tasks and the speeds at this instant: each position is looked at for this call. What a pause costs is read from it when the
    /// queue has the pause and the engine does not know of it yet. Everything else is in the queue.
    func live() -> LiveSnapshot

    /// The progress of each part of a task's file that is being sent in several; empty when it is not.
    func parts(of task: TaskID) -> [PartRun]

    /// Speeds of a task's attempt, and whether it could resume; `nil`: none is under way.
    func figures(of task: TaskID) -> AttemptFigures?

    /// Called at most 10 times a second while active tasks move; `nil` when nobody looks. Called on the engine's loop: hand over, do not work there.
    func watchLive(_ notice: (@Sendable () -> Void)?)

    /// The limits of the whole engine from now on.
    func setLimits(_ limits: EngineLimits)
    func limits() -> EngineLimits

    /// The network came back or changed (netlink, resume from sleep): tasks that wait for it try again, spread out.
    func connectivityChanged()

    /// A person wants what waits tried again, as it is: hosts that are left alone, and one file at each login that was refused.
    func tryAgain()

    /// Takes away what a transfer that is over has left at its server, or here. `nil`: it is gone; else why it is not.
    func remove(_ remains: Remains, for purpose: RemovalPurpose) async -> TransferError?

    /// Has the server of a folder list it, and compares that with what was sent there. What is not there as it was sent fails.
    /// - Parameter task: only this one fails; `nil`: all that are missing.
    func verify(_ look: DueLook, only task: TaskID?) async throws -> FolderVerification

    /// Reads a file that was sent there and compares its SHA-256 with that of what was sent. When they agree the task is verified by it;
    /// when they do not it fails.
    func readBack(_ file: FileToReadBack, in look: DueLook, _ meter: ReadBackMeter) async throws -> ReadBackOutcome

    /// Uploads in a bucket that were begun and not finished, by whomever.
    func search(_ search: BucketSearch) async -> Result<FoundUploads, TransferError>

    /// Takes one of those away. `nil`: it is gone; else why it is not.
    func abort(_ upload: FoundUpload, _ search: BucketSearch) async -> TransferError?

    /// Asks a server whether it can be used; nothing is written there and nothing is queued.
    /// - Parameter url: without user info.
    func test(_ url: String, _ options: TransferOptions, _ secrets: TransferSecrets) async -> DestinationReport

    /// The socket of the person's ssh agent, from the front that connected last.
    func useAgent(_ socket: RawPath)

    /// Speeds since the engine started, in the last minutes, hour and day: of everything, or of one batch. Without the process's use.
    func throughput(of batch: BatchID?) async -> ThroughputReport

    /// Ends all work. Afterwards the engine does nothing more.
    /// - Returns: whether this call ended it; false when `goOn` took it back, or another call ends it.
    func shutdown(_ manner: StopManner) async -> Bool

    /// Takes back a shutdown that finishes what runs.
    func goOn() -> GoingOn

    /// Returns when nothing is running, no walk is under way and nothing can start before some time passes. For tests.
    func waitUntilIdle() async
}

extension EngineControl {
    /// Does at once what a change of the queue asks of the engine; ``queueChanged()`` is left to the caller, once for all pages of a change.
    package func follow(_ change: NodeChange) async {
        // The tasks end before the answer, because the client may resume at once.
        if !change.stopped.isEmpty { await stop(change.stopped) }
        if !change.reordered.isEmpty { await reordered(change.reordered) }
        for batch in change.walked.sorted() { batchAdded(batch) }
        if change.duties.contains(.settings) { await settingsChanged() }
    }
}

/// The answer to somebody who wants an engine that moves something.
package enum GoingOn: Sendable, Hashable {
    /// It was not about to stop.
    case runs
    case takenBack
    /// Nothing takes its end back: another engine has to be started.
    case ends
}
