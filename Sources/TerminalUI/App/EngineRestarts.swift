/// When an engine that ended by accident is started again by itself. Bounded only against one that ends again and again; pure.
struct EngineRestarts: Hashable, Sendable {
    /// Before the first start, the second and so on. After the last only the person starts it.
    static let pauses: [Duration] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8)]
    /// One that has lived for so long was no part of a row: what comes then is counted anew.
    static let lifetime = Duration.seconds(60)

    /// Starts in a row, each of an engine that did not live long.
    private var starts = 0
    /// Since when the engine that is there has been there; `nil`: none is.
    private var aliveSince: Duration?
    /// When the next start is to be made; `nil`: none is planned.
    private(set) var due: Duration?

    /// The engine is gone, or could not be started. - Returns: how long until it is started again; `nil`: not by itself any more.
    mutating func lost(at now: Duration) -> Duration? {
        if let aliveSince, now - aliveSince >= Self.lifetime { starts = 0 }
        aliveSince = nil
        guard starts < Self.pauses.count else {
            due = nil
            return nil
        }
        let pause = Self.pauses[starts]
        starts += 1
        due = now + pause
        return pause
    }

    /// Returns true once when the engine should be started now.
    mutating func takeDue(at now: Duration) -> Bool {
        guard let due, due <= now else { return false }
        self.due = nil
        return true
    }

    /// An engine answers, whoever has started it.
    mutating func found(at now: Duration) { (aliveSince, due) = (now, nil) }

    /// The person starts it: what was before does not count, and it is done now.
    mutating func startedByHand() { (starts, due) = (1, nil) }
}
