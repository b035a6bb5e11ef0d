import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Objects that moved at the last look; what comes to rest has to be shown once more.
struct Moving {
    var batches: Set<BatchID> = []
    var folders: Set<FolderID> = []
    var tasks: Set<TaskID> = []
    /// Batches that stand still because of their hosts.
    var held: Set<BatchID> = []
    /// Servers that have served nothing for a while.
    var troubles: Set<HostTrouble> = []
    /// Logins that were refused.
    var refused: Set<RefusedLogin> = []
    /// Nothing starts any more.
    var isStopping = false
}

/// The watch over what moves, while somebody looks.
struct LiveWatch {
    var isOn = false
    var moving = Moving()
    /// Looks again while speeds fall.
    var timer: LoopTimer?
}

/// Sending what has changed in views: when it was done last, and when it is due.
struct ViewFlush {
    var timer: LoopTimer?
    var isUnderWay = false
    /// A view was set while others were being sent.
    var mustFollowAtOnce = false
    /// The last read for a view failed.
    var hasFailed = false
    var last: MonotonicInstant?
    /// Looks up the order among very many rows again.
    var sortTimer: LoopTimer?

    /// The time since the last one; where there was none, `otherwise`.
    func passed(_ otherwise: Duration) -> Duration { last?.duration(to: .now) ?? otherwise }
}

extension TransferService {
    /// Replaces a client's view, and shows it at once.
    func setView(_ request: ViewRequest, of client: ServiceClient) throws(RequestError) {
        var view = try ServiceView(request)
        // Who scrolls goes on seeing what was found, and what one view has found another one need not look for.
        let known = client.views.values.compactMap(\.filter)
        if let same = known.first(where: { $0.text == view.filter?.text }) { view.filter = same }
        if view.isEmpty {
            client.views[view.number] = nil
        } else {
            let others = client.views.values.filter { $0.number != view.number }
            // A program may wait for the end of many batches, each by a view with one node.
            guard others.count < ServiceView.mostViews else {
                throw RequestError(.refused, "a client has up to \(ServiceView.mostViews) views: close one")
            }
            guard !view.hasSections || others.count(where: \.hasSections) < ServiceView.mostWithSections else {
                throw RequestError(
                    .refused, "a client has up to \(ServiceView.mostWithSections) views with sections: close one")
            }
            guard others.reduce(0, { $0 + $1.rows }) + view.rows <= ServiceView.mostRowsOfClient else {
                throw RequestError(
                    .refused, "the views of a client have up to \(ServiceView.mostRowsOfClient) rows: close one")
            }
            client.views[view.number] = view
        }
        viewsChanged()
        guard !view.isEmpty else { return }
        if let filter = view.filter, !filter.isComplete { search(filter, of: client.number) }
        flushAtOnce()
    }

    /// Screens that show the tree.
    var viewers: Int64 { Int64(clients.values.count { $0.views.values.contains(where: \.isScreen) }) }

    /// A view came or went: the engine tells what moves only while somebody looks.
    func viewsChanged() {
        let wanted = clients.values.contains { !$0.views.isEmpty }
        guard wanted != liveWatch.isOn else { return }
        liveWatch.isOn = wanted
        let notice: @Sendable () -> Void = { [weak self] in
            Task.immediate { [weak self] in await self?.liveMoved() }
        }
        Task { await engine.watchLive(wanted ? notice : nil) }
    }

    func noteViews(_ change: QueueChange) {
        updateViews { $0.note(change) }
        searchAgain(liveOnly: false)
        guard !change.finished.isEmpty else { return scheduleFlush() }
        // Who waits for a batch hears of its end at once, or almost, when ends follow each other closely.
        let passed = flushing.passed(.seconds(1))
        if let timer = flushing.timer { loop.cancel(timer) }
        flushing.timer = nil
        flushing.mustFollowAtOnce = flushing.isUnderWay
        flushSoon(after: max(.zero, .milliseconds(20) - passed))
    }

    private func liveMoved() async {
        let live = await engine.live()
        let before = liveWatch.moving
        liveWatch.moving = Moving(
            batches: Set(live.tasks.map(\.batch)).union(live.left.map(\.batch)),
            folders: Set((live.tasks.map(\.folder) + live.left.map(\.folder)).flatMap { chains.of($0) }),
            tasks: Set(live.tasks.map(\.task)), held: Set(live.held.keys), troubles: Set(live.troubles),
            refused: Set(live.refused), isStopping: live.isStopping)
        if before.isStopping != liveWatch.moving.isStopping { updateViews { $0.noteEverything() } }
        var change = QueueChange()
        change.wholly = before.held.symmetricDifference(liveWatch.moving.held)
        change.wholly.formUnion(before.troubles.symmetricDifference(liveWatch.moving.troubles).map(\.place.batch))
        change.wholly.formUnion(before.refused.symmetricDifference(liveWatch.moving.refused).map(\.place.batch))
        change.batches = change.wholly
        if !change.isEmpty { updateViews { $0.note(change) } }
        let (batches, folders) = (
            before.batches.union(liveWatch.moving.batches), before.folders.union(liveWatch.moving.folders)
        )
        let tasks = before.tasks.union(liveWatch.moving.tasks)
        updateViews { $0.noteLive(batches: batches, folders: folders, tasks: tasks) }
        searchAgain(liveOnly: true)
        scheduleFlush()
        lookUntilStill(live)
    }

