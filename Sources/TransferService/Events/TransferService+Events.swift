import ServiceWire
import TransferModel
import TransferQueue

/// Events on their way to clients.
struct EventFeed {
    /// The newest event that a commit was told of.
    var last = EventSequence(rawValue: 0)
    /// Clients that wait for the next one.
    var waiters = Waiters()
    /// Followers that pages are being sent to.
    var pumping: Set<Int> = []
}

extension TransferService {
    /// A commit stored events: whoever waits or follows is told.
    func noteEvents(upTo sequence: EventSequence) {
        guard sequence > eventFeed.last else { return }
        eventFeed.last = sequence
        eventFeed.waiters.wake { _ in true }
        for client in clients.values where client.follower != nil { pump(client.number) }
        logEvents()
    }

    /// A page behind a cursor: up to `limit` events that it wants, and how far it has looked. Events that were purged are in no page, so
    /// a page that is not full goes up to the last event that there was, not up to the last that was found.
    func page(_ cursor: EventCursor) async throws -> EventPage {
        let known = eventFeed.last
        var page = EventPage(events: [], next: cursor.after, last: known)
        while page.events.count < cursor.limit {
            let found = try await queue.reader.events(after: page.next, limit: 1000)
            for event in found where page.events.count < cursor.limit {
                page.next = event.seq
                if cursor.wants(event) { page.events.append(event) }
            }
            if found.count < 1000 { break }
        }
        if page.events.count < cursor.limit { page.next = max(page.next, known) }
        page.last = max(page.last, page.next)
        return page
    }

    /// The place where a consumer begins: behind what it names, else behind what it acknowledged, else at the beginning.
    func start(after: EventSequence?, consumer: String?) async throws -> EventSequence {
        if let after {
            try await refuse(unstored: after)
            return after
        }
        guard let consumer else { return EventSequence(rawValue: 0) }
        return try await queue.reader.cursor(of: consumer)
    }

    /// Refuses a number that no event has had yet: the queue is another one than its owner believes, and whoever waited behind it would be
    /// told nothing.
    func refuse(unstored sequence: EventSequence) async throws {
        guard sequence > eventFeed.last else { return }
        // A page may hold events that were committed and not announced yet.
        let last = max(eventFeed.last, try await queue.reader.lastEvent())
        if sequence <= last { return }
        throw RequestError(
            .usage, "there is no event \(sequence.rawValue) yet, the last is \(last.rawValue): begin behind that one")
    }

    /// As `page`, but with `wait` not before there is something. `nil`: the client has gone.
    func read(_ cursor: EventCursor, wait: Bool, for client: Int) async throws -> EventPage? {
        var cursor = cursor
        while clients[client] != nil {
            let page = try await page(cursor)
            if !page.events.isEmpty || !wait { return page }
            cursor.after = page.next
            // No suspension between this look and the waiting, so no commit is missed.
            if eventFeed.last <= page.next, clients[client] != nil { await waitForEvent(client) }
        }
        return nil
    }

    private func waitForEvent(_ client: Int) async {
        await withCheckedContinuation { eventFeed.waiters.add(client, $0) }
    }

    /// A client has gone: what waits for it ends.
    func endWaiting(of client: Int) {
        eventFeed.waiters.wake { $0.client == client }
        logWaiters.wake { $0.client == client }
    }

    // MARK: Following

    /// Sends a follower what it has not got, page by page, as long as it reads.
    func pump(_ number: Int) {
        guard !eventFeed.pumping.contains(number), let client = clients[number], client.follower != nil,
            client.takesEvents
        else { return }
        eventFeed.pumping.insert(number)
        Task {
            let isRead = await sendPages(to: number)
            eventFeed.pumping.remove(number)
            // What came between the last look and here. Events that cannot be read are looked for when the next one is stored.
            if isRead, let follower = clients[number]?.follower, follower.after < eventFeed.last { pump(number) }
        }
    }

    /// - Returns: false when the events cannot be read.
    private func sendPages(to number: Int) async -> Bool {
        while let cursor = clients[number]?.follower, clients[number]?.takesEvents == true,
            cursor.after < eventFeed.last
        {
            do {
                let page = try await page(cursor)
                // A follow that was replaced or ended meanwhile is not moved.
                guard let client = clients[number], client.follower == cursor else { continue }
                if page.events.isEmpty {
                    client.follower?.after = page.next
                    continue
                }
                // It moves with what is sent: a page that cannot be encoded is not passed over.
                let (line, sent) = try page.fitted {
                    try WireCoding.line(Notification(method: .eventsHappened, params: $0))
                }
                client.follower?.after = sent.next
                client.send(line)
            } catch {
                log.write(.error, "the events cannot be read: \(error)")
                return false
            }
        }
        return true
    }
}

extension ServiceClient {
    /// It has read what it was sent last, and no answer of it waits.
    fileprivate var takesEvents: Bool { unreadBytes == 0 && !waitsForRight }
}
