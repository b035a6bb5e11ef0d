import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Filters are looked up in the queue stretch by stretch, beside everything else. The first search shows what it has
/// found so far; later ones, after changes, replace the result when they are through.
extension TransferService {
    /// At most so often, and never for more than a fifth of the reader's time.
    private static let searchPause = Duration.milliseconds(250)

    func search(_ filter: ViewFilter, of client: Int) {
        guard filter.search == nil else { return }
        lastSearch += 1
        filter.search = lastSearch
        filter.isStale = false
        Task { await self.goThrough(filter, of: client) }
    }

    /// Searches again: what was found may be so no longer. What only moves matters to filters that ask for it.
    func searchAgain(liveOnly: Bool) {
        for client in clients.values {
            for filter in client.views.values.compactMap(\.filter)
            where !liveOnly || filter.filter.needs.contains(.live) {
                filter.isStale = true
                search(filter, of: client.number)
            }
        }
    }

    private func goThrough(_ filter: ViewFilter, of client: Int) async {
        let begun = ContinuousClock.now
        var shown = begun
        // The first search shows what it finds, and keeps it nowhere else.
        let isFirst = !filter.isComplete
        var found = FilterMatches()
        if isFirst { filter.matches = found }
        var after: TaskID? = TaskID(rawValue: 0)
        while let from = after {
            let slice = try? await slice(filter.filter, from)
            guard isWanted(filter, of: client) else { return }
            // What went wrong once may go well the next time; until then what was found stays.
            guard let slice else {
                filter.isStale = true
                return endSearch(filter, of: client, after: Self.searchPause * 4)
            }
            if isFirst { filter.matches.add(slice) } else { found.add(slice) }
            after = slice.next
            filter.total = slice.total
            guard isFirst, after != nil, shown.duration(to: .now) > .milliseconds(50) else { continue }
            shown = .now
            noteFound(filter, of: client)
            scheduleFlush()
        }
        if !isFirst { filter.matches = found }
        filter.isComplete = true
        noteFound(filter, of: client)
        if isFirst { flushAtOnce() } else { scheduleFlush() }
        endSearch(filter, of: client, after: max(Self.searchPause, begun.duration(to: .now) * 4))
    }

    /// Another search may begin after a pause, and does if something changed meanwhile.
    private func endSearch(_ filter: ViewFilter, of client: Int, after pause: Duration) {
        let search = filter.search
        loop.schedule(after: pause) { [weak self] in
            self?.assumeIsolated { service in
                let filters = service.clients[client]?.views.values.compactMap(\.filter) ?? []
                guard let filter = filters.first(where: { $0.search == search }) else { return }
                filter.search = nil
                if filter.isStale { service.search(filter, of: client) }
            }
        }
    }

    /// A view of the client still has the filter.
    private func isWanted(_ filter: ViewFilter, of client: Int) -> Bool {
        clients[client]?.views.values.contains { $0.filter === filter } == true
    }

    private func noteFound(_ filter: ViewFilter, of client: Int) {
        guard let client = clients[client] else { return }
        for (number, view) in client.views where view.filter === filter { client.views[number]?.noteFilter() }
    }

    /// The next stretch of the queue, with what moves laid over it.
    func slice(_ filter: TransferFilter, _ after: TaskID) async throws -> FilterSlice {
        try await queue.reader.search(filter, after: after, motion: await motion(for: filter))
    }

    /// The filter of a selector, with its other conditions.
    private func filter(of selector: NodeSelector, _ text: String) throws(RequestError) -> TransferFilter {
        guard selector.session == nil else {
            throw RequestError(.usage, "a filter and a session together are not understood: name the batch instead")
        }
        var parts = [try ViewFilter(text).filter.root]
        if let batch = selector.batch { parts.append(.test(.node(.batch(batch)))) }
        if !selector.states.isEmpty { parts.append(.test(.states(selector.states))) }
        return TransferFilter(.all(parts))
    }

    /// One stretch of the queue, as a page; one in which nothing matches is empty.
    func list(_ request: TaskListRequest, _ text: String, limit: Int) async throws -> TaskPage {
        let selector = NodeSelector(batch: request.batch, session: request.session, states: request.states ?? [])
        let slice = try await slice(try filter(of: selector, text), request.after ?? TaskID(rawValue: 0))
        let found = slice.hits.values.flatMap(\.tasks).sorted()
        let page = found.prefix(limit)
        var tasks: [TaskSnapshot] = []
        let live = await engine.live()
        for id in page {
            // One that was purged meanwhile is no fault of who asks.
            let (task, chains) = try await queue.reader.task(
                TaskShowRequest(task: id, history: false, response: false), live: live, chains: chains)
            self.chains = chains
            if let task { tasks.append(task) }
        }
        return TaskPage(tasks: tasks, next: page.count < found.count ? page.last : slice.next)
    }

    /// The tasks that a selector with a filter means, a stretch of the queue at a time, in the order of their numbers.
    func eachMatch(of selector: NodeSelector, _ text: String, _ body: ([NodeID]) async throws -> Void) async throws {
        let filter = try filter(of: selector, text)
        var after: TaskID? = TaskID(rawValue: 0)
        while let from = after {
            let slice = try await slice(filter, from)
            let tasks = slice.hits.values.flatMap(\.tasks).sorted()
            for start in stride(from: 0, to: tasks.count, by: 1000) {
                try await body(tasks[start..<min(start + 1000, tasks.count)].map { .task($0) })
            }
            after = slice.next
        }
    }
}
