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
    var uploaded: Int64 { progress.accepted + (upload?.sentByEnded ?? 0) + exchanges.sent }

    /// The server's last word on what it has, of this attempt or else of those before.
    var countedAccepted: Int64 {
        let progress = upload?.believedGone?.progress ?? progress
        return upload?.isCounted == false ? progress.knownBefore : progress.accepted
    }

    // Four questions about a cut, in the middle of an attempt whose exchange is under way:
    //
    // | attempt                          | countsWhatWasSent | goesOnAfterCut | isResumable    | losesByCut  |
    // |----------------------------------|-------------------|----------------|----------------|-------------|
    // | PUT, half of it sent             | no                | no             | no             | yes         |
    // | PUT, all sent, no answer         | yes               | no             | no             | yes         |
    // | POST, its intent recorded        | yes               | no             | no             | yes         |
    // | tus, its address recorded        | yes               | yes            | yes            | no          |
    // | SFTP, its point recorded         | yes               | yes            | yes            | no          |
    // | SFTP, small: no point recorded   | no                | no             | no             | yes         |
    // | HTTP download                    | no                | yes            | by its version | if not      |
    // | FTP or SFTP download             | no                | yes            | yes            | no          |
    //
    // S3, IETF, FTP and Nextcloud are as tus once they have a point (`ResumePoint.afterCut`). A cut makes the sixth row the fifth
    // (`TransferEngine.adoptRemains`), but how much of it then counts is known of some servers alone.
    // Before the first byte `isResumable` is `nil`, and a cut loses only a request with bytes of the file in it.

    /// True of an upload whose sent bytes still count after a cut, until the next attempt knows better: that one goes on there, or asks what
    /// became of them.
    var countsWhatWasSent: Bool {
        switch upload?.resumePoint?.afterCut {
        case .goesOn?, .isUnknown?: true
        case .beginsAgain?, nil: upload != nil && progress.position > 0 && progress.position == progress.total
        }
    }

    /// The next attempt goes on where a cut leaves this one: of a download always, of an upload where the server can.
    var goesOnAfterCut: Bool { download != nil || upload?.resumePoint?.goesOn ?? false }

    /// A cut now would cost nothing, for who asks about this attempt (`AttemptFigures`); `nil`: that is not known yet.
    var isResumable: Bool? {
        guard phase == .running, progress.position > 0 else { return nil }
        guard let download, exchanges.underWay.contains(where: { $0.carrier == .http }) else { return goesOnAfterCut }
        // Over HTTP a server has to say which version of the file it is.
        return download.point?.version.isResumable
    }

    /// A cut now would have bytes sent again, or leave nobody knowing whether they arrived.
    var losesByCut: Bool {
        if exchanges.underWay.isEmpty { return false }
        return progress.position > 0 ? isResumable != true : exchanges.underWay.contains(where: \.isPayload)
    }

    /// A person has given another login since the attempt began. Side jobs keep the login that they have.
    var hasOldLogin: Bool { !job.isSideJob && access.hasOldLogin(context) }

    /// The secrets that its requests show, which no message about it may repeat.
    var redaction: Redaction { context.redaction(of: task.work, at: origin) }

    /// Failures in a row when this attempt fails, too.
    var failures: Int { progress.hasAdvanced ? 1 : task.failures + 1 }
}
