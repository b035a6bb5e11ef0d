import ServiceWire
public import TransferModel

extension EngineConnection {
    /// The stored events behind a cursor, in order, none lost and none twice; then, when `follows`, those that happen.
    ///
    /// Pages are fetched as they are read, so a slow reader costs no memory. When the engine goes away a follower
    /// connects again (as the options allow) and goes on where it stood.
    /// - Parameters:
    ///   - after: behind this one; `nil`: behind what `consumer` has acknowledged, else from the beginning.
    ///   - session: only those of this session.
    public nonisolated func events(
        after: EventSequence? = nil, consumer: String? = nil, session: SessionName? = nil, follows: Bool = true
    ) -> TransferEvents {
        TransferEvents(
            connection: self,
            request: EventsReadRequest(after: after, consumer: consumer, session: session, wait: follows))
    }

    /// A consumer has dealt with all events up to this one; it never moves back.
    public nonisolated func acknowledge(
        consumer: String, through sequence: EventSequence
    ) async throws(RequestError) {
        _ = try await call(Methods.eventsAcknowledge, EventsAcknowledgeRequest(consumer: consumer, through: sequence))
    }
}

/// Stored events, see ``EngineConnection/events(after:consumer:session:follows:)``.
public struct TransferEvents: AsyncSequence, Sendable {
    public typealias Element = TransferEvent
    public typealias Failure = RequestError

    let connection: EngineConnection
    let request: EventsReadRequest

    public struct AsyncIterator: AsyncIteratorProtocol {
        let connection: EngineConnection
        var request: EventsReadRequest
        var page: ArraySlice<TransferEvent> = []
        var isLast = false
        var pager = Pager<EventSequence>()

        /// The next event; `nil`: the end, or the task was cancelled.
        public mutating func next() async throws(RequestError) -> TransferEvent? {
            while page.isEmpty {
                if isLast || Task.isCancelled { return nil }
                do {
                    let answer = try await connection.call(Methods.eventsRead, request)
                    page = answer.events[...]
                    isLast = request.wait != true && answer.next >= answer.last
                    // A reader that waits for more stays at its place until there are some.
                    if !isLast, request.wait != true || !answer.events.isEmpty { try pager.move(to: answer.next) }
                    request.after = answer.next
                } catch  where error == EngineConnection.lost && request.wait == true {
                    // Asked again on the next connection; when there is none, that says so.
                } catch  where error == EngineConnection.cancelled {
                    return nil
                }
            }
            return page.removeFirst()
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> TransferEvent? {
            try await next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection, request: request) }
}