    /// Looks again each second until all speeds are 0: what stands still tells nothing, but its speed falls.
    private func lookUntilStill(_ live: LiveSnapshot) {
        if let timer = liveWatch.timer { loop.cancel(timer) }
        liveWatch.timer = nil
        guard liveWatch.isOn, !live.left.isEmpty || live.tasks.contains(where: { $0.bytesPerSecond > 0 }) else {
            return
        }
        liveWatch.timer = loop.schedule(after: .seconds(1)) { [weak self] in
            self?.assumeIsolated { service in
                service.liveWatch.timer = nil
                Task { await service.liveMoved() }
            }
        }
    }

    private func updateViews(_ change: (inout ServiceView) -> Void) {
        for client in clients.values {
            for number in client.views.keys { client.views[number].map { _ in change(&client.views[number]!) } }
        }
    }

    // MARK: Sending

    /// Sends what changed, no sooner than the interval allows, when there is anything and somebody reads.
    func scheduleFlush() {
        let passed = flushing.passed(settings.viewInterval)
        flushSoon(after: max(.zero, settings.viewInterval - passed))
    }

    /// An answer to a person waits for nobody.
    func flushAtOnce() {
        flushing.mustFollowAtOnce = flushing.isUnderWay
        flushSoon(after: .zero)
    }

    private func flushSoon(after delay: Duration) {
        guard !flushing.isUnderWay, clients.values.contains(where: { $0.takesViews && $0.hasDirtyViews }) else {
            return
        }
        if let timer = flushing.timer {
            guard delay == .zero else { return }
            loop.cancel(timer)
        }
        flushing.timer = loop.schedule(after: delay) { [weak self] in self?.assumeIsolated { $0.flush() } }
    }

    private func flush() {
        flushing.timer = nil
        flushing.isUnderWay = true
        Task {
            await flushViews()
            flushing.isUnderWay = false
            // A view that was set meanwhile is not kept waiting for the interval.
            let atOnce = flushing.mustFollowAtOnce
            flushing.mustFollowAtOnce = false
            if atOnce { flushSoon(after: .zero) } else { scheduleFlush() }
        }
    }

    /// Looks at one piece of one client's views after the other, and sends it, until all have had their turn: however much somebody wants, the
    /// requests and views of the others come in between.
    private func flushViews() async {
        beginTurns()
        while true {
            // A client that has not read the last update gets none: what is dirty stays so and is newest when it reads.
            let due = clients.values.filter { $0.takesViews && $0.hasDueViews }.map(\.number).sorted()
            if due.isEmpty { return }
            let live = await engine.live()
            for number in due {
                guard let client = clients[number], client.takesViews, let (view, want) = client.takeWant() else {
                    continue
                }
                do {
                    let (look, chains) = try await queue.reader.look([want], live: live, chains: chains)
                    self.chains = chains
                    flushing.hasFailed = false
                    for looked in look.looked { send(looked, to: (number, view)) }
                    if look.isBehind { sortAgainLater() }
                } catch {
                    // The parts that were taken have not been shown.
                    clients[number]?.views[view]?.noteEverything()
                    // Said once, however often it is tried.
                    if !flushing.hasFailed { log.write(.error, "the queue cannot be read: \(error)") }
                    flushing.hasFailed = true
                    return
                }
            }
            let passed = flushing.passed(settings.viewInterval)
            if flushing.mustFollowAtOnce || passed >= settings.viewInterval { beginTurns() }
        }
    }

    /// Looks again at all that has changed by now, of clients whose last turn is over.
    private func beginTurns() {
        flushing.mustFollowAtOnce = false
        flushing.last = .now
        for client in clients.values where !client.hasDueViews {
            for number in client.views.keys { client.views[number]?.beginTurn() }
        }
    }

    /// Among very many rows the order is looked up now and then, not with every change.
    private func sortAgainLater() {
        guard flushing.sortTimer == nil else { return }
        flushing.sortTimer = loop.schedule(after: .seconds(1)) { [weak self] in
            self?.assumeIsolated { service in
                service.flushing.sortTimer = nil
                service.updateViews { $0.noteSorted() }
                service.scheduleFlush()
            }
        }
    }

    private func send(_ looked: LookedAt, to place: (client: Int, view: Int)) {
        var looked = looked
        if var totals = looked.totals {
            complete(&totals)
            looked.totals = totals
        }
        guard let client = clients[place.client], var view = client.views[place.view],
            // A view that was replaced meanwhile is dirty as a whole and shown in the next turn.
            looked.filter?.text == view.filter?.text
        else { return }
        let change = view.change(of: looked)
        let line = try? change?.line { try WireCoding.line(Notification(method: .viewChanged, params: $0)) }
        // A long one is looked at again when the client has the right to it; until then it counts as not sent.
        if let line, !client.mayTake(line.count) {
            client.views[place.view]?.noteEverything()
            return
        }
        client.views[place.view] = view
        if let line { client.send(line) } else { client.expectNothing() }
    }
}

extension ServiceClient {
    /// It has read what it was sent last, and does not wait for the right to more.
    fileprivate var takesViews: Bool { unreadBytes == 0 && !waitsForRight }
    fileprivate var hasDirtyViews: Bool { views.values.contains(where: \.isDirty) }
    fileprivate var hasDueViews: Bool { views.values.contains(where: \.isDue) }

    /// The next piece of its views; one that was not taken yet comes first.
    fileprivate func takeWant() -> (view: Int, want: QueueLook.Want)? {
        guard let number = views.filter({ $0.value.isDue }).keys.min(), var view = views[number] else { return nil }
        var want = QueueLook.Want()
        for part in view.takeDue() {
            switch part {
            case .section(let parent): want.sections.append(view.sectionRequest(parent))
            case .node(let id): want.nodes.append(id)
            case .totals: want.totals = true
            case .filter: break
            }
        }
        want.filter = view.filter.map { ($0.matches, $0.count) }
        views[number] = view
        return (number, want)
    }
}
