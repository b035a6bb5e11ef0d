import LinuxSystem
import Testing
import TransferModel

@testable import TransferEngine

/// What counts towards giving up.
@Suite struct TimelineTests {
    private final class Clock: TransportClock {
        var now = MonotonicInstant(nanoseconds: 5)
        var awake = MonotonicInstant(nanoseconds: 3)

        func pass(_ seconds: Int64, asleep: Bool = false) {
            now = now.advanced(by: .seconds(seconds))
            if !asleep { awake = awake.advanced(by: .seconds(seconds)) }
        }

        func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer { LoopTimer(number: 0) }
        func cancel(_ timer: LoopTimer) {}
    }

    private let clock = Clock()

    @Test("time before the engine's start, by another clock or asleep counts for nothing")
    func patience() {
        var set: Int64 = 0
        let clock = clock
        let timeline = Timeline(clock: clock) { 1_000_000_000 + set + (clock.now.nanoseconds - 5) / 1_000_000 }
        let start = timeline.now
        let days = start.advanced(by: .seconds(-200_000))
        #expect(timeline.patience(since: days) == .zero)
        clock.pass(90)
        #expect(timeline.patience(since: days) == .seconds(90))
        #expect(timeline.patience(since: start.advanced(by: .seconds(60))) == .seconds(30))
        // Written by a clock that went ahead.
        #expect(timeline.patience(since: start.advanced(by: .seconds(7000))) == .seconds(90))
        clock.pass(30, asleep: true)
        #expect(timeline.patience(since: days) == .seconds(120))
        clock.pass(5000, asleep: true)
        #expect(timeline.patience(since: days) == .zero)
        clock.pass(40)
        #expect(timeline.patience(since: start) == .seconds(40))
        set = 50_000_000
        #expect(timeline.step() == .seconds(50_000))
        #expect(timeline.patience(since: start) == .zero)
        clock.pass(10)
        #expect(timeline.patience(since: start) == .seconds(10))
    }
}
