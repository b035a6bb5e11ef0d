import FoundationEssentials
import Testing
import TransferModel

@Suite struct ShareTests {
    private func percent(_ part: Int64, _ whole: Int64, _ isComplete: Bool = false) -> Int {
        Share(part, of: whole, isComplete: isComplete).percent
    }

    @Test("100 percent is said only when it is complete")
    func percent() {
        #expect(percent(88, 100) == 88)
        #expect(percent(99_999, 100_000) == 99)
        #expect(percent(100, 100) == 99, "sent, and not yet accepted")
        #expect(percent(100, 100, true) == 100)
        #expect(percent(0, 0) == 0)
        #expect(percent(0, 0, true) == 100, "an empty file that is there")
        let interesting: [Int64] = [.min, -1, 0, 1, 2, 99, 100, 1 << 40, .max - 1, .max]
        for part in interesting {
            for whole in interesting { #expect(0...99 ~= percent(part, whole)) }
        }
    }

    private func batch(_ state: TransferState, completed: Int64, failed: Int64 = 0, cancelled: Int64 = 0, bytes: Int64)
        -> BatchSnapshot
    {
        var counts = FileCounts()
        (counts.completed, counts.failed, counts.cancelled) = (completed, failed, cancelled)
        return BatchSnapshot(
            id: BatchID(rawValue: 1), uuid: UUID(), session: .default, name: "b", direction: .upload, state: state,
            scanning: false, paused: false, priority: .normal, createdAt: Timestamp(milliseconds: 0), finishedAt: nil,
            destination: "https://h/", counts: counts,
            bytes: ByteCounts(total: bytes, sent: bytes, accepted: bytes, verified: 0), waitReasons: [], causes: [])
    }

    @Test("what failed or was cancelled is missing, though it has no byte")
    func missing() {
        #expect(batch(.completed, completed: 3, bytes: 10).share.percent == 100)
        #expect(batch(.failed, completed: 339, failed: 1, bytes: 10).share.percent == 99)
        #expect(batch(.completed, completed: 2, cancelled: 1, bytes: 10).share.percent == 99)
        #expect(batch(.failed, completed: 3, failed: 1, bytes: 0).share.percent == 75, "empty files are counted")
        var totals = QueueTotals()
        (totals.counts.completed, totals.counts.failed) = (3, 1)
        totals.bytes = ByteCounts(total: 10, sent: 10, accepted: 10, verified: 0)
        #expect(totals.share(scanning: false).percent == 99)
        totals.counts.failed = 0
        #expect(totals.share(scanning: false).percent == 100)
    }
}
