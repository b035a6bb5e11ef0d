@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("What was undone can be done again")
struct RepeatingTests {
    private func example() -> ScreenHarness {
        ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
    }

    private func sent(_ screen: ScreenHarness) -> [Request] {
        screen.requests.filter { if case .show = $0 { false } else { true } }
    }

    /// Takes back what was done last, and the engine says that it did.
    private func undo(_ screen: inout ScreenHarness, _ operation: Int64) {
        screen.press("u")
        #expect(sent(screen) == [.undo(.operation(operation), number: screen.lastNumber)])
        let result = NodeResult(id: .batch(BatchID(rawValue: 1)), result: .done)
        screen.send(
            .answer(
                .acted(.success(NodesChanged(results: [result], undo: nil, undone: .pause)), number: screen.lastNumber))
        )
    }

    @Test("the same request goes out once more, and what it changed can be taken back again")
    func redo() {
        var screen = example()
        screen.press("^R")
        #expect(screen.picture.contains("Nothing was undone here."))
        #expect(sent(screen).isEmpty)
        screen.press("p")
        let pause = sent(screen)
        screen.answerDone()
        undo(&screen, 7)
        screen.press("^R")
        #expect(sent(screen) == pause.map { $0.numbered(screen.lastNumber) })
        screen.answerDone()
        #expect(screen.picture.contains("Paused"))
        undo(&screen, 7)
        // Something else begins a new line of changes.
        screen.press("j", "j", "p")
        screen.answerDone()
        screen.press("^R")
        #expect(screen.picture.contains("Nothing was undone here."))
    }

    @Test("one takes back one's own change before anybody else's, as long as it can be")
    func own() {
        var screen = example()
        screen.press("p")
        screen.answerDone()
        screen.wait(.seconds(9))
        screen.press("u")
        #expect(sent(screen) == [.undo(.operation(7), number: screen.lastNumber)])
        screen = example()
        screen.press("p")
        screen.answerDone()
        screen.wait(.seconds(11))
        screen.press("u")
        #expect(sent(screen) == [.undo(.last, number: screen.lastNumber)])
    }
}
