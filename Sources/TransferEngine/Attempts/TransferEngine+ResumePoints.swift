import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Resume points on their way to the queue: while an attempt runs, and when it leaves something behind.
extension TransferEngine {
    /// Records the machine's point.
    /// - Parameter waits: nothing further is performed before it is on the disk.
    func persist(_ point: ResumePoint, _ attempt: Attempt, waits: Bool) {
        guard let point = recordable(point, attempt) else { return }
        if case .upload(let work) = attempt.job, work.isToldAtRisk, attempt.countsWhatWasSent {
            // The server has said only now that it remembers.
            work.isToldAtRisk = false
            queue.writer.record(.sent(attempt.progress.position, kept: true), for: attempt.task.claim)
        }
        queue.writer.record(
            .checkpoint(resumePoint: point.encoded, accepted: attempt.countedAccepted, secret: point.secret),
            for: attempt.task.claim)
        if waits { untilDurable(attempt) }
    }

    /// Suspends the attempt's further actions until everything recorded so far is on the disk: payload must not overtake it.
    func untilDurable(_ attempt: Attempt) {
        attempt.run.suspend()
        inBackground { [self] in
            let commit: Void? = await durably { try await queue.writer.commit() }
            guard commit != nil else { return }
            FaultPoint.persisted.pass()
            attempt.run.goOn()
            perform(attempt)
        }
    }

    /// The machine's point as it is stored: with what the engine knows beside it, for a download the temporary file. From here on it is the
    /// attempt's own, too. `nil`: the attempt has ended.
    func recordable(_ point: ResumePoint, _ attempt: Attempt) -> ResumePoint? {
        switch attempt.job {
        case .upload(let work):
            var point = point
            point.sourceChanges = work.changes
            if let own = point.ownVersion { work.ownVersion = own }
            point.ownVersion = work.ownVersion
            point.targetIsOther = work.subject.targetIsOther
            point.absence = work.absence
            work.leave(attempt.machine.unremoved)
            point.leave(work.left)
            work.resumePoint = point
            work.outdatedPoint = nil
            guard let believed = work.believedGone, believed.restart != nil else { return point }
            // After a kill the next attempt asks for it again, and what has begun in its place is left over.
            var kept = believed.point
            kept.leave(point.leavesParts && !point.isNamed(as: kept) ? [point] : point.left)
            return kept
        case .download(let work): return point.content(GetResumePoint.self).flatMap { withPart($0, attempt, work) }
        case .look, .removal, .probe, .listing, .readBack: return nil
        }
    }

    // MARK: What is left

    /// Makes a resume point of what the attempt leaves at the server where none tells of it yet. It becomes the upload's own resume point, from
    /// which `countsWhatWasSent` and `goesOnAfterCut` are answered; the caller records it.
    /// - Returns: `nil`: it leaves nothing that is not recorded.
    func adoptRemains(_ attempt: Attempt) -> ResumePoint? {
        guard case .upload(let work) = attempt.job else { return nil }
        // An attempt that never got there has left nothing there.
        if case .sftp? = attempt.place?.route, !attempt.exchanges.hasReachedServer { return nil }
        if let believed = work.believedGone {
            work.believedGone = nil
            attempt.progress = believed.progress
            if believed.restart != nil {
                let begun = [work.resumePoint, attempt.machine.remains].compactMap(\.self)
                work.leave(begun.filter { $0.leavesParts && !$0.isNamed(as: believed.point) }.map(\.alone))
            }
            return recordable(believed.point, attempt)
        }
        if work.isMachineAhead { return nil }
        if let remains = attempt.machine.remains { return recordable(remains, attempt) }
        if attempt.machine.unremoved.isEmpty { return nil }
        // Nobody goes on from an earlier version's, and what the server has not removed of it stays known.
        return (work.resumePoint ?? work.outdatedPoint ?? leftBehind(attempt)).flatMap { recordable($0, attempt) }
    }

    /// The point of an upload that is over and of which the server has only what it did not remove; `nil`: it has nothing like that.
    func leftBehind(_ attempt: Attempt) -> ResumePoint? {
        guard case .upload(let work) = attempt.job else { return nil }
        work.leaveBelieved()
        work.leave(attempt.machine.unremoved)
        return ResumePoint(left: work.left)
    }
}
