import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Takes in how far an attempt has come by the word of its server, and makes it durable.
extension TransferEngine {
    /// The server's word on how much of an upload it has.
    func accepted(_ attempt: Attempt, _ bytes: Int64) {
        noteServerIsThere(attempt)
        attempt.progress.accept(bytes)
        attempt.upload?.isCounted = true
        endAbsence(attempt)
        settleEarlier(attempt)
        countRepeated(attempt)
        moved(attempt, to: attempt.uploaded)
    }

    func resumed(_ attempt: Attempt, at offset: Int64) {
        let again: Int64
        switch attempt.job {
        case .upload(let work):
            if let believed = work.believedGone {
                // It is there after all: what was begun in its place was nothing.
                (work.believedGone, work.outage, attempt.progress) = (nil, nil, believed.progress)
                // The row of absences that is stored ends with it.
                (work.resumePoint, work.absence) = (believed.point, believed.point.absence)
            }
            noteServerIsThere(attempt)
            again = max(0, (takeUnconfirmed(attempt) ?? 0) - offset)
            attempt.progress.resume(at: offset)
            work.isCounted = true
            endAbsence(attempt)
        case .download(let work):
            (again, work.lostTail) = (work.lostTail, 0)
            attempt.progress.goOn(at: offset)
        case .look, .removal, .probe, .listing, .readBack: return
        }
        attempt.progress.repeatEarlier(again)
        queue.writer.record(.resumedAtOffset(offset, repeated: again), for: attempt.task.claim)
    }

    /// Keeps what was learnt of a host, over restarts of the engine.
    func remember(_ facts: HostFacts, of origin: String) {
        guard hosts.learn(facts, of: origin, at: timeline.now) else { return }
        inBackground { [self] in
            await durably(.facts(of: origin)) {
                // As they are at this try: more may have been learnt since the one before.
                guard let facts = hosts.facts[origin] else { return }
                try await queue.writer.remember(host: origin, facts: facts.encoded)
            }
        }
    }

