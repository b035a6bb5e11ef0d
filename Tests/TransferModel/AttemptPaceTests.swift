import Testing
import TransferModel

@Suite("The pace of an attempt") struct AttemptPaceTests {
    private func time(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

    @Test func `the average is what has moved by the time that it took, from the first second on`() {
        var pace = AttemptPace(at: time(10))
        #expect(pace.average(at: time(20)) == nil, "nothing has moved")
        pace.add(3000)
        #expect(pace.average(at: time(10.5)) == nil)
        #expect(pace.average(at: time(11)) == 3000)
        #expect(pace.average(at: time(13)) == 1000)
    }

    @Test func `the best is the highest that was shown when the buffers on the way were full`() {
        var pace = AttemptPace(at: time(0))
        pace.note(9000, at: time(5))
        #expect(pace.best == 0)
        pace.note(500, at: time(12))
        pace.note(400, at: time(13))
        #expect(pace.best == 500)
        #expect(AttemptPace(at: time(0), best: 700).best == 700, "an earlier attempt counts")
    }
}
