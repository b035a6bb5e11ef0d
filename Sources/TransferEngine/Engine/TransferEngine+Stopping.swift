import LinuxSystem
import TransferModel
package import TransferQueue

/// Stops tasks that a person has paused or cancelled. The end of the whole engine is in `TransferEngine+Shutdown`.
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

    /// Ends attempts where they stood when they were looked at last. How far each came is recorded when this returns; of a download on a disk
    /// that does not answer it is recorded when that does; `waits.unrecorded` has those.
    func breakOff(_ running: [Attempt]) async {
        for attempt in running {
            abandonAll(of: attempt)
            if attempt.download == nil {
                // At once: its task may be claimed anew while the files below are put on the disk.
                recordCut(attempt, isStopped: true)
                queue.writer.record(.requeued, for: attempt.task.claim)
            }
            close(attempt)
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

    /// Runs `work` for all parts at the same time. Returns when all are done or the time is over; unfinished work then goes on by itself.
    func within<Part>(_ time: Duration, _ parts: [Part], _ work: @escaping (Part) async -> Void) async {
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
