package import FoundationEssentials
package import TransferModel

/// A lane as the scheduler sees it: the tasks of one batch for one host.
package struct LaneSummary: Hashable, Sendable {
    package var lane: LaneID
    package var batch: BatchID
    package var direction: TransferDirection
    /// `https://host:port`, lower case, the port always there.
    package var origin: String
    package var priority: TransferPriority
    /// The batch's place in the queue; lower runs first among equal priorities.
    package var position: Int64
    /// Tasks that can be claimed now, were the lane runnable.
    package var ready: Int64
    /// The batch is held or paused: nothing may be claimed.
    package var isStopped: Bool
    /// The batch may not run before this.
    package var notBefore: Timestamp?
    /// A person wants it now.
    package var isUrgent = false
    /// The place of its first task that can be claimed.
    package var next: Int64 = 0

    /// Returns true when a task of the lane may start at a time, be it claimed already or not.
    package func mayRun(at now: Timestamp) -> Bool {
        !isStopped && notBefore.map { $0 <= now } ?? true
    }
}

/// Everything about a batch that its tasks need to run. Holds secrets: never printed, logged or stored.
package struct BatchOrder: Sendable {
    package var batch: BatchID
    package var session: SessionName
    package var priority: TransferPriority
    package var options: TransferOptions
    package var secrets: TransferSecrets
    /// Uploads only: the destination's URL without query. Ends in `/` unless the one source goes to exactly this URL.
    package var destination: String
    /// Uploads only: the destination's query without `?`, which may be secret.
    package var destinationQuery: String?
    /// Secrets that the secrets store should have for it and has not: they were deleted, or damaged.
    package var lacks: Set<KeptSecret> = []

    package init(
        batch: BatchID, session: SessionName, priority: TransferPriority, options: TransferOptions,
        secrets: TransferSecrets, destination: String, destinationQuery: String?
    ) {
        self.batch = batch
        self.session = session
        self.priority = priority
        self.options = options
        self.secrets = secrets
        self.destination = destination
        self.destinationQuery = destinationQuery
    }
}

/// Names one claim of a task. Whoever holds an older one owns the task no more: what is reported under it changes nothing.
package struct TaskClaim: Hashable, Sendable {
    package let task: TaskID
    /// Counted up by the queue with each claim of the task.
    package let generation: Int64
}

/// A task that the caller may run now. That it was claimed is durable before the caller has it.
package struct ClaimedTask: Sendable, Identifiable {
    package enum Work: Sendable {
        /// - `remote`: below the batch's destination, without slashes at the ends, not percent-encoded; empty: exactly the destination.
        /// - `identity`: what the file was when it was queued.
        case upload(source: SourcePlace, remote: RawPath, identity: SourceIdentity)
        /// - `url`: with its query, which may be secret.
        /// - `fileName`: `nil`: from the server, else `name` of the task.
        case download(url: String, directory: RawPath, fileName: RawPath?)
    }

    package var id: TaskID
    /// Generation of this claim.
    package var generation: Int64
    package var uuid: UUID
    package var batch: BatchID
    package var lane: LaneID
    /// The folder that the file lies in directly.
    package var folder: FolderID
    /// That folder and those above it, the batch's root last.
    package var folders: [FolderID]
    /// Among the tasks of its batch.
    package var place: Int64
    package var name: RawPath
    package var work: Work
    /// `nil`: not known yet (downloads).
    package var size: Int64?
    /// The confirmed position of an earlier attempt.
    package var accepted: Int64
    /// The earliest instant at which an attempt of ours may have reached the server; `nil`: never claimed before.
    package var begunBefore: Timestamp?
    /// As the engine recorded it last.
    package var resumePoint: [UInt8]?
    /// The secret of its resume point, which stands in the secrets store alone.
    package var resumeSecret: String?
    /// Attempts that ended without success.
    package var attempts: Int
    /// Attempts in a row that ended without the accepted position advancing.
    package var failures: Int
    /// Number of times it began again from zero.
    package var restarts: Int
    /// Waiting without progress is counted from here: the last byte confirmed, a person's retry, else the first try.
    package var patienceSince: Timestamp?
    /// It was cancelled while it was getting its final name, and nobody has seen whether it got it: it is completed or refused.
    package var isCancelled = false
    /// Its URL has a query, which the secrets store has lost.
    package var lacksQuery = false

    package var claim: TaskClaim { TaskClaim(task: id, generation: generation) }
}

/// Data that a task which is over has left at a server.
package struct Remains: Sendable {
    /// Not claimed: only what is known of it.
    package var task: ClaimedTask
    /// Its state when this was read.
    package var state: TransferState
    /// As `LaneSummary.origin`.
    package var origin: String
    package var finishedAt: Timestamp?
}

