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

/// Names one claim of a task. One that is *superseded*, by a newer generation, owns the task no more: what is reported under it changes
/// nothing. One that is *ended*, as by a pause, has its generation still: how far the task came, and that it ended, counts until somebody
/// claims it again.
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
    /// The task's folder and those above it, the batch's root last.
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
    /// The wall clock was set back since: that time, and those in the resume point, are of another clock.
    package var clockWasSetBack = false
    /// The engine's own count of that when it asked for the task.
    package var setBacks = 0
    /// As the engine recorded it last.
    package var resumePoint: [UInt8]?
    /// The secret of its resume point, which stands in the secrets store alone.
    package var resumeSecret: String?
    /// Attempts that ended without success.
    package var attempts: Int
    /// The most bytes that were ever confirmed at once, in this run and of the source as it is.
    package var furthest: Int64 = 0
    /// The position that it had when its attempts in a row began to fail; at most `furthest`.
    package var progressStart: Int64 = 0
    /// Attempts in a row that ended without that position advancing.
    package var failures: Int
    /// Number of times it began again from zero.
    package var restarts: Int
    /// Waiting without progress is counted from here: the last byte confirmed, a person's retry, else the first try.
    package var patienceSince: Timestamp?
    /// Its URL has a query, which the secrets store has lost.
    package var lacksQuery = false

    package var claim: TaskClaim { TaskClaim(task: id, generation: generation) }
}

/// The queue's word on a download that wants its final name.
package enum PublishingLeave: Hashable, Sendable {
    case granted
    /// Its claim has ended, by a pause or a cancel, or is superseded.
    case ended
    /// Another download of its batch has that name, or is getting it.
    case nameGiven
}
