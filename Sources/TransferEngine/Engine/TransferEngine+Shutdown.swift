import CurlTransport
import LinuxSystem
import SSHTransport
package import TransferModel
import TransferQueue

/// The end of the whole engine: at once, or when what runs is finished; and taking that back.
extension TransferEngine {
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
        // Without an attempt that could give it back.
        for claim in waits.comparisons { queue.writer.record(.requeued, for: claim) }
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
}
