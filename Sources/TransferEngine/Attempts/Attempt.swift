import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// An exchange that is under way.
struct FlyingExchange {
    /// The machine's name for it.
    let local: ExchangeID
    /// The transports' name for it.
    let wire: WireID
    let carrier: Carrier
    /// Bytes of the source are in it.
    let isPayload: Bool
    /// Bytes of the source that it has sent, as last looked at.
    var sent: Int64 = 0
    /// Over SFTP: a file is read back for its digest alone.
    var digest: DigestSink?
    /// Over HTTP: what was asked.
    var request: (method: HTTPExchange.Method, url: HTTPAddress)?
}

/// A final answer and the beginning of its body, for who asks what the server said.
struct LastAnswer {
    let head: HTTPAnswer
    var body: [UInt8] = []
    /// The request that it answers; `nil`: that was not HTTP.
    let request: (method: HTTPExchange.Method, url: HTTPAddress)?
}

/// The transport that carries an exchange.
enum Carrier {
    case http
    case ftp
    case sftp
}

/// One try of a job at a server: what the engine knows of it while it runs. On the engine's loop; at most as many tasks' attempts as there
/// are slots. Start with `job`; `TransferEngine+Attempts` drives it.
final class Attempt {
    /// The stage of the attempt, from its first exchange to its end.
    enum Phase {
        /// Exchanges go on. Next: `finishing`, `over`.
        case running
        /// All bytes are here; sync and digest go on without a connection. Next: `publishing`, `over`.
        case finishing
        /// A download has the queue's leave to take its final name: nothing stops that. Next: `over`.
        case publishing
        /// Told to the queue, or given up by the engine. Whatever comes later is dropped.
        case over
    }

    let job: Job
    /// The task it runs, or whose remains it looks at or removes; a made-up one, with a number below zero, for the jobs that ask a server.
    let task: ClaimedTask
    let context: BatchContext
    /// The generation of the batch's credentials when the attempt began.
    let credentialGeneration: CredentialState.Generation
    let origin: String
    /// The file's own place at the server.
    var place: RemotePlace?
    var machine: any ProtocolMachine
    /// `nil` until it begins.
    var login: Login?
    /// Side jobs: the wait that it ended with.
    var refusal: WaitDemand?
    /// Side jobs: who asks once more shows its login in another way, or another one.
    var mayShowOtherwise = false
    var phase = Phase.running
    /// It counts among the transfers at once.
    var holdsSlot = false
    /// Only the last answers are awaited, or the disk: another one has its slot already.
    var hasGivenSlotAway: Bool { phase == .finishing || phase == .publishing || !holdsSlot }
    /// Actions that the machine wants performed next, in order; they wait while `isBlocked`.
    var actions: [ProtocolAction] = []
    /// An action that takes time is under way: the disk, a digest.
    var isBlocked = false
    /// The point without the intent that was recorded last, as long as the request of that intent has not begun.
    var unasked: ResumePoint?
    /// The file of authorities that it has waited for: once, whether its disk has answered or not.
    var awaitedTrust: RawPath?
    var exchanges: [FlyingExchange] = []
    /// Exchanges that have begun, those that ended included.
    var exchangesBegun = 0
    /// The timer of a side job for the next look at its pace.
    var paceTimer: LoopTimer?

    var lastAnswer: LastAnswer?

    /// Something has gone out to the server, as far as anybody can tell.
    var hasReachedServer = false

    /// The token buckets that its operations over SFTP draw from.
    var throttle: BucketThrottle?

    /// Waits for the end of a side job other than a look.
    var caller: CheckedContinuation<TransferError?, Never>?

    var progress: AttemptProgress
    var speed: AttemptSpeed
    /// The queue knows that it runs. Small files are over before it would.
    var isToldRunning = false
    let startedAt: Int64

    init(
        _ job: Job, of task: ClaimedTask, context: BatchContext, origin: String, machine: any ProtocolMachine,
        at nanoseconds: Int64
    ) {
        self.job = job
        self.task = task
        self.context = context
        credentialGeneration = context.credentials.generation
        self.origin = origin
        self.machine = machine
        progress = AttemptProgress(task)
        speed = AttemptSpeed(at: nanoseconds, awake: nanoseconds)
        startedAt = nanoseconds
    }

    /// The upload's own state; `nil`: another job.
    var upload: UploadWork? { if case .upload(let work) = job { work } else { nil } }

    /// The download's own state; `nil`: another job.
    var download: DownloadWork? { if case .download(let work) = job { work } else { nil } }

    /// Takes what is listed; `nil`: another job.
    var listing: ListingCollector? { if case .listing(let collector) = job { collector } else { nil } }

    /// Bytes of the file come from the server.
    var receives: Bool {
        switch job {
        case .download, .readBack: true
        case .upload, .look, .removal, .probe, .listing: false
        }
    }

    /// Bytes that the answer under way has brought, and that were taken.
    var written: Int64 {
        switch job {
        case .download(let work): max(0, work.target.written - progress.base)
        case .readBack(let reading): max(0, reading.sink.position - progress.base)
        case .upload, .look, .removal, .probe, .listing: 0
        }
    }

    /// The key under which facts about its server are kept.
    var factsKey: String { place?.address.factsKey(origin) ?? origin }

    var direction: TransferDirection {
        if case .upload = task.work { .upload } else { .download }
    }

    /// Uploads only: bytes confirmed by the server plus bytes sent and not yet confirmed.
    var uploaded: Int64 { exchanges.reduce(progress.accepted + (upload?.unconfirmed ?? 0)) { $0 + $1.sent } }

    /// True of an upload whose bytes count until the next attempt knows better: it goes on there, or all of them went out and only the
    /// answer is missing.
    var canResume: Bool {
        switch upload?.resumePoint?.afterCut {
        case .goesOn?, .isUnknown?: true
        case .beginsAgain?: progress.sent == progress.total && upload?.resumePoint?.leavesParts == true
        case nil: false
        }
    }

    /// A stop keeps what was sent for the next attempt: of a download always, of an upload where the server can.
    var keepsWhatWasSent: Bool { download != nil || upload?.resumePoint?.goesOn ?? false }

    /// True when it would go on where it stands if it were broken off now; `nil`: that is not known yet.
    var isResumable: Bool? {
        guard phase == .running, progress.sent > 0 else { return nil }
        guard let download, exchanges.contains(where: { $0.carrier == .http }) else { return keepsWhatWasSent }
        // Over HTTP a server has to say which version of the file it is.
        return download.point?.version.isResumable
    }

    /// Breaking it off now would have bytes sent again, or leaves nobody knowing whether they arrived.
    var losesByCut: Bool {
        if exchanges.isEmpty { return false }
        return progress.sent > 0 ? isResumable != true : exchanges.contains(where: \.isPayload)
    }

    /// A person has given another login since the attempt began. Side jobs keep the login that they have.
    var hasOldLogin: Bool { !job.isSideJob && credentialGeneration.secrets != context.credentials.generation.secrets }

    /// The batch's file of authorities is still to be waited for.
    var lacksTrust: Bool { context.trust.isUnread && awaitedTrust != context.trust.path }

    /// Failures in a row when this attempt fails, too.
    var failures: Int { progress.hasAdvanced ? 1 : task.failures + 1 }
}
