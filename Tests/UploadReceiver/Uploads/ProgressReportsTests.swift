import Testing

@testable import UploadReceiver

@Suite struct ProgressReportsTests {
    @Test("an upload of any size is told its progress a few hundred times, and never far behind")
    func steps() {
        let start: UInt64 = 5 << 40
        var reports = ProgressReports(from: start)
        let isNothingDue = !reports.isDue(at: start)
        #expect(isNothingDue)
        var (count, told) = (0, start)
        let checkpoint: UInt64 = 8 << 20
        for number in 1...(1 << 21) as ClosedRange<UInt64> {
            let offset = start + number * checkpoint
            if reports.isDue(at: offset) { (count, told) = (count + 1, offset) }
            if (offset - told) * 32 >= number * checkpoint { Issue.record("behind at checkpoint \(number)") }
            if number == 16 { #expect(count == 16) }
        }
        #expect((100...500).contains(count))
        let isOver = !reports.isDue(at: told)
        #expect(isOver)
    }
}
