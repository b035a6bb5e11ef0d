import Testing
import TransferModel

@Suite("What the throughput is counted by") struct ThroughputCountTests {
    private func time(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }
    private func batch(_ number: Int) -> BatchID { BatchID(rawValue: Int64(number)) }

    @Test func `each batch has steps of its own, and only those that moved last are remembered`() {
        var speeds = BatchSpeeds()
        #expect(speeds.series(of: batch(1), at: time(1)).isEmpty)
        for number in 1...BatchSpeeds.most { speeds.add(5000, .upload, of: batch(number), at: time(Double(number))) }
        speeds.add(10_000, .download, of: batch(1), at: time(50))
        speeds.add(0, .download, of: batch(900), at: time(50))
        #expect(speeds.series(of: batch(2), at: time(50))[0].up.first == 1000)
        speeds.add(1, .upload, of: batch(99), at: time(60))
        #expect(speeds.series(of: batch(2), at: time(60)).isEmpty, "it has stood still for longest")
        #expect(speeds.series(of: batch(1), at: time(60))[0].down.contains(2000))
        #expect(speeds.series(of: batch(900), at: time(60)).isEmpty)
    }

    @Test func `what has happened is counted for five minutes, and a young engine by the minute`() {
        var count = RecentCount(at: time(1000))
        count.add(at: time(1001))
        count.add(at: time(1002))
        #expect(count.count(at: time(1010)) == (2, 60))
        #expect(count.count(at: time(1200)) == (2, 200))
        count.add(at: time(1290))
        #expect(count.count(at: time(1310)) == (1, 300))
        #expect(count.count(at: time(90_000)) == (0, 300))
    }

    @Test func `a day's bytes are over at local midnight, and those of the same day go on`() {
        // Days begin at 5:45 here.
        let begin: Int64 = 20_700_000
        let day = { @Sendable (time: Timestamp) in (time.milliseconds - begin) / 86_400_000 }
        func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: 86_400_000 * 9 + begin + milliseconds) }
        var today = TodayCount(at: at(5), localDay: day)
        today.adopt(DayCount(day: 8, up: 100, down: 100))
        #expect(today.count == DayCount(day: 9))
        today.adopt(DayCount(day: 9, up: 30, down: 4))
        today.add(10, .upload, at: at(6))
        today.add(1, .download, at: at(86_399_999))
        #expect(today.count == DayCount(day: 9, up: 40, down: 5))
        today.add(7, .upload, at: at(86_400_000))
        #expect(today.count == DayCount(day: 10, up: 7))
        today.pass(to: at(2 * 86_400_000))
        #expect(today.count == DayCount(day: 11))
    }
}
