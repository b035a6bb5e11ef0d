extension EventLoop {
    /// Calls `handler` on the loop once, not before `delay` has passed and usually within a millisecond after. On the loop.
    @discardableResult
    package func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
        checkIsolated()
        return timers.add(MonotonicInstant.now.advanced(by: max(.zero, delay)), handler)
    }

    /// Forgets a timer; one that has fired or was cancelled is left alone. On the loop.
    package func cancel(_ timer: LoopTimer) {
        checkIsolated()
        timers.cancel(timer)
    }
}
