import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// One try of a job at a server: what the engine knows of it while it runs. On the engine's loop; at most as many tasks' attempts as there
/// are slots. Start with `job`; `TransferEngine+Attempts` drives it.
final class Attempt {
    let job: Job
    /// The task it runs, or whose remains it looks at or removes; a made-up one, with a number below zero, for the jobs that ask a server.
    let task: ClaimedTask
    let context: BatchContext
    let origin: String
    /// The file's own place at the server.
    var place: RemotePlace?
    var access: AttemptAccess
    var stage: AttemptStage
    var run: ProtocolRun
    var exchanges = AttemptExchanges()
    var side = SideJobRun()
    var progress: AttemptProgress
    var speed: AttemptSpeed

    init(
        _ job: Job, of task: ClaimedTask, context: BatchContext, origin: String, machine: any ProtocolMachine,
        at nanoseconds: Int64
    ) {
        self.job = job
        self.task = task
        self.context = context
        self.origin = origin
        access = AttemptAccess(context)
        stage = AttemptStage(at: nanoseconds)
        run = ProtocolRun(machine)
        progress = AttemptProgress(task)
        speed = AttemptSpeed(at: nanoseconds, awake: nanoseconds)
    }

    var phase: AttemptStage.Phase { stage.phase }
    var machine: any ProtocolMachine { run.machine }

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
    var uploaded: Int64 { progress.accepted + (upload?.unconfirmed ?? 0) + exchanges.sent }

    /// True of an upload whose bytes count until the next attempt knows better: it goes on there, or all of them went out and only the
    /// answer is missing, by whichever protocol.
    var canResume: Bool {
        switch upload?.resumePoint?.afterCut {
        case .goesOn?, .isUnknown?: true
        case .beginsAgain?, nil: upload != nil && progress.sent > 0 && progress.sent == progress.total
        }
    }

    /// A stop keeps what was sent for the next attempt: of a download always, of an upload where the server can.
    var keepsWhatWasSent: Bool { download != nil || upload?.resumePoint?.goesOn ?? false }

    /// True when it would go on where it stands if it were broken off now; `nil`: that is not known yet.
    var isResumable: Bool? {
        guard phase == .running, progress.sent > 0 else { return nil }
        guard let download, exchanges.underWay.contains(where: { $0.carrier == .http }) else { return keepsWhatWasSent }
        // Over HTTP a server has to say which version of the file it is.
        return download.point?.version.isResumable
    }

    /// Breaking it off now would have bytes sent again, or leaves nobody knowing whether they arrived.
    var losesByCut: Bool {
        if exchanges.underWay.isEmpty { return false }
        return progress.sent > 0 ? isResumable != true : exchanges.underWay.contains(where: \.isPayload)
    }

    /// A person has given another login since the attempt began. Side jobs keep the login that they have.
    var hasOldLogin: Bool { !job.isSideJob && access.hasOldLogin(context) }

    /// Failures in a row when this attempt fails, too.
    var failures: Int { progress.hasAdvanced ? 1 : task.failures + 1 }
}
