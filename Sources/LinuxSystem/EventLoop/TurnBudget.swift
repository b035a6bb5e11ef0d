/// The number of times that a reader reads in one turn of its loop.
///
/// A peer that never stops talking must not hold the loop, on which timers and others wait. What is left makes the descriptor ready again in
/// the next turn, since the loop's epoll is level-triggered. For every reader of a peer's bytes on an `EventLoop`.
package enum TurnBudget {
    package static let rounds = 16

    /// Calls `round` as long as it says that there may be more, at most `rounds` times.
    /// - Parameter round: reads once; false when there is nothing more for now, or for good.
    package static func spend<Failure: Error>(_ round: () throws(Failure) -> Bool) throws(Failure) {
        for _ in 0..<rounds where try !round() { return }
    }
}
