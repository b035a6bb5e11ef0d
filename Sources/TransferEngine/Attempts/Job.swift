import TransferModel
import TransferProtocols

/// The purpose of an attempt, with the data of that purpose. `upload` and `download` run a task of the queue and have a slot. The others are
/// side jobs: the queue hears of no end of theirs, and a caller waits for it instead (of a look nobody does).
enum Job {
    /// Sends a task's file.
    case upload(UploadWork)
    /// Fetches a task's file.
    case download(DownloadWork)
    /// Asks how much of a paused upload its server has.
    case look
    /// Removes what an upload has left at its server.
    case removal
    /// Asks whether a server can be used, or whether a file is there.
    case probe
    /// Lists a folder.
    case listing(ListingCollector)
    /// Reads a file that was sent before, for its digest.
    case readBack(ReadingBack)

    var isSideJob: Bool {
        switch self {
        case .upload, .download: false
        case .look, .removal, .probe, .listing, .readBack: true
        }
    }
}

/// The state of an upload that no other job has. On the engine's loop.
final class UploadWork {
    var subject: UploadSubject
    /// `nil` once the attempt is over.
    var source: SourceFile?
    /// When this attempt began.
    let begun: Timestamp
    /// Number of times that the source was found changed, over all attempts.
    var changes = 0
    /// The resume point that was made durable last, by the machine or by an earlier attempt.
    var resumePoint: ResumePoint?
    /// An earlier one, until another takes its place: the upload begins anew, and what is there of it may still have to be removed.
    var outdatedPoint: ResumePoint?
    /// Resume points of what the server has not removed though it was asked to, in this attempt or before (`ResumePoint.left`).
    private(set) var left: [ResumePoint] = []
    /// The earlier version of the source that the server has stored.
    var ownVersion: StoredVersion?
    /// As `ResumePoint.absence`.
    var absence: Absence?
    /// An upload that is taken for gone, until its server has shown that it is there, or more has gone out than a gateway takes.
    var believedGone: BelievedGone?
    /// The answers by which it is, until the server has shown that it is there.
    var outage: Absence?
    /// The machine takes an absence for granted that is doubted: its own point is not to be kept.
    var isMachineAhead = false
    /// Bytes that exchanges of this attempt which are over have sent, without the server's word on them yet. What earlier attempts had sent is
    /// in `Accounting.unconfirmed`.
    private(set) var sentByEnded: Int64 = 0
    /// The bytes sent that the queue was told of last, and when (nanoseconds of the engine's clock).
    var told = (bytes: Int64(0), at: Int64(0))
    /// The queue was told that a kill would have all of this upload sent again.
    var isToldAtRisk = false
    /// The server has said in this attempt how much it has; before that an earlier attempt's word holds.
    var isCounted = false

    init(_ subject: UploadSubject, from source: SourceFile?, at now: Timestamp) {
        (self.subject, self.source, begun) = (subject, source, now)
    }

    /// An exchange is over, or broken off, and had sent so many bytes of the source.
    func ended(having sent: Int64) { sentByEnded += sent }

    /// The server has said how much it has: what was sent beyond that is not there.
    func heardFromServer() { sentByEnded = 0 }

    /// The upload begins at zero: nothing that was sent counts, and the queue is told anew how far it is.
    func beginAnew() { (sentByEnded, told.bytes, absence) = (0, 0, nil) }

    /// Another upload has taken the place of the one that is believed to be gone; a gateway may have said so of what is there.
    func leaveBelieved() {
        guard let believed = believedGone, believed.restart != nil, believed.point.leavesParts else { return }
        // One that was made anew under the same name is in use.
        if let resumePoint, believed.point.isNamed(as: resumePoint) { return }
        // A point with a secret address cannot be left over: only the task's present one keeps its secret.
        if believed.point.secret == nil { leave([believed.point.alone]) }
    }

    func leave(_ points: [ResumePoint]) { for point in points where !left.contains(point) { left.append(point) } }
}

/// An upload that is taken for gone by an answer that may be a gateway's. An attempt that ends before its server has shown that it is there is
/// followed by one that goes on from here, and nobody is told that it began anew.
struct BelievedGone {
    let point: ResumePoint
    let progress: AttemptProgress
    /// The new beginning that nobody has been told of yet.
    var restart: (reason: String, lost: Int64, isOther: Bool)?
}

/// The state of a download that no other job has. On the engine's loop.
final class DownloadWork {
    let target: DownloadTarget
    /// The resume point that was made durable last.
    var point: GetResumePoint?
    /// It went on with what earlier attempts had left.
    let isResumed: Bool
    /// Bytes of an earlier attempt that had come and were not on the disk for sure: they come again.
    var lostTail: Int64 = 0

    init(_ target: DownloadTarget, from point: GetResumePoint?, isResumed: Bool) {
        (self.target, self.point, self.isResumed) = (target, point, isResumed)
    }
}
