import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// The bytes of a download on their way to the disk: a temporary file, checkpoints, and what a failing disk does to both.
extension TransferEngine {
    /// The point with the temporary file, which is made before its name is recorded; `nil`: the attempt has ended.
    func withPart(_ point: GetResumePoint, _ attempt: Attempt, _ work: DownloadWork) -> ResumePoint? {
        var get = point
        let target = work.target
        if target.descriptor == nil {
            let final = target.directory.appending(get.name)
            if let ending = existing(final, attempt.context.order.options, total: get.version.total) {
                abandonAll(of: attempt)
                close(attempt)
                conclude(attempt.task, ending, of: target, work.point)
                return nil
            }
            do throws(DownloadTarget.Refusal) {
                try target.prepare(for: get.name)
            } catch {
                refused(attempt, error)
                return nil
            }
            if target.hasMadeFolders { durableFolders.forget() }
        }
        target.tellPlace(to: &get)
        work.point = get
        return ResumePoint(get)
    }

    func openGate(_ local: ExchangeID, _ opening: GateOpening, _ attempt: Attempt) {
        guard let target = attempt.download?.target else { return }
        if let total = opening.total, !FileSize.isPossible(total) { return fail(attempt, impossible(attempt)) }
        do throws(DownloadTarget.Refusal) {
            try target.begin(opening)
        } catch {
            _ = beganAnew(attempt)
            return refused(attempt, error)
        }
        attempt.progress.receive(from: opening.offset)
        target.syncedAt = timeline.nanoseconds
        if let total = opening.total, attempt.progress.learn(total: total) {
            queue.writer.record(.sizeKnown(total), for: attempt.task.claim)
        }
        openGate(local, of: attempt, to: target, end: opening.end)
    }

    func openGate(
        _ local: ExchangeID, of attempt: Attempt, to sink: any TransferBodySink & SFTPSink,
        end: Int64?
    ) {
        // The exchange may have ended already, with no body or by a cut: its end is on the way.
        guard let exchange = attempt.exchanges[local] else { return }
        switch exchange.carrier {
        case .http: transports.http?.openGate(exchange.wire, to: .sink(sink))
        case .ftp: transports.ftp?.openGate(exchange.wire, to: sink)
        case .sftp: transports.sftp?.openGate(exchange.wire, to: sink, total: end)
        }
    }

    private func impossible(_ attempt: Attempt) -> TransferError {
        return TransferError(
            .badServerResponse, "the server says that the file has more than 8 PiB",
            .thenRetry("its administrator can mend that"))
    }

    func refused(_ attempt: Attempt, _ refusal: LocalRefusal) {
        if refusal.isShortage { suspendStarts() }
        if let reason = refusal.waits {
            wait(attempt, WaitDemand(reason, refusal.error))
        } else {
            fail(attempt, refusal.error)
        }
    }

    /// Puts what has come on the disk and records it, when enough has come or enough time has passed.
    func checkpointIfDue(_ attempt: Attempt) {
        guard attempt.phase == .running, !attempt.run.isSuspended, let target = attempt.download?.target,
            !target.isSyncing,
            let exchange = attempt.exchanges.underWay.first, target.descriptor != nil
        else { return }
        let passed = Duration.nanoseconds(timeline.nanoseconds - target.syncedAt)
        if passed >= settings.checkpointInterval { flush(exchange) }
        let fresh = target.written - target.synced
        guard fresh >= settings.checkpointBytes || (fresh > 0 && passed >= settings.checkpointInterval) else { return }
        inBackground { [self] in
            switch await sync(attempt) {
            case .done:
                feed(attempt, .synced(through: target.synced))
                // A fast one goes on at once: what is not synced at the end is waited for there.
                checkpointIfDue(attempt)
            case .overtaken: break
            case .failed(let error): lostPages(attempt, error)
            }
        }
    }

