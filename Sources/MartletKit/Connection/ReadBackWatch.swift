import LinuxSystem
import ServiceWire
import TransferModel

/// Looks after a run of read-backs from the client's side: how many findings it has told, and whether it still moves. An engine that never
/// ends it is not waited for.
struct ReadBackWatch {
    private var last: ReadBackProgress?
    private var movedAt: MonotonicInstant
    /// Findings that were told; `nil`: no answer has come yet.
    private(set) var seen: Int?

    /// A run that neither reads nor finds anything for so long does not end. Long, because the digest of a large source is computed
    /// meanwhile, and no byte comes.
    static let patience = Duration.seconds(6 * 3600)
    /// Most findings that an engine tells of one run.
    static let mostFindings = 1000

    init(at now: MonotonicInstant) { movedAt = now }

    mutating func note(_ progress: ReadBackProgress, at now: MonotonicInstant) throws(RequestError) {
        if last.map({ ($0.files, $0.bytes) != (progress.files, progress.bytes) }) ?? true { movedAt = now }
        guard progress.isOver || movedAt.duration(to: now) < Self.patience else {
            throw RequestError(
                .engineUnreachable, "the engine has read nothing for 6 hours: see \(quoted: .log)")
        }
        let seen = (self.seen ?? 0) + progress.findings.count
        guard seen <= Self.mostFindings else {
            throw RequestError(.engineUnreachable, "the engine tells more findings than there may be: update it")
        }
        (last, self.seen) = (progress, seen)
    }

    /// The error for a person when the run was broken off.
    func brokenOff(_ error: RequestError) -> RequestError {
        guard let last else { return error }
        return RequestError(
            error.code,
            "the read-back ended after \(last.files) files (\(last.same) are as they were sent), the others were not read: "
                + "\(error.message). Read them by another read-back")
    }
}