/// A fact about a running task, for the next group commit.
package enum TaskChange: Sendable {
    /// An attempt has a slot.
    case running
    /// All bytes are accepted; sync, digest, rename go on.
    case finishing
    /// The confirmed position, and what must be known to continue there; `nil` leaves the stored resume point as it is.
    /// `secret`: what belongs to the resume point and may stand in the secrets store alone; there before the resume point is.
    case checkpoint(resumePoint: [UInt8]?, accepted: Int64, secret: String? = nil)
    /// Data that an attempt ended by a kill may have left at the server: it is for who clears up; the next attempt begins at zero.
    case guess(resumePoint: [UInt8])
    /// So much of an upload is sent, and its server has not said that it has it. `kept`: the server knows, and says so when the
    /// upload goes on; otherwise it cannot resume, and a kill of the engine has it sent again.
    case sent(Int64, kept: Bool)
    /// The attempt that ends now has not reached its server. It counts when it was the first.
    case untouched
    /// An attempt went on at an offset; `repeated` bytes had to cross the wire again.
    case resumed(at: Int64, repeated: Int64)
    /// It begins again from zero: `accepted` becomes 0, and the resume point is dropped or replaced by one of what is left at the server.
    /// `identity`: the source as it is now, when it changed. One fact, since a kill between a new identity and the point that knows of
    /// the change would let bytes of two versions become one file.
    case restarted(
        reason: String, repeated: Int64, identity: SourceIdentity?, resumePoint: [UInt8]? = nil, secret: String? = nil)
    /// The data at the server is known not to be the file: no later attempt knows of one before it, nor goes on with what it left. The
    /// number of accepted bytes is still shown until one begins.
    case forgotten
    /// A download's size, told by the server.
    case sizeKnown(Int64)
    /// The attempt ended and the task waits. `error`: why, when an attempt failed. `retryAt`: when it is due by itself.
    case waiting(WaitReasons, retryAt: Timestamp?, error: TransferError?)
    /// The attempt ended without failure and the task stands in line again (pre-empted, engine stopped).
    case requeued
    case completed(Completion)
    case failed(TransferError)
    /// The server's last answer, kept for `show --response`. Sensitive header fields are the caller's to leave out.
    case response(TransferResponse)
}

/// An upload that was broken off, and how far it had come: what of it arrived, its server says when it goes on.
package struct UnconfirmedUpload: Sendable, Hashable {
    package var task: TaskID
    package var batch: BatchID
    /// The folder that the file lies in directly.
    package var folder: FolderID
    /// Bytes from the file's beginning.
    package var sent: Int64
    /// Position in bytes that is shown until its server has said it: where it stood when a person or the engine's end stopped it. `nil`:
    /// the confirmed position, for it broke off by itself.
    package var shown: Int64?

    package init(task: TaskID, batch: BatchID, folder: FolderID, sent: Int64, shown: Int64?) {
        self.task = task
        self.batch = batch
        self.folder = folder
        self.sent = sent
        self.shown = shown
    }
}

/// The queue's word on a download that wants its final name.
package enum PublishingLeave: Hashable, Sendable {
    case granted
    /// It was paused or cancelled, or somebody else has it.
    case void
    /// Another download of its batch has that name, or is getting it.
    case nameGiven
}

/// The result of a completed task.
package struct Completion: Hashable, Sendable {
    package var size: Int64
    package var verified: Verification
    package var skipped: Bool
    package var digest: TransferDigest?
    /// Downloads only: the path where the file ended up.
    package var finalPath: RawPath?
    /// Uploads only: the server's ETag of the version that it stored, where it said it.
    package var etag: String?

    package init(
        size: Int64, verified: Verification, skipped: Bool = false, digest: TransferDigest? = nil,
        finalPath: RawPath? = nil, etag: String? = nil
    ) {
        self.etag = etag
        self.size = size
        self.verified = verified
        self.skipped = skipped
        self.digest = digest
        self.finalPath = finalPath
    }
}

/// The durable result of a command on the queue, and what the engine has to break off because of it.
package struct NodeChange: Sendable {
    package var results: [NodeResult] = []
    /// Claims that are void now: their tasks may not run any more. The engine stops those that it has.
    package var stopped: [TaskClaim] = []
    /// Batches whose tasks have another order or priority now: what the engine has at hand of them goes back.
    package var reordered: Set<BatchID> = []
    /// Batches in which listing goes on or begins again: the engine has to be told of each.
    package var walked: Set<BatchID> = []
    /// The number by which exactly this is undone; `nil`: nothing was changed, or nothing of it can be undone.
    package var operation: Int64?
    /// Undo only: the kind of change that was undone.
    package var undone: UndoneDeed?
    /// Undo of a cancel only: true when its grace time was over, so that files of which only a part had arrived start over.
    package var startsAgain = false
    /// Undo only: the whole engine's limits, as they are again.
    package var limits: StoredLimits?
    /// The place that a group was moved to, for its next page.
    package var rank: Int64?
    package init() {}

    /// With the number that takes it back, when there is anything to take back.
    func asOperation(_ number: Int64) -> NodeChange {
        var change = self
        if results.contains(where: { $0.result == .done }) { change.operation = number }
        return change
    }
}

/// The batch that an upload or download request became.
package struct AddedBatch: Hashable, Sendable {
    package var batch: BatchID
    /// The batch was there already: the same UUID was asked for before.
    package var existed: Bool
}
