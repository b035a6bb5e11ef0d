/// One timer for many that wait: it fires when the first of them is due, so that a slow one does not delay a faster one. On its clock's loop.
package final class EarliestTimer {
    private let clock: any TransportClock
    private var pending: (timer: LoopTimer, due: MonotonicInstant)?

    package init(on clock: any TransportClock) { self.clock = clock }

    /// Calls `handler` once, not before `due`. Left alone when it fires as early already: then that handler is called alone.
    package func fire(at due: MonotonicInstant, _ handler: @escaping () -> Void) {
        if let pending, pending.due <= due { return }
        cancel()
        let timer = clock.schedule(after: clock.now.duration(to: due)) { [weak self] in
            self?.pending = nil
            handler()
        }
        pending = (timer, due)
    }

    package func cancel() {
        if let pending { clock.cancel(pending.timer) }
        pending = nil
    }
}
