import FoundationEssentials
import LinuxSystem
import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Has the server of a batch, folder or task list what was sent there, one folder after the other. What is not there as it was sent fails
    /// `notThere`, and a retry sends it again.
    /// - Parameter take: gets each folder when its server has answered.
    /// - Returns: how many files it has, whatever became of them. Those that were not sent are in no folder that `take` got.
    @discardableResult
    public nonisolated func verify(
        _ id: NodeID, take: (VerifiedFolder) -> Void
    ) async throws(RequestError) -> Int64 {
        var pager = Pager<Int64>()
        while true {
            let answer = try await call(Methods.nodesVerify, VerifyRequest(id: id, after: pager.after))
            if let folder = answer.folder { take(folder) }
            guard let next = answer.next else { return answer.total ?? 0 }
            try pager.move(to: next)
        }
    }
}

extension EngineConnection {
    /// Has the files of a batch, folder or task read at their server and compared with what was sent, by SHA-256. A file that is another one
    /// fails `notThere`; one that is the same counts as verified by its digest. Ends early when the task is cancelled. An error says how
    /// many files were read before it; what was found of them has been told.
    /// - Parameter take: gets how far it is, some times a second; each finding comes once.
    public nonisolated func readBack(
        _ id: NodeID, take: (ReadBackProgress) -> Void
    ) async throws(RequestError) {
        let run = UUID()
        var watch = ReadBackWatch(at: .awake)
        var pause = Duration.milliseconds(20)
        while true {
            let progress: ReadBackProgress
            do throws(RequestError) {
                let request = ReadBackRequest(id: id, run: run, seen: watch.seen)
                progress = try await call(Methods.nodesReadBack, request).progress
                try watch.note(progress, at: .awake)
            } catch  where error == Self.cancelled {
                throw error
            } catch {
                throw watch.brokenOff(error)
            }
            take(progress)
            if progress.isOver { return }
            do {
                try await Task.sleep(for: pause)
            } catch {
                // Nobody asks after it any more, so it ends.
                return
            }
            pause = min(pause * 2, .milliseconds(500))
        }
    }
}

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