    /// Lets time pass on the engine's clock.
    func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = timeline.clock.schedule(after: duration) { continuation.resume() }
        }
    }

    func startOver(_ attempt: Attempt, _ reason: String, isOther: Bool) {
        let lost: Int64
        let kept: ResumePoint?
        switch attempt.job {
        case .upload(let work):
            if work.believedGone != nil { return beginTentatively(attempt, work, reason, isOther: isOther) }
            lost = max(attempt.progress.accepted, attempt.progress.position, lostBefore(attempt))
            work.isCounted = true
            kept = outdated(work)
            work.beginAnew()
            work.resumePoint = nil
        case .download(let work):
            lost = max(attempt.progress.accepted + work.lostTail, work.target.written)
            work.lostTail = 0
            kept = work.point?.place
        case .look, .removal, .probe, .listing, .readBack: return
        }
        record(restart: reason, lost, of: attempt.task, keeping: kept, isOther: isOther)
        attempt.progress.startOver(losing: lost, isOther: isOther)
        attempt.download?.target.forget()
    }

    // MARK: Absence

    /// Returns true when the server is to say once more, and later, that it knows nothing of the upload.
    func doubtsAbsence(_ attempt: Attempt, isOutcome: Bool) -> Bool {
        guard let work = attempt.upload, work.resumePoint != nil else { return false }
        // Nothing of a request that was cut in the middle is confirmed yet.
        let sent = max(attempt.progress.position, accounting.unconfirmed.sent(of: attempt.task.id) ?? 0)
        let known = max(attempt.progress.accepted, attempt.task.accepted)
        let lost = isOutcome ? Int64.max : max(sent, known)
        return Absence(after: work.absence, at: timeline.now).isDoubted(losing: lost)
    }

    /// The upload is taken for gone: the server has said so for long enough, or little is lost.
    func believeAbsence(_ attempt: Attempt) {
        guard let work = attempt.upload, var point = work.resumePoint else { return }
        point.absence = Absence(after: work.absence, at: timeline.now)
        work.outage = point.absence
        work.believedGone = work.believedGone ?? BelievedGone(point: point, progress: attempt.progress)
    }

    /// As `startOver`, of what is taken for gone: it is recorded once the belief is settled.
    private func beginTentatively(_ attempt: Attempt, _ work: UploadWork, _ reason: String, isOther: Bool) {
        let known = max(attempt.task.accepted, accounting.unconfirmed.sent(of: attempt.task.id) ?? 0)
        let lost = max(attempt.progress.accepted, attempt.progress.position, known)
        _ = outdated(work)
        work.beginAnew()
        work.resumePoint = nil
        let earlier = work.believedGone?.restart
        work.believedGone?.restart = (earlier?.reason ?? reason, max(earlier?.lost ?? 0, lost), isOther)
        attempt.progress.startOver(losing: lost, isOther: isOther)
    }

    /// The server knows the upload, or does not answer at all: an absence after this is another one.
    func endAbsence(_ attempt: Attempt) {
        guard let work = attempt.upload, work.absence != nil else { return }
        work.absence = nil
        if let point = work.resumePoint { persist(point, attempt, waits: false) }
    }

    /// The server has done more than refuse: what is taken for gone is gone.
    func noteServerIsThere(_ attempt: Attempt) {
        attempt.upload?.outage = nil
        settleBelief(attempt)
    }

    /// The upload begins anew for good, and it is told.
    func settleBelief(_ attempt: Attempt) {
        guard let work = attempt.upload, let believed = work.believedGone else { return }
        work.leaveBelieved()
        work.believedGone = nil
        guard let restart = believed.restart else { return }
        work.isCounted = true
        var point = work.resumePoint ?? work.outdatedPoint
        point?.leave(work.left)
        record(restart: restart.reason, restart.lost, of: attempt.task, keeping: point, isOther: restart.isOther)
    }

    /// Keeps what is known of the upload until then.
    func untilAbsent(_ attempt: Attempt) {
        guard let work = attempt.upload, let point = work.resumePoint else { return }
        work.absence = Absence(after: work.absence, at: timeline.now)
        work.isMachineAhead = true
        persist(point, attempt, waits: false)
        waitForAbsent(attempt)
    }

    /// Returns true when an upload that is taken for gone is not begun anew because there is nothing at all: the server is away.
    func isOutage(_ error: TransferError, _ attempt: Attempt) -> Bool {
        // Some say 405 to all but GET, where they have nothing.
        guard let status = error.httpStatus, [404, 405, 410].contains(status) else { return false }
        return attempt.upload?.outage?.mayBeOutage ?? false
    }

    /// Takes back that the upload is gone: the next attempt asks for it again.
    func untilFound(_ attempt: Attempt) {
        guard let work = attempt.upload else { return }
        work.absence = work.outage
        waitForAbsent(attempt)
    }

    private func waitForAbsent(_ attempt: Attempt) {
        let server = attempt.exchanges.lastAnswer?.request?.url.server ?? attempt.origin
        wait(attempt, WaitDemand(.backoff, .absent(at: server)), isAbsent: true)
    }

    /// The resume point of what was there before, kept until another takes its place: a kill in between must not leave remains for ever.
    private func outdated(_ work: UploadWork) -> ResumePoint? {
        guard var point = work.resumePoint ?? work.outdatedPoint else { return nil }
        point.isOutdated = true
        work.outdatedPoint = point
        return point
    }

    /// A task begins again from zero; nothing else says so. - Parameter point: of what is left at the server, or here.
    func record(
        restart reason: String, _ repeated: Int64, of task: ClaimedTask, keeping point: ResumePoint?,
        identity: SourceIdentity? = nil, isOther: Bool = false
    ) {
        // As the queue does: whatever was sent of it before is told of now, or of another version.
        accounting.unconfirmed.forget(task.id)
        let restarted = TaskFact.restarted(
            reason: reason, repeated: repeated, identity: identity, isOther: isOther, resumePoint: point?.encoded,
            secret: point?.secret)
        queue.writer.record(restarted, for: task.claim)
    }

    /// Bytes that attempts before this one had sent, as long as nobody has said what became of them.
    private func lostBefore(_ attempt: Attempt) -> Int64 {
        let isFirst = attempt.progress.accepted == 0 && attempt.progress.position == 0
        return takeUnconfirmed(attempt) ?? (isFirst ? attempt.task.accepted : 0)
    }

    private func takeUnconfirmed(_ attempt: Attempt) -> Int64? {
        accounting.unconfirmed.take(attempt.task.id)
    }

    /// The first bytes go out, or the server says what it has: what was sent before and is not there is sent again.
    func settleEarlier(_ attempt: Attempt) {
        let accepted = attempt.progress.accepted
        // An upload that is only taken for gone may still be there.
        guard let work = attempt.upload, work.believedGone == nil, let before = takeUnconfirmed(attempt),
            before > accepted
        else { return }
        attempt.progress.repeatEarlier(before - accepted)
        // A server that keeps an upload has not begun it anew, though nothing of it is accepted yet.
        if accepted == 0, !attempt.goesOnAfterCut {
            let kept = work.resumePoint ?? work.outdatedPoint ?? attempt.task.storedPoint
            return record(restart: "nothing of what was sent is there", before, of: attempt.task, keeping: kept)
        }
        queue.writer.record(.resumedAtOffset(accepted, repeated: before - accepted), for: attempt.task.claim)
    }
}

extension TransferError {
    static func absent(at server: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(server) does not find what it has of the file",
            .automatic("Martlet asks for it again before it begins anew"))
    }
}

extension GetResumePoint {
    /// The name of the temporary file of a download that begins anew, so that the next attempt takes that file and a clean-up finds it.
    var place: ResumePoint? { partName == nil ? nil : ResumePoint(forgotten) }
}
