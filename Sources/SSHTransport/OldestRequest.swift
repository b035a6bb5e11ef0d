import LinuxSystem

/// The deadline of the request of a connection that has waited longest, whatever else moves.
///
/// Bytes that move keep a connection alive, or a slow line would never bring a large packet. But they do not keep it for ever: one packet
/// has ten times the patience, and a server that answered later requests owes this answer within the patience itself.
struct OldestRequest: Equatable {
    private var number: UInt32?
    /// When it was seen first, and how many answers had come by then.
    private var since = MonotonicInstant(nanoseconds: 0)
    private var answersThen: UInt64 = 0

    /// Looks which request is the oldest without an answer; asked now and then, at least four times within `patience`.
    /// - Parameters:
    ///   - answers: answers that came on the connection so far.
    ///   - patience: the time that it has after a later one was answered.
    ///   - longest: the time that it has at all.
    /// - Returns: true when the server owes its answer for too long.
    mutating func isOverdue(
        _ oldest: UInt32, answers: UInt64, patience: Duration, longest: Duration, at now: MonotonicInstant
    ) -> Bool {
        if number != oldest {
            (number, since, answersThen) = (oldest, now, answers)
            return false
        }
        return since.duration(to: now) >= (answers > answersThen ? patience : longest)
    }
}
