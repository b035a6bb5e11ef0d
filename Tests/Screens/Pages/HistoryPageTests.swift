import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("History: finished work, the last first")
struct HistoryPageTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    private func batch(_ id: Int64, _ name: String, _ state: TransferState, after seconds: Int64, failed: Int64 = 0)
        -> BatchSnapshot
    {
        let causes =
            failed > 0
            ? [
                CauseCount(
                    code: .http, count: failed, finding: Finding("the server answered 403", .step("ask who runs it")))
            ] : []
        return Rows.snapshot(
            id, name, state, { ($0.completed, $0.failed) = (1100, failed) },
            finished: ScreenHarness.morning.advanced(by: .seconds(seconds)),
            bytes: ByteCounts(total: 12 << 30, sent: 12 << 30, accepted: 12 << 30, verified: 0), causes: causes)
    }

    @Test("finished work, the last first; from there to its row, or to try again")
    func history() {
        var screen = example()
        screen.press("H")
        #expect(screen.requests.contains(.batches(number: screen.lastNumber)))
        let batches = [
            batch(1, "holiday-2024", .running, after: 0), batch(7, "old-scans", .completed, after: 60),
            batch(3, "docs", .failed, after: 7200, failed: 4),
        ]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "history-80x24")
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        Pictures.expect(screen.picture, "history-40x8")
        screen.press("j", "r")
        #expect(screen.model.notice?.text.string.contains("nothing to try again") == true)
        screen.press("V")
        let asked = NodeID.batch(BatchID(rawValue: 7))
        #expect(screen.requests.contains(.verify([asked], readsBack: false, number: screen.lastNumber)))
        screen.press("k", "Enter")
        #expect(screen.cursorName == "docs")
        screen.press("6")
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "history-empty-40x8")
    }

    @Test("opened while the engine is away it says so", arguments: ["H", "e"])
    func lost(key: String) {
        var screen = example()
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.press(key)
        #expect(screen.picture.contains("The engine does not answer: nobody knows now."))
        screen.connect()
        #expect(screen.picture.contains("Asking the engine ..."))
    }

    @Test("an error is shown until the engine gives a good answer")
    func mended() {
        var screen = example()
        let error = RequestError(.internal, "the disk is full")
        func change(_ number: Int64) {
            var totals = Rows.exampleTotals
            (totals.counts.completed, totals.problems) = (number, number)
            screen.news([], totals: totals)
        }
        screen.press("H")
        screen.send(.answer(.batches(.failure(error), number: screen.lastNumber)))
        #expect(screen.picture.contains("the disk is full"))
        change(1)
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("No batch has finished yet."))
        screen.press("3")
        screen.send(.answer(.batches(.failure(error), number: screen.lastNumber)))
        #expect(screen.picture.contains("the disk is full"))
        change(2)
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(screen.picture.contains("Nothing has failed, and nothing needs you."))
    }
}
