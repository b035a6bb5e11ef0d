import CurlTransport
import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
import TransferQueue

/// Looks at moving transfers, by one timer for all attempts, which runs only while there are some.
extension TransferEngine {
    /// Time between two looks at active tasks: short enough for a screen when one is there.
    private var tick: Duration { notice == nil ? .milliseconds(250) : .milliseconds(100) }

    func startTicking() {
        if timers.tick != nil { return }
        timers.tick = timeline.clock.schedule(after: tick) { [self] in ticked() }
    }

    /// When a turn of the loop leaves nothing running.
    func stopTicking() {
        guard let timer = timers.tick else { return }
        timeline.clock.cancel(timer)
        timers.tick = nil
        keepTodayIfDue(isMoving: false)
        // Who looks is told of the end, too.
        notice?()
    }

    private func ticked() {
        timers.tick = nil
        for attempt in attempts.values where attempt.phase == .running {
            sample(attempt)
            attempt.speed.note(at: timeline.nanoseconds)
            hear(of: attempt)
            // A file that is over within a tick never costs the queue this row.
            if attempt.stage.tellRunning() { queue.writer.record(.running, for: attempt.task.claim) }
            switch attempt.job {
            case .upload(let work): noteIfDue(attempt, work)
            case .download: checkpointIfDue(attempt)
            case .look, .removal, .probe, .listing, .readBack: break
            }
        }
        if noteCrawling() { schedulePump() }
        let hasMoved = accounting.takeMovement()
        if hasMoved { keepTodayIfDue(isMoving: true) }
        if hasMoved || attempts.isEmpty { notice?() }
        if !attempts.isEmpty { startTicking() }
    }

    /// Tells the queue from time to time how far a long upload is, so that a kill of the engine is followed by true numbers: what the
    /// server has said to have, or what has to be sent again.
    private func noteIfDue(_ attempt: Attempt, _ work: UploadWork) {
        // After a kill the upload that is only believed gone would go on where it was.
        guard work.believedGone == nil else { return }
        let now = timeline.nanoseconds
        let passed = Duration.nanoseconds(now - max(work.told.at, attempt.stage.startedAt))
        guard attempt.progress.position > work.told.bytes, passed >= settings.checkpointInterval else { return }
        work.told = (attempt.progress.position, now)
        if attempt.countsWhatWasSent {
            queue.writer.record(
                .checkpoint(resumePoint: nil, accepted: attempt.progress.accepted), for: attempt.task.claim)
        }
        work.isToldAtRisk = !attempt.countsWhatWasSent
        queue.writer.record(.sent(attempt.progress.position, kept: attempt.countsWhatWasSent), for: attempt.task.claim)
    }

    func sample(_ attempt: Attempt) {
        if attempt.download == nil {
            for exchange in attempt.exchanges.underWay where exchange.isPayload {
                if let sent = progress(exchange)?.sent { attempt.exchanges.saw(sent, in: exchange.wire) }
            }
            moved(attempt, to: attempt.uploaded)
        } else if let received = attempt.exchanges.underWay.last.flatMap({ progress($0) })?.received {
            moved(attempt, to: attempt.progress.base + received)
        }
    }

    /// Bytes of an exchange that have arrived at its server, over SFTP those that are on their way to ssh or beyond, and bytes that it has
    /// received.
    func progress(_ exchange: FlyingExchange) -> (sent: Int64, received: Int64)? {
        switch exchange.carrier {
        case .http:
            transports.http?.progress(exchange.wire).map { ($0.arrived, $0.received) }
        case .ftp:
            transports.ftp?.progress(exchange.wire).map { ($0.arrived, $0.received) }
        case .sftp: transports.sftp?.progress(exchange.wire).map { ($0.sent, $0.received) }
        }
    }

    /// Counts bytes that were sent and are not at the server as repeated: they have to be sent again.
    func countRepeated(_ attempt: Attempt) {
        attempt.upload?.heardFromServer()
        attempt.progress.fallBack(to: attempt.uploaded)
    }

    /// Counts what moved since the last look. Never past the total: what is repeated was taken back before.
    func moved(_ attempt: Attempt, to position: Int64) {
        let bytes = attempt.progress.move(to: position)
        guard bytes > 0 else { return }
        // A gateway refuses before it takes so much.
        if attempt.upload?.believedGone != nil, !Absence.isCheap(attempt.uploaded) {
            settleBelief(attempt)
        }
        let now = timeline.nanoseconds
        attempt.speed.add(bytes, at: now, awake: timeline.clock.awake.nanoseconds)
        accounting.moved(bytes, attempt.direction, of: attempt.task.batch, at: now, timeline.time(at: now))
    }

    package func live() -> LiveSnapshot {
        let now = timeline.nanoseconds
        for attempt in attempts.values where attempt.phase == .running { sample(attempt) }
        var snapshot = LiveSnapshot(
            tasks: attempts.values.map { live($0, now) }.sorted { $0.task < $1.task },
            left: accounting.left.speeds(at: now))
        snapshot.held = heldBatches()
        snapshot.troubles = troubles()
        snapshot.refused = refusedLogins()
        snapshot.full = hosts.full(limit: limitBook.engine.transfersPerHost)
        snapshot.fullPlaces = fullPlaces()
        snapshot.asked = hosts.asked
        snapshot.isStopping = phase == .draining
        snapshot.unconfirmed = accounting.unconfirmed.shown
        return snapshot
    }

    private func live(_ attempt: Attempt, _ now: Int64) -> LiveTask {
        let speed = attempt.speed.bytesPerSecond(at: now)
        let left = attempt.progress.total.map { $0 - attempt.progress.position }
        var live = LiveTask(
            task: attempt.task.id, batch: attempt.task.batch, folder: attempt.task.folder,
            direction: attempt.direction, state: attempt.stage.hasGivenSlotAway ? .finishing : .running,
            bytesTotal: attempt.progress.total, bytesSent: attempt.progress.position,
            bytesAccepted: attempt.progress.accepted,
            bytesRepeated: attempt.progress.repeated, bytesPerSecond: speed,
            secondsLeft: SpeedMeter.secondsLeft(left, bytesPerSecond: speed),
            isStalled: !attempt.stage.hasGivenSlotAway && attempt.speed.isQuiet(at: now))
        live.averageBytesPerSecond = attempt.speed.average(at: now)
        if attempt.phase == .running, !attempt.goesOnAfterCut { live.bytesAtRisk = attempt.progress.position }
        return live
    }

    package func parts(of task: TaskID) -> [PartRun] {
        guard let attempt = attempts[task], attempt.phase == .running else { return [] }
        sample(attempt)
        var runs: [PartRun] = []
        for part in attempt.machine.partStandings {
            let flying = part.exchange.flatMap { attempt.exchanges[$0]?.sent } ?? 0
            PartRun.add(part.state, bytes: part.bytes, sent: min(part.bytes, part.held + flying), to: &runs)
        }
        return runs
    }

    package func figures(of task: TaskID) -> AttemptFigures? {
        guard let attempt = attempts[task] else { return nil }
        if attempt.phase == .running { sample(attempt) }
        attempt.speed.note(at: timeline.nanoseconds)
        return AttemptFigures(
            averageBytesPerSecond: attempt.speed.average(at: timeline.nanoseconds),
            bestBytesPerSecond: attempt.speed.best > 0 ? attempt.speed.best : nil, resumable: attempt.isResumable)
    }

    package func watchLive(_ notice: (@Sendable () -> Void)?) {
        self.notice = notice
    }
}
