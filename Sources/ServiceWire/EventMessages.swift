package import TransferModel

/// Parameters of `events.read`: a page of the log behind a cursor.
package struct EventsReadRequest: Codable, Hashable, Sendable {
    /// Behind this one; missing: behind what `consumer` has acknowledged, else from the beginning.
    package var after: EventSequence?
    package var consumer: String?
    /// Only those of this session.
    package var session: SessionName?
    /// 1…1000, default 500.
    package var limit: Int?
    /// When there is none yet, answer only when there is one.
    package var wait: Bool?

    package init(
        after: EventSequence? = nil, consumer: String? = nil, session: SessionName? = nil, limit: Int? = nil,
        wait: Bool? = nil
    ) {
        self.after = after
        self.consumer = consumer
        self.session = session
        self.limit = limit
        self.wait = wait
    }
}

/// Answer of `events.read` and parameters of the notification `events.happened`.
package struct EventPage: Codable, Hashable, Sendable {
    package var events: [TransferEvent]
    /// The `after` of the next page: everything up to here is in this page or was not asked for.
    package var next: EventSequence
    /// The newest event of the log when this was read.
    package var last: EventSequence

    package init(events: [TransferEvent], next: EventSequence, last: EventSequence) {
        self.events = events
        self.next = next
        self.last = last
    }
}

/// Parameters of `events.follow`: replay behind a cursor, then whatever happens, as notifications. Replaces an earlier one.
package struct EventsFollowRequest: Codable, Hashable, Sendable {
    package var after: EventSequence?
    package var consumer: String?
    package var session: SessionName?

    package init(after: EventSequence? = nil, consumer: String? = nil, session: SessionName? = nil) {
        self.after = after
        self.consumer = consumer
        self.session = session
    }
}

/// Answer of `events.follow`: behind which event it begins.
package struct EventsFollowing: Codable, Hashable, Sendable {
    package var after: EventSequence
    package init(after: EventSequence) { self.after = after }
}

/// Parameters of `events.acknowledge`: a consumer has dealt with everything up to here. Never moves back.
package struct EventsAcknowledgeRequest: Codable, Hashable, Sendable {
    package var consumer: String
    package var through: EventSequence

    package init(consumer: String, through: EventSequence) {
        self.consumer = consumer
        self.through = through
    }
}
