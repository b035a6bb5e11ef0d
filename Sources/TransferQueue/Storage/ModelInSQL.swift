import TransferModel

// Words of the model in the text of statements: `"state = \(state: .paused)"` has the number that stands in the column. It is a literal and
// no parameter, so that a query has the condition of the partial index that it is to use.
extension DefaultStringInterpolation {
    mutating func appendInterpolation(state: TransferState) { appendInterpolation(state.stored) }

    /// With commas between them, for `IN (...)`.
    mutating func appendInterpolation(states: [TransferState]) {
        appendLiteral(states.map { String($0.stored) }.joined(separator: ", "))
    }

    mutating func appendInterpolation(event: TransferEventType) { appendInterpolation(event.stored) }

    /// With commas between them, for `IN (...)`.
    mutating func appendInterpolation(events: [TransferEventType]) {
        appendLiteral(events.map { String($0.stored) }.joined(separator: ", "))
    }

    mutating func appendInterpolation(cause: TransferErrorCode) { appendInterpolation(cause.stored) }

    /// With commas between them, for `IN (...)`.
    mutating func appendInterpolation(causes: [TransferErrorCode]) {
        appendLiteral(causes.map { String($0.stored) }.joined(separator: ", "))
    }

    mutating func appendInterpolation(direction: TransferDirection) { appendInterpolation(direction.stored) }
    mutating func appendInterpolation(flags: TaskFlags) { appendInterpolation(flags.rawValue) }
    mutating func appendInterpolation(placement: StoredPlacement) { appendInterpolation(placement.rawValue) }
    mutating func appendInterpolation(progress: SourceProgress) { appendInterpolation(progress.rawValue) }
    mutating func appendInterpolation(reasons kind: ReasonKind) { appendInterpolation(kind.rawValue) }
}

extension TransferState {
    /// The state of a task that stands in line unless it is paused by name, as an SQL expression over a row of `tasks`.
    static let queuedOrPausedSQL =
        "CASE WHEN flags & \(flags: .paused) THEN \(state: .paused) ELSE \(state: .queued) END"
}
