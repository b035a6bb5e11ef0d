import LinuxSystem

/// A clock for an engine that goes as the loop's own and leaps when a test wants it: what is due then is done at once.
///
/// Unchecked, since it is used on the loop alone.
final class LeapingClock: TransportClock, @unchecked Sendable {
    private struct Timer {
        let number: UInt64
        let deadline: MonotonicInstant
        let real: LoopTimer
        let handler: () -> Void
    }

    private let loop: EventLoop
    private var ahead = Duration.zero
    private var timers: [Timer] = []
    private var last: UInt64 = 0

    init(_ loop: EventLoop) { self.loop = loop }

    var now: MonotonicInstant { MonotonicInstant.now.advanced(by: ahead) }

    func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
        last += 1
        let number = last
        let real = loop.schedule(after: delay) { [weak self] in self?.fire(number) }
        timers.append(Timer(number: number, deadline: now.advanced(by: delay), real: real, handler: handler))
        return LoopTimer(number: number)
    }

    func cancel(_ timer: LoopTimer) {
        guard let index = timers.firstIndex(where: { LoopTimer(number: $0.number) == timer }) else { return }
        loop.cancel(timers.remove(at: index).real)
    }

    func leap(by time: Duration) {
        ahead += time
        let due = timers.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        for timer in due { fire(timer.number) }
    }

    private func fire(_ number: UInt64) {
        guard let index = timers.firstIndex(where: { $0.number == number }) else { return }
        let timer = timers.remove(at: index)
        loop.cancel(timer.real)
        timer.handler()
    }
}
