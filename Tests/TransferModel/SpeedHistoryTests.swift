import Testing
import TransferModel

@Suite("How fast it has been") struct SpeedHistoryTests {
    private func time(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

    @Test("each step is the average of its time, of which the last is not over; each way for itself")
    func steps() {
        var history = SpeedHistory(at: time(100))
        for tenth in 0..<120 { history.add(1000, .upload, at: time(100 + Double(tenth) / 10)) }
        // A reading from before counts for the step that is newest.
        history.add(5000, .download, at: time(106))
        let series = history.series(at: time(112))
        #expect(series.map(\.seconds) == [5, 60, 600])
        #expect(series[0].up == [10_000, 10_000, 10_000] && series[0].down == [0, 0, 2500])
        #expect(series[1].up.count == 1, "what was before it began is not known")
    }

    @Test("steps in which nothing moved are empty, and what is older than the span is gone")
    func passing() {
        var history = SpeedHistory(at: time(0))
        history.add(50_000, .upload, at: time(1))
        #expect(history.series(at: time(20))[0].up == [10_000, 0, 0, 0, 0])
        let later = history.series(at: time(100_000))
        #expect(later.map(\.up.count) == [60, 60, 144])
        #expect(later.allSatisfy { $0.up.allSatisfy { $0 == 0 } })
        history.add(50_000, .upload, at: time(1_000_000))
        #expect(history.series(at: time(1_000_000))[0].up.last == 50_000)
    }

    @Test("what an earlier engine kept goes on where it was, by the wall clock, also after the machine's start")
    func earlier() {
        var before = SpeedHistory(at: time(1000))
        before.add(50_000, .upload, at: time(1001))
        before.add(25_000, .download, at: time(1011))
        let record = before.record(at: time(1012), Timestamp(milliseconds: 7_000_000))
        for start in [20.0, 100_000] {
            var after = SpeedHistory(at: time(start))
            after.adopt(record, at: time(start), Timestamp(milliseconds: 7_010_000))
            let series = after.series(at: time(start + 4))
            #expect(series[0].up == [10_000, 0, 0, 0, 0] && series[0].down == [0, 0, 5000, 0, 0])
        }
        // It has been gone for longer than the shortest span goes back.
        var late = SpeedHistory(at: time(0))
        late.adopt(record, at: time(0), Timestamp(milliseconds: 7_500_000))
        #expect(late.series(at: time(0))[0].up == [0] && late.series(at: time(0))[1].up.contains(50_000 / 60))
        // The clock was set back, or the record is damaged.
        var back = SpeedHistory(at: time(0))
        back.adopt(record, at: time(0), Timestamp(milliseconds: 1000))
        #expect(back.series(at: time(1))[0].up.contains(10_000))
        let damaged = SpeedRecord(
            at: Timestamp(milliseconds: .min), spans: [.init(seconds: 5, up: [.max, -3], down: [.max, 1])])
        back.adopt(damaged, at: time(1), Timestamp(milliseconds: .max))
        _ = back.series(at: time(1))
    }

    @Test("any course of time gives the sums of what was added, in rings of one size")
    func random() {
        var generator = SystemRandomNumberGenerator()
        var history = SpeedHistory(at: time(0))
        var (now, added): (Double, [(Double, Int64)]) = (0, [])
        for _ in 0..<3000 {
            now += Double.random(in: 0...40, using: &generator)
            let bytes = Int64.random(in: 1...1000, using: &generator) * 600
            history.add(bytes, .download, at: time(now))
            added.append((now, bytes))
        }
        for series in history.series(at: time(now)) {
            let seconds = Double(series.seconds)
            let newest = (now / seconds).rounded(.down)
            for (place, speed) in series.down.dropLast().enumerated() {
                let start = (newest - Double(series.down.count - 1 - place)) * seconds
                let sum = added.filter { $0.0 >= start && $0.0 < start + seconds }.reduce(0) { $0 + $1.1 }
                #expect(speed == sum / series.seconds)
            }
        }
    }
}
