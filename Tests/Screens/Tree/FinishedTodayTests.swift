import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The empty list says what was done today")
struct FinishedTodayTests {
    private func batch(_ id: Int64, _ name: String, _ state: TransferState, after seconds: Int64) -> BatchSnapshot {
        Rows.snapshot(
            id, name, state, { $0.completed = 1100 }, finished: ScreenHarness.morning.advanced(by: .seconds(seconds)),
            bytes: ByteCounts(total: 12 << 30, sent: 12 << 30, accepted: 12 << 30, verified: 0))
    }

    @Test("an empty list says what was finished today, and asks once")
    func today() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])], totals: QueueTotals())
        #expect(screen.model.requests.outstanding.values.map(\.request) == [.batches(number: 1)])
        let yesterday = batch(9, "old", .completed, after: -86_400)
        let all = [
            batch(1, "holiday", .completed, after: 0), batch(7, "scans", .failed, after: 60), yesterday,
        ]
        screen.send(.answer(.batches(.success(all), number: 1)))
        #expect(screen.picture.contains("Finished today: 2 batches, 2,200 files, 24.0G"))
        screen.wait(.seconds(60))
        #expect(screen.model.requests.outstanding.isEmpty)
        // Of another day it is asked anew.
        screen.wait(.seconds(86_400))
        #expect(screen.model.requests.outstanding.values.map(\.request) == [.batches(number: screen.lastNumber)])
        screen.send(.answer(.batches(.success(all), number: screen.lastNumber)))
        #expect(!screen.picture.contains("Finished today"))
        // What came and ended stands in the list; cleared, it is asked for again.
        screen.news([Rows.section(nil, [Rows.batch(1, "new", .completed, { $0.completed = 1 })])])
        screen.news([Rows.section(nil, [])], totals: QueueTotals())
        screen.send(.answer(.batches(.success([yesterday]), number: screen.lastNumber)))
        #expect(!screen.picture.contains("Finished today"))
    }
}
