import LinuxSystem
import Testing

@testable import SSHTransport

@Suite struct LineWindowTests {
    /// Plays a line that carries `rate` bytes a second and answers after `trip`, always kept as full as the window allows.
    private func window(after seconds: Double, trip: Double, rate: Double, most: Int64 = 8 << 20) -> LineWindow {
        var window = LineWindow(most: most)
        let piece: Int64 = 255 << 10
        var flying: [(asked: Double, answer: Double)] = []
        var free = 0.0
        var now = trip
        // The file was opened.
        window.answered(0, askedAt: instant(0), at: instant(now))
        while now < seconds {
            while Int64(flying.count + 1) * piece <= window.size {
                free = max(free, now) + Double(piece) / rate
                flying.append((now, free + trip))
            }
            let (asked, answer) = flying.removeFirst()
            now = answer
            window.answered(piece, askedAt: instant(asked), at: instant(now))
        }
        return window
    }

    private func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test("a short line keeps the small window, however fast it is")
    func short() {
        #expect(window(after: 5, trip: 0.0002, rate: 500e6).size == LineWindow.least)
    }

    @Test("a long and fast line gets a window that keeps it busy, within a second")
    func long() {
        #expect(window(after: 1, trip: 0.05, rate: 500e6).size == 8 << 20)
        let enough = window(after: 1, trip: 0.05, rate: 30e6).size
        #expect(enough >= 1_500_000 && enough < 8 << 20, "30 MB/s for 50 ms, and no more than a few times that")
    }

    @Test("a window that is set smaller stays smaller")
    func limited() {
        #expect(LineWindow(most: 300_000).size == 300_000)
        #expect(window(after: 2, trip: 0.1, rate: 500e6, most: 2 << 20).size == 2 << 20)
    }

    @Test("an answer that takes no time by the clock does no harm")
    func instantAnswer() {
        var window = LineWindow(most: 8 << 20)
        for step in 0..<100 {
            let now = MonotonicInstant(nanoseconds: Int64(step) * 10_000_000)
            window.answered(1 << 20, askedAt: now, at: now)
        }
        #expect(window.size == LineWindow.least)
    }
}
