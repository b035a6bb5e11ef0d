import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// The end of an attempt, whatever becomes of its task (`TransferEngine+Outcomes`): how far an upload came is recorded, and the slot is free.
extension TransferEngine {
    /// An upload ends where it stands. What a server remembers goes on there; what none does has to be sent again.
    /// - Parameter isStopped: by a person or the engine's end; it is shown to stand there until its server has said otherwise.
    func recordCut(_ attempt: Attempt, isStopped: Bool = false) {
        guard case .upload(let work) = attempt.job else { return }
        noteIfUntouched(attempt)
        // First: a point that nothing was recorded of so far, as of a small file over SFTP, decides below whether what was sent still counts.
        let left = adoptRemains(attempt)
        if attempt.countsWhatWasSent {
            let task = attempt.task
            let sent = accounting.unconfirmed.breakOff(task, at: attempt.progress.position, isStopped: isStopped)
            queue.writer.record(
                .checkpoint(
                    resumePoint: left?.encoded, accepted: attempt.countedAccepted, secret: left?.secret),
                for: task.claim)
            queue.writer.record(.sent(sent, kept: true), for: task.claim)
        } else if attempt.progress.position > 0 {
            record(
                restart: "it was broken off, and this server cannot resume", attempt.progress.position,
                of: attempt.task,
                keeping: work.resumePoint ?? work.outdatedPoint)
        } else if let left {
            queue.writer.record(
                .checkpoint(resumePoint: left.encoded, accepted: attempt.progress.accepted, secret: left.secret),
                for: attempt.task.claim)
        }
    }

    /// Records of an upload whose exchanges are broken off that nothing of it has reached its server, when that is so: no later attempt then
    /// reckons with bytes of its own there.
    func noteIfUntouched(_ attempt: Attempt) {
        guard attempt.upload != nil, !attempt.exchanges.hasReachedServer else { return }
        queue.writer.record(.untouched, for: attempt.task.claim)
    }

    // MARK: The slot

    /// The attempt is over; its connection's place is free.
    func close(_ attempt: Attempt) {
        if case .sftp? = attempt.place?.route { transports.sftp?.abandonAll(of: attempt.owner) }
        freeSlot(of: attempt)
        attempt.stage.end()
        attempt.run.end()
        if attempts[attempt.task.id] === attempt {
            attempts[attempt.task.id] = nil
            accounting.keepBest(attempt.speed.best, of: attempt.task.id)
        }
        attempt.upload?.source = nil
        releaseName(of: attempt)
        _ = attempt.access.login?.standing.ended(attempt.task.id)
        endInquiry(attempt)
        duties.hasUncommitted = true
        schedulePump()
    }

    /// Nothing more of the file is to move: another one goes on in its place in the line.
    func leaveSpeed(of attempt: Attempt) {
        let now = timeline.nanoseconds
        let meter = attempt.speed.leaveMeter(at: now)
        accounting.left.leave(meter, of: attempt.linePlace, most: limitBook.engine.transfers, at: now)
    }

    /// Gives the connection's place away while the rest goes on without one of its own.
    func freeSlot(of attempt: Attempt) {
        if attempt.stage.giveSlotAway() { giveSlot(at: attempt.origin) }
    }

    /// A connection's place is taken, by a file or by a question.
    func takeSlot(at origin: String) {
        hosts.takeSlot(at: origin)
    }

    func giveSlot(at origin: String) {
        hosts.giveSlot(at: origin)
        schedulePump()
    }
}
