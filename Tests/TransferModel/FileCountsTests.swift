import Testing
import TransferModel

@Suite struct FileCountsTests {
    static func counts(_ parts: [TransferState: Int64]) -> FileCounts {
        var counts = FileCounts()
        for (state, number) in parts { counts[state] = number }
        return counts
    }

    @Test(
        arguments: [
            ([.running: 1, .failed: 5], false, false, .running),
            ([.finishing: 1], false, true, .running),
            ([.queued: 1, .waiting: 1], false, false, .running),
            ([.completed: 3], true, false, .running),
            ([.waiting: 1, .paused: 1], false, false, .waiting),
            ([.paused: 1, .created: 1], false, false, .paused),
            ([.queued: 1], false, true, .paused),
            ([.created: 1, .failed: 1], false, false, .created),
            ([.failed: 1, .completed: 9], false, false, .failed),
            ([.completed: 1, .cancelled: 9], false, false, .completed),
            ([:], false, false, .completed),
            ([:], false, true, .completed),
            ([.cancelled: 2], false, false, .cancelled),
        ] as [([TransferState: Int64], Bool, Bool, TransferState)])
    func `a batch's state is the first of the contract's list that holds`(
        parts: [TransferState: Int64], scanning: Bool, paused: Bool, state: TransferState
    ) {
        #expect(Self.counts(parts).state(scanning: scanning, paused: paused) == state)
    }

    @Test func `the parts always add up to the total`() {
        var counts = FileCounts()
        for (number, state) in TransferState.allCases.enumerated() { counts[state] = Int64(number + 1) }
        #expect(counts.total == 45)
        #expect(counts.total == counts.completed + counts.failed + counts.cancelled + counts.active + counts.unstarted)
    }
}
