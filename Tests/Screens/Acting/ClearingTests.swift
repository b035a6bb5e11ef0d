import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("What is over leaves the list, but for what failed")
struct ClearingTests {
    private func node(_ number: Int64) -> NodeID { .batch(BatchID(rawValue: number)) }

    private var screen: ScreenHarness {
        let failed = Rows.batch(2, "docs", .failed, { ($0.completed, $0.failed) = (3, 2) }, total: 50, sent: 30)
        return ScreenHarness(
            80, 24,
            [
                Rows.section(
                    nil,
                    [
                        Rows.batch(1, "holiday", .completed, { $0.completed = 1 }, total: 10, sent: 10), failed,
                        Rows.batch(3, "raw", .failed, { $0.failed = 1 }, total: 10),
                    ]),
                Rows.section(
                    failed.id,
                    [Rows.folder(2, 7, "in", .failed, { ($0.completed, $0.failed) = (3, 2) }, total: 50, sent: 30)]),
            ])
    }

    private func cleared(_ done: [Int64], _ stay: [Int64]) -> ScreenHarness {
        var screen = screen
        screen.press("c")
        #expect(screen.requests.contains(.clearFinished(number: screen.lastNumber)))
        let results =
            done.map { NodeResult(id: node($0), result: .done) }
            + stay.map {
                NodeResult(id: node($0), result: .refused, code: .refused, message: "it has failed files: retry it")
            }
        screen.answer(results)
        return screen
    }

    @Test("what stays is counted, with the keys that go on with it")
    func stays() {
        let both = cleared([1], [2, 3])
        #expect(
            both.model.notice?.text.string
                == "Cleared 1 finished batch from the list. 2 with failures stay: r retries them, x leaves them out.")
        #expect(both.model.notice?.isError == false && both.model.notice?.undo != nil)
        #expect(
            cleared([1], [2]).model.notice?.text.string
                == "Cleared 1 finished batch from the list. 1 with failures stays: r retries it, x leaves it out.")
        #expect(
            cleared([], [2, 3]).model.notice?.text.string
                == "Nothing was cleared. 2 with failures stay: r retries them, x leaves them out.")
        #expect(
            cleared([1, 4], []).model.notice?.text.string == "Cleared 2 finished batches from the list.")
        #expect(cleared([], []).model.notice?.text.string == "No batch is finished: there was nothing to clear.")
    }

    private func leftOut(_ keys: String..., file: String = #function) -> (question: Bool, filter: String?) {
        var screen = screen
        for key in keys { screen.press(key) }
        screen.press("x")
        let isAsked = screen.model.dialog?.title.string.hasPrefix("Leave out ") == true
        screen.wait(.seconds(1))
        screen.press("x")
        for case .act(.purge, .matching(let selector), _) in screen.requests { return (isAsked, selector.filter) }
        return (isAsked, nil)
    }

    @Test("x on what failed leaves its failed files out after a question; with the rest of it nothing happens")
    func leaveOut() throws {
        #expect(leftOut("j") == (true, "@err id:b2"))
        #expect(leftOut("j", "l", "l") == (true, "@err id:b2/f7"))
        #expect(leftOut("j", "Space", "G", "Space") == (true, "@err (id:b2 | id:b3)"))
        #expect(leftOut() == (false, nil), "nothing of it failed")
        for filter in ["@err id:b2", "@err (id:b2 | id:b3)"] { _ = try TransferFilter(filter) }
        var screen = screen
        screen.press("j", "x")
        #expect(screen.picture.contains("Leave out 2 failed files of \"docs\"?"))
        #expect(screen.picture.contains("for good") && screen.picture.contains("Your own files stay where they are."))
        // No count of a filter replaces what it asks.
        #expect(!screen.requests.contains { if case .count(let texts) = $0 { !texts.isEmpty } else { false } })
    }

    @Test("of what is over without failures is said that it is, and how it is cleared")
    func over() {
        var screen = screen
        screen.press("x")
        #expect(
            screen.model.notice?.text.string
                == "\"holiday\" is already sent, c clears finished batches from the list.")
        #expect(screen.model.dialog == nil)
    }
}
