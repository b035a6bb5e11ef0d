import TransferModel

/// Where somebody stands in the events' log, and which events they want.
struct EventCursor: Sendable, Equatable {
    var after: EventSequence
    var session: SessionName?
    var limit = 500

    func wants(_ event: TransferEvent) -> Bool { session == nil || event.session == session }
}
