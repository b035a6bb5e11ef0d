import TransferModel

/// A place in the events' log, and the events that somebody wants from there.
struct EventCursor: Sendable, Equatable {
    var after: EventSequence
    var session: SessionName?
    var limit = 500

    func wants(_ event: TransferEvent) -> Bool { session == nil || event.session == session }
}
