import CurlTransport
import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
import TransferQueue

/// Breaking off: some tasks because a person says so, all of them because the engine ends.
extension TransferEngine {
    package func stop(_ tasks: [TaskID]) async {
        let wanted = Set(tasks)
        var unstarted: [TaskID] = []
        for lane in lanes.values { unstarted += lane.remove(wanted) }
        for index in laneOrder.indices {
            laneOrder[index].ready = lanes[LaneID(rawValue: laneOrder[index].id)]?.ready ?? 0
        }
        claimsAreStale = true
        let running = tasks.compactMap { attempts[$0] }.filter { $0.phase == .running }
        await breakOff(running)
        for attempt in running { askWhatIsThere(attempt) }
        do {
            if !unstarted.isEmpty { try await queue.writer.release(unstarted: unstarted) }
            try await queue.writer.commit()
            for task in tasks where unconfirmed[task] != nil {
                if try await queue.reader.task(task)?.state.isTerminal ?? true { unconfirmed[task] = nil }
            }
        } catch {
            report(.error, "the queue did not take a change: \(error)")
        }
        schedulePump()
    }

    /// Ends attempts where they stand; how far each came is recorded when this returns.
    private func breakOff(_ running: [Attempt]) async {
        for attempt in running {
            abandonAll(of: attempt)
            close(attempt)
        }
        for attempt in running {
            if let target = attempt.target, target.written > target.synced, await sync(attempt) {
                for case .persist(let point) in attempt.machine.handle(.synced(through: target.synced)) {
                    if let point = recordable(point, attempt) {
                        queue.writer.record(
                            .checkpoint(resumePoint: point.encoded, accepted: attempt.accepted), for: attempt.task.id)
                    }
                }
            }
            recordCut(attempt, isStopped: true)
            queue.writer.record(.requeued, for: attempt.task.id)
        }
    }

    package func shutdown(_ manner: StopManner) async -> Bool {
        if phase == .stopping { return false }
        if phase == .new {
            phase = .stopping
            return true
        }
        if manner != .now {
            phase = .draining
            walkRun += 1
            endRemovals()
            notice?()
            if manner == .finishingUnresumable {
                await breakOff(attempts.values.filter { $0.phase == .running && !$0.losesByCut })
            }
            await untilDrained()
            // Taken back, or another request, perhaps one without patience, does the rest.
            if phase != .draining { return false }
        }
        phase = .stopping
        endDrainWait()
        endRemovals()
        endQuestions()
        for timer in [gateTimer, troubleTimer, wakeTimer, sweepTimer?.timer, ticker].compactMap({ $0 }) {
            timeline.clock.cancel(timer)
        }
        (gateTimer, troubleTimer, wakeTimer, ticker) = (nil, nil, nil, nil)
        endListening()
        await withinSeconds { [self] in
            await breakOff(attempts.values.filter { $0.phase == .running })
            try? await queue.writer.release(unstarted: lanes.values.flatMap { $0.remove(nil) })
            try? await keepToday()
            try? await queue.writer.commit()
        }
        transport?.shutDown()
        ftp?.shutDown()
        sftp?.shutDown()
        transport = nil
        lanes = [:]
        laneOrder = []
        await walker.stop()
        // A sync of gigabytes may still go on; the process ends without it, and the recorded position is the older one.
        Task.detached { [files] in files.stop() }
        return true
    }

    package func goOn() -> Bool {
        guard phase == .draining else { return false }
        phase = .running
        endDrainWait()
        queueChanged()
        inBackground { [self] in try await takeUpWalks(of: nil) }
        notice?()
        return true
    }

    private func untilDrained() async {
        while phase == .draining, !attempts.isEmpty {
            await withCheckedContinuation { drainWaiters.append($0) }
        }
    }

    /// Has stops look again: what ran is over, or they were taken back or overtaken.
    func endDrainWait() {
        let waiters = drainWaiters
        drainWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Does what can be done in a second and a half: the whole stop is promised in two.
    private func withinSeconds(_ work: @escaping @isolated(any) () async -> Void) async {
        await withCheckedContinuation { continuation in
            stopWaiter = continuation
            _ = timeline.clock.schedule(after: .milliseconds(1500)) { [self] in endStopWait() }
            Task { [self] in
                await work()
                endStopWait()
            }
        }
    }

    private func endStopWait() {
        stopWaiter?.resume()
        stopWaiter = nil
    }
}