    private func flush(_ exchange: FlyingExchange) {
        switch exchange.carrier {
        case .http: transports.http?.flush(exchange.wire)
        case .ftp: transports.ftp?.flush(exchange.wire)
        // Its sink has everything at once.
        case .sftp: break
        }
    }

    /// The result of putting a temporary file on the disk.
    enum SyncOutcome {
        /// `synced` and `accepted` say how far it is there.
        case done
        /// It begins anew meanwhile: what is there of it counts no more.
        case overtaken
        /// Some of it is lost, and the kernel says so this once.
        case failed(Errno)
    }

    /// Puts what has come of a download on the disk.
    func sync(_ attempt: Attempt) async -> SyncOutcome {
        guard let target = attempt.download?.target, let descriptor = target.descriptor else { return .overtaken }
        let (through, start) = (target.written, target.starts)
        let failure = await target.putOnDisk(by: disks.worker(.sync, of: descriptor)) { disk, file throws(Errno) in
            try disk.syncBytes(file.rawValue)
        }
        target.syncedAt = timeline.nanoseconds
        if let failure { return .failed(failure) }
        // A start over may have cut the file meanwhile.
        guard start == target.starts else { return .overtaken }
        FaultPoint.synced.pass()
        target.synced = through
        attempt.progress.sync(through: through)
        return .done
    }

    /// Syncs the file, then records the point: a later attempt trusts it.
    func persistSynced(_ point: ResumePoint, _ attempt: Attempt) {
        attempt.run.suspend()
        inBackground { [self] in
            let outcome = await sync(attempt)
            attempt.run.goOn()
            guard attempt.phase == .running else { return }
            switch outcome {
            case .done: persist(point, attempt, waits: attempt.run.hasActions)
            case .overtaken: break
            case .failed(let error): return lostPages(attempt, error)
            }
            perform(attempt)
        }
    }

    /// Ends an attempt whose sync has failed. The next one goes on at the last checkpoint that reached the disk; this one does not ask the disk
    /// again, because Linux tells of the failure once.
    func lostPages(_ attempt: Attempt, _ error: Errno) {
        guard attempt.phase == .running || attempt.phase == .finishing, let target = attempt.download?.target
        else { return }
        var refusal = target.refusal(error)
        // A disk that fails again and again is for a person to look at.
        if refusal.waits == nil, attempt.failures <= Self.syncFailures { refusal.waits = .backoff }
        refused(attempt, refusal)
    }

    /// Records how far a download's file is on the disk. What cannot be put there does not count.
    func checkpoint(_ attempt: Attempt) async {
        guard !beganAnew(attempt), case .download(let work) = attempt.job, var point = work.point,
            work.target.written > work.target.synced, case .done = await sync(attempt)
        else { return }
        point.offset = work.target.synced
        queue.writer.record(
            .checkpoint(resumePoint: ResumePoint(point).encoded, accepted: work.target.synced), for: attempt.task.claim)
    }

    private static let syncFailures = 3

    /// Returns true, and has the download begin anew, when its temporary file was spoilt.
    func beganAnew(_ attempt: Attempt) -> Bool {
        guard let (reason, isOther) = attempt.download?.target.spoilt else { return false }
        startOver(attempt, reason, isOther: isOther)
        return true
    }

    /// A body may have ended. After a cut, what came is synced first, so that the next attempt goes on there.
    func bodyEnded(_ attempt: Attempt, _ event: ProtocolEvent, broken: Bool) {
        if case .readBack(let reading) = attempt.job, broken {
            feed(attempt, .synced(through: reading.sink.position))
        }
        guard let target = attempt.download?.target, broken, !beganAnew(attempt), target.written > target.synced else {
            return feed(attempt, event)
        }
        inBackground { [self] in
            switch await sync(attempt) {
            case .done: feed(attempt, .synced(through: target.synced))
            case .overtaken: break
            case .failed(let error): return lostPages(attempt, error)
            }
            feed(attempt, event)
        }
    }
}
