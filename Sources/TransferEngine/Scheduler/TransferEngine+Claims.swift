import LinuxSystem
import TransferModel
import TransferQueue

/// Claims: a window of tasks of each lane is taken from the queue ahead of the free slot, and goes back when nothing was started of it.
extension TransferEngine {
    /// Claims for the lanes that could fill the slots, in their order.
    func claimAhead(_ now: Timestamp) {
        // A host that is held back opens by time alone; until then every look may find something new.
        lanes.claimsAreStale = !hosts.areWell
        var slots = limitBook.engine.transfers
        var hostSlots: [String: Int] = [:]
        // Transfers that crawl hold slots of their hosts, and of the engine's none that others want.
        var crawling = hosts.crawling
        for entry in lanes.order {
            guard slots > 0 else { return }
            guard let lane = lanes[entry], lane.summary.mayRun(at: now) else { continue }
            if hosts.closedUntil(lane.summary.place, now) != nil { continue }
            if credentials.refusal(lane.context, entry.host) != nil { continue }
            let limit = limitBook.engine.transfersPerHost
            let room = hostSlots[entry.host] ?? hosts.allowance(of: entry.host, limit: limit)
            let taken = min(room, slots, Int(clamping: Int64(lane.ready) + lane.unclaimed))
            guard taken > 0 else { continue }
            hostSlots[entry.host] = room - taken
            let lent = min(taken, crawling[entry.host] ?? 0)
            crawling[entry.host, default: 0] -= lent
            slots -= taken - lent
            let wanted = SchedulerChoice.claim(ready: lane.ready, window: lane.window)
            if wanted > 0, lane.unclaimed > 0, !lane.isClaiming { claim(lane, wanted) }
        }
    }

    private func claim(_ lane: Lane, _ wanted: Int) {
        lanes.beginClaim(lane)
        inBackground { [self] in
            defer {
                lanes.endClaim(lane)
                schedulePump()
            }
            let found = await durably(while: { isServed(lane) }) { try await context(for: lane.summary.batch) }
            guard let context = found ?? nil else {
                lane.unclaimed = 0
                return
            }
            var (generation, setBacks) = (lane.generation, 0)
            // Between the claim and the first byte lies a commit: what the server may have seen is known after any kill.
            let taken = await durably(while: { isServed(lane) }) {
                (generation, setBacks) = (lane.generation, timeline.setBacks)
                return try await queue.writer.claim(lane.summary.lane, limit: wanted, now: timeline.now)
            }
            guard let all = taken else {
                lane.unclaimed = 0
                return
            }
            FaultPoint.claimed.pass()
            lane.unclaimed = all.count < wanted ? 0 : max(0, lane.unclaimed - Int64(all.count))
            guard isServed(lane), lane.generation == generation else { return await giveBack(all.map(\.claim)) }
            // The queue may have stopped some of them again before we heard of them.
            let ended = all.filter { lanes.isEnded($0) }
            let claimed = all.filter { !lanes.isEnded($0) }.map { task in
                var task = task
                task.setBacks = setBacks
                return task
            }
            lanes.add(claimed, to: lane, context)
            await giveBack(ended.map(\.claim))
        }
    }

    /// Returns true while tasks of the lane may be started.
    private func isServed(_ lane: Lane) -> Bool { phase == .running && lanes.contains(lane) }

    /// Gives claims back that nothing was started of. The queue may refuse that for hours: it is done later then, since a person waits for
    /// the answer.
    func giveBack(_ claims: [TaskClaim]) async {
        if claims.isEmpty { return }
        do {
            try await queue.writer.release(unstarted: claims)
        } catch {
            inBackground { [self] in await durably { try await queue.writer.release(unstarted: claims) } }
        }
    }
}
