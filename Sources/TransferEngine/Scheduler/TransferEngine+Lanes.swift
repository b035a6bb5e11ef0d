import CurlTransport
import LinuxSystem
package import TransferModel
import TransferQueue

/// Starts tasks: lanes are kept in order, tasks are claimed ahead, slots are filled.
extension TransferEngine {
    /// Hears of every commit of the queue, whoever made the change, a little later. For tasks that may run and folders to be looked at this
    /// suffices.
    func heard(of change: QueueChange) {
        for batch in change.removed { credentials.contexts[batch] = nil }
        accounting.left.forget(change.removed.union(change.finished))
        accounting.unconfirmed.forget(change.removed)
        if change.mayRun || !change.removed.isEmpty { refreshLanes() }
        if change.mayRun || change.looksAreDue { lookAtLast() }
        if !change.loginsGiven.isEmpty { tryLogins(of: change.loginsGiven) }
    }

    // MARK: The lanes as the queue sees them

    /// Looks at the lanes again; calls that come meanwhile make it look once more.
    func refreshLanes() {
        guard phase == .running else { return }
        guard lanes.beginRefresh() else { return }
        inBackground { [self] in
            defer { lanes.endRefresh() }
            while phase == .running, lanes.takeStale() {
                let summaries = await durably { try await queue.writer.lanes() }
                if let summaries { adopt(summaries) }
            }
        }
    }

    private func adopt(_ summaries: [LaneSummary]) {
        let (batches, unstarted) = lanes.adopt(summaries)
        if !unstarted.isEmpty { inBackground { [self] in await giveBack(unstarted) } }
        credentials.keep(batches)
        hosts.keep(batches, origins: Set(summaries.map(\.origin)), now: timeline.now)
        schedulePump()
    }

    package func reordered(_ batches: Set<BatchID>) async {
        await giveBack(lanes.reorder(batches))
        refreshLanes()
    }

    // MARK: Filling the slots

    /// Starts what may start when this turn of the loop is over; any number of calls are one.
    func schedulePump() {
        if lanes.planPump() { loop.atEndOfTurn { [self] in pump() } }
    }

    private func pump() {
        lanes.beginPump()
        defer { if attempts.isEmpty { stopTicking() } }
        guard phase == .running, transports.http != nil else { return checkIdle() }
        followClock()
        let now = timeline.now
        _ = noteCrawling()
        var passed = (urgent: 0, all: 0)
        while let index = nextLane(now, &passed) {
            guard let (lane, context) = lanes.begin(at: index) else { continue }
            start(lane.take(), context, origin: lane.summary.origin)
            if lane.isLow { lanes.claimsAreStale = true }
        }
        // When nothing runs, each look may find something new, whoever forgot to say so.
        if lanes.claimsAreStale || attempts.isEmpty { claimAhead(now) }
        if !hosts.areWell || timers.gate != nil { setGateTimer(now) }
        commitWhenQuiet()
        checkIdle()
    }

    /// Index in `lanes.order` of the lane to start from; an urgent lane comes first, and does not wait for running transfers to end.
    /// - Parameter passed: the lanes that this look has passed: of the urgent ones, and of all.
    private func nextLane(_ now: Timestamp, _ passed: inout (urgent: Int, all: Int)) -> Int? {
        if timers.shortage != nil { return nil }
        if passed.urgent < lanes.urgent {
            let beyond = limitBook.engine.transfers
            let left = lanes.order[passed.urgent..<lanes.urgent]
            let found = SchedulerChoice.next(left, slots: slots(beyond: beyond)) { lane in
                mayStart(lane, now, beyond: beyond)
            }
            passed.urgent = found ?? lanes.urgent
            if let found { return found }
        }
        let left = lanes.order[min(passed.all, lanes.order.count)...]
        let found = SchedulerChoice.next(left, slots: slots(beyond: 0)) { mayStart($0, now, beyond: 0) }
        passed.all = found ?? lanes.order.count
        return found
    }

    /// When nothing runs any more, nobody is served by facts that wait for company.
    private func commitWhenQuiet() {
        guard attempts.isEmpty, duties.hasUncommitted else { return }
        duties.hasUncommitted = false
        inBackground { [self] in await durably(.commit) { try await queue.writer.commit() } }
    }

    /// The slots that are left.
    /// - Parameter extra: slots beside those of the limit, for what is wanted now.
    private func slots(beyond extra: Int) -> SchedulerSlots {
        if hasTooManyFinishing { return SchedulerSlots(free: 0) }
        let limit = limitBook.engine.transfers
        return SchedulerSlots(
            free: limit + extra - hosts.slots.inUse, crawling: hosts.crawling, lent: max(0, limit - 1))
    }

