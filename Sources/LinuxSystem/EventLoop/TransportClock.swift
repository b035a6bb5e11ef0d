/// The time of stall watchdogs, deadlines and speed limits. An ``EventLoop`` is one; tests turn one by hand.
package protocol TransportClock: AnyObject {
    var now: MonotonicInstant { get }
    /// As `now`, but it stands still while the machine sleeps: nobody has been silent for that time.
    var awake: MonotonicInstant { get }
    /// Calls `handler` once on the transport's loop, not before `delay` has passed.
    func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer
    /// Forgets a timer; one that has fired is left alone.
    func cancel(_ timer: LoopTimer)
}

extension TransportClock {
    package var awake: MonotonicInstant { now }
}

extension EventLoop: TransportClock {
    package var now: MonotonicInstant { .now }
    package var awake: MonotonicInstant { .awake }
}
