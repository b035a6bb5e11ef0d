import CurlTransport
import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
package import TransferQueue

/// Breaking off: some tasks because a person says so, all of them because the engine ends.
extension TransferEngine {
    package func stop(_ claims: [TaskClaim]) async {
        let unstarted = lanes.takeOut(Set(claims))
        waits.comparisons.subtract(claims)
        let running = claims.compactMap { claim in attempts[claim.task].flatMap { $0.task.claim == claim ? $0 : nil } }
            .filter { $0.phase == .running || $0.phase == .finishing }
        await breakOff(running)
        let unrecorded = waits.unrecorded.intersection(claims)
        waits.unrecorded.subtract(claims)
        for attempt in running { askWhatIsThere(attempt) }
        await giveBack(unstarted)
        do {
            // Commits all that was recorded above; the writer itself tries again to store it.
            try await queue.writer.forgetInterrupted(claims.filter { !unrecorded.contains($0) })
        } catch {
            report(.error, "the queue did not take a change: \(error)")
        }
        do {
            for task in claims.map(\.task) where accounting.unconfirmed.contains(task) {
                switch try await queue.reader.task(task)?.state {
                // It may be taken back for a while, and goes on knowing what was sent.
                case .cancelled?: accounting.unconfirmed.showConfirmed(task)
                case let state?: if state.isTerminal { accounting.unconfirmed.forget(task) }
                case nil: accounting.unconfirmed.forget(task)
                }
            }
        } catch {
            report(.error, "the queue cannot be read: \(error)")
        }
        schedulePump()
    }

    /// Ends attempts where they stand. How far each came is recorded when this returns; of a download on a disk that does not answer it is
    /// recorded when that does; `waits.unrecorded` has those.
    private func breakOff(_ running: [Attempt]) async {
        for attempt in running {
            abandonAll(of: attempt)
            close(attempt)
            if attempt.download != nil { continue }
            // At once: its task may be claimed anew while the files below are put on the disk.
            recordCut(attempt, isStopped: true)
            queue.writer.record(.requeued, for: attempt.task.claim)
        }
        let downloads = running.filter { $0.download != nil }
        waits.unrecorded.formUnion(downloads.map(\.task.claim))
        await within(.seconds(2), downloads) { [self] attempt in
            await checkpoint(attempt)
            let claim = attempt.task.claim
            queue.writer.record(.requeued, for: claim)
            // Nobody waits for it any more: what is recorded with this is all.
            if waits.unrecorded.remove(claim) == nil { try? await queue.writer.forgetInterrupted([claim]) }
        }
    }

    /// Records how far a download's file is on the disk. What cannot be put there does not count.
    private func checkpoint(_ attempt: Attempt) async {
        guard !beganAnew(attempt), case .download(let work) = attempt.job, var point = work.point,
            work.target.written > work.target.synced, case .done = await sync(attempt)
        else { return }
        point.offset = work.target.synced
        queue.writer.record(
            .checkpoint(resumePoint: ResumePoint(point).encoded, accepted: work.target.synced), for: attempt.task.claim)
    }

    package func shutdown(_ manner: StopManner) async -> Bool {
        if phase == .stopping { return false }
        if phase == .new {
            phase = .stopping
            return true
        }
        if manner != .now {
            phase = .draining
            walks.breakOff()
            endSideJobs()
            notice?()
            if manner == .finishingUnresumable {
                await breakOff(attempts.values.filter { $0.phase == .running && !$0.losesByCut })
            }
            await untilDrained()
            // Taken back, or another request, perhaps one without patience, does the rest.
            if phase != .draining { return false }
        }
        phase = .stopping
        waits.comparisons = []
        endDrainWait()
        endSideJobs()
        endQuestions()
        duties.goOn()
        timers.cancelAll(timeline.clock)
        endListening()
        // The whole stop is promised in two seconds.
        await within(.milliseconds(1500), [()]) { [self] _ in
            await breakOff(attempts.values.filter { $0.phase == .running || $0.phase == .finishing })
            await untilPublished()
            try? await queue.writer.release(unstarted: lanes.takeAll())
            try? await keepToday()
            try? await queue.writer.commit()
        }
        transports.http?.shutDown()
        transports.ftp?.shutDown()
        transports.sftp?.shutDown()
        transports.http = nil
        lanes.removeAll()
        await walker.stop()
        // A sync of gigabytes may still go on; the process ends without it, and the recorded position is the older one.
        disks.stop()
        return true
    }

    package func goOn() -> GoingOn {
        switch phase {
        case .stopping: return .ends
        case .new, .running: return .runs
        case .draining: break
        }
        phase = .running
        endDrainWait()
        queueChanged()
        inBackground { [self] in await durably { try await takeUpWalks(of: nil) } }
        notice?()
        return .takenBack
    }

    /// Returns when every download that has leave for its final name has it.
    private func untilPublished() async {
        while attempts.values.contains(where: { $0.phase == .publishing }) {
            await withCheckedContinuation { waits.drain.append($0) }
        }
    }

    private func untilDrained() async {
        while phase == .draining, !attempts.isEmpty {
            await withCheckedContinuation { waits.drain.append($0) }
        }
    }

    /// Has stops look again: what ran is over, or they were taken back or overtaken.
    func endDrainWait() {
        let waiters = waits.drain
        waits.drain = []
        for waiter in waiters { waiter.resume() }
    }

    /// Runs `work` for all parts at the same time. Returns when all are done or the time is over; unfinished work then goes on by itself.
    private func within<Part>(_ time: Duration, _ parts: [Part], _ work: @escaping (Part) async -> Void) async {
        if parts.isEmpty { return }
        await withCheckedContinuation { continuation in
            var left = parts.count
            let timer = timeline.clock.schedule(after: time) {
                if left > 0 { continuation.resume() }
                left = 0
            }
            for part in parts {
                Task { [self] in
                    await work(part)
                    guard left > 0 else { return }
                    left -= 1
                    guard left == 0 else { return }
                    timeline.clock.cancel(timer)
                    continuation.resume()
                }
            }
        }
    }
}