    /// Slots that are left for questions: of several the last one is for a file, however long servers take to answer.
    var slotsForQuestions: Int {
        let limit = limitBook.engine.transfers
        return hasTooManyFinishing ? 0 : limit - hosts.slots.inUse - (limit > 1 ? 1 : 0)
    }

    /// Files that wait for the disk to take them, or for last answers on a shared connection, hold no slot, but a descriptor and memory.
    private var hasTooManyFinishing: Bool { attempts.count - hosts.slots.inUse >= Self.mostFinishing }

    /// Looks which transfers crawl.
    /// - Returns: true: there are others than at the last look, and files of other hosts may start.
    func noteCrawling() -> Bool {
        let now = timeline.clock.awake.nanoseconds
        var crawling: [String: Int] = [:]
        for attempt in attempts.values where attempt.stage.holdsSlot && attempt.speed.isCrawling(awake: now) {
            crawling[attempt.origin, default: 0] += 1
        }
        guard crawling != hosts.crawling else { return false }
        hosts.crawling = crawling
        lanes.claimsAreStale = true
        return true
    }

    private static let mostFinishing = 32

    private func mayStart(_ lane: SchedulerLane, _ now: Timestamp, beyond extra: Int) -> Bool {
        let host = lane.host
        // A claimed file may have been stopped or given a later time since.
        guard let known = lanes[lane], known.summary.mayRun(at: now) else { return false }
        if hosts.isAsked(host) { return false }
        if let context = known.context, !mayLogIn(context, host) { return false }
        let limit = limitBook.engine.transfersPerHost + extra
        guard hosts.mayStart(at: host, limit: limit, now: now) else { return false }
        let place = known.summary.place
        guard !hosts.places.isEmpty, let serving = hosts.places[place] else { return true }
        return serving.mayStart(active: load(of: place), limit: limit, now: now)
    }

    private func load(of place: HostTrouble.Place) -> Int {
        attempts.values.count { $0.stage.holdsSlot && $0.servingPlace == place }
    }

    /// Batches that have as many at a host as its answers to them let them have, where that is fewer than the limit, and how many that is.
    func fullPlaces() -> [HostTrouble.Place: Int] {
        let limit = limitBook.engine.transfersPerHost
        var full: [HostTrouble.Place: Int] = [:]
        if hosts.places.isEmpty { return full }
        var loads: [HostTrouble.Place: Int] = [:]
        for attempt in attempts.values where attempt.stage.holdsSlot { loads[attempt.servingPlace, default: 0] += 1 }
        for (place, standing) in hosts.places {
            let most = standing.allowance(limit: limit)
            if most < limit, loads[place, default: 0] >= most { full[place] = most }
        }
        return full
    }

    // MARK: Times at which something may start

    /// Looks again when the first host that is held back may be asked.
    private func setGateTimer(_ now: Timestamp) {
        if let timer = timers.gate { timeline.clock.cancel(timer) }
        timers.gate = nil
        var times: [Timestamp] = []
        for entry in lanes.order {
            guard let lane = lanes[entry], Int64(lane.ready) + lane.unclaimed > 0 else { continue }
            if let until = hosts.closedUntil(lane.summary.place, now) { times.append(until) }
        }
        guard let first = times.min() else { return }
        timers.gate = timeline.clock.schedule(after: first.since(now) + .milliseconds(1)) { [self] in
            schedulePump()
        }
    }

    /// Asks the queue when the next task or batch is due.
    func refreshWake() {
        guard phase == .running else { return }
        inBackground { [self] in
            let time = await durably(.nextWake) { try await queue.writer.nextWake() }
            if let time = time ?? nil { wake(at: time) }
        }
    }

    /// Lets tasks stand in line again at that time, or earlier when an earlier one is known.
    func wake(at time: Timestamp) {
        guard phase == .running else { return }
        if let due = timers.wakesAt, due <= time { return }
        if let timer = timers.wake { timeline.clock.cancel(timer) }
        timers.wakesAt = time
        // Somebody may set the clock meanwhile, and nobody tells of that.
        let delay = min(max(.zero, time.since(timeline.now)) + .milliseconds(1), .seconds(60))
        timers.wake = timeline.clock.schedule(after: delay) { [self] in wakeDue() }
    }

    func wakeDue() {
        timers.wakesAt = nil
        timers.wake = nil
        followClock()
        inBackground { [self] in
            let next = await durably(.wake) {
                try await queue.writer.wakeDue(now: timeline.now)
                return try await queue.writer.nextWake()
            }
            guard let next else { return }
            if let time = next {
                // What is due but may not run yet (its batch is paused) must not make us spin.
                wake(at: max(time, timeline.now.advanced(by: .milliseconds(200))))
            }
            refreshLanes()
            lookAtLast()
        }
    }
}
