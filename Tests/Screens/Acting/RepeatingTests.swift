import DisplayText
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

    private let batches = [1, 2].map { NodeID.batch(BatchID(rawValue: $0)) }

    /// Cancels everything, which the engine says to have done to the two batches, and takes it back.
    private func cancelAll(_ screen: inout ScreenHarness, untold: UntoldResults? = nil) {
        screen.press(":", "cancel *", "Enter")
        screen.wait(.seconds(1))
        screen.press("x")
        var changed = NodesChanged(
            results: batches.map { NodeResult(id: $0, result: .done) }
                + [NodeResult(id: .batch(BatchID(rawValue: 3)), result: .already)], undo: .operation(7))
        changed.untold = untold
        screen.send(.answer(.acted(.success(changed), number: screen.lastNumber)))
        undo(&screen, 7)
    }

    @Test("what a selector meant is done again to what it has changed, and not to what is there now")
    func chosen() {
        var screen = example()
        cancelAll(&screen)
        screen.press("^R")
        #expect(sent(screen) == [.act(.cancel, .ids(batches), number: screen.lastNumber)])
        #expect(screen.model.dialog == nil)
    }

    @Test("where it is not known what all of it was, it is asked about again, and a no changes nothing")
    func unknown() {
        var screen = example()
        cancelAll(&screen, untold: UntoldResults(done: 1))
        for answer in ["Esc", "x"] {
            screen.press("^R")
            #expect(sent(screen).isEmpty && screen.model.dialog?.title.string.hasPrefix("Cancel everything (") == true)
            screen.wait(.seconds(1))
            screen.press(answer)
        }
        #expect(sent(screen) == [.act(.cancel, .matching(NodeSelector()), number: screen.lastNumber)])
    }

    @Test("a group of files is a choice of its own, too: its files of now are not those of then")
    func group() {
        var screen = example()
        let row = Rows.group(1, 1, .queued, 3)
        screen.news([Rows.section(.batch(BatchID(rawValue: 1)), [row])])
        screen.model.send(.cancel, [row])
        _ = screen.model.requests.takeMade()
        let files = [4, 5].map { NodeID.task(TaskID(rawValue: $0)) }
        screen.answer(files.map { NodeResult(id: $0, result: .done) })
        undo(&screen, 7)
        screen.press("^R")
        #expect(sent(screen) == [.act(.cancel, .ids(files), number: screen.lastNumber)])
    }

    @Test("what was refused, or never answered, can be done again once more")
    func refused() {
        var screen = example()
        cancelAll(&screen)
        let refused = NodeResult(id: batches[0], refused: .refused, Advice("the disk is full"))
        let answers: [Result<NodesChanged, RequestError>] = [
            .failure(RequestError(.engineUnreachable, "the line broke")), .success(NodesChanged(results: [refused])),
        ]
        for answer in answers {
            screen.press("^R")
            #expect(sent(screen) == [.act(.cancel, .ids(batches), number: screen.lastNumber)])
            screen.send(.answer(.acted(answer, number: screen.lastNumber)))
        }
        screen.press("^R")
        screen.answerDone()
        screen.press("^R")
        #expect(screen.picture.contains("Nothing was undone here."))
    }

    @Test("one takes back one's own last change, as long as it can be, and anybody's where one has made none")
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
        #expect(sent(screen).isEmpty)
        screen = example()
        screen.press("u")
        #expect(sent(screen) == [.undo(.last, number: screen.lastNumber)])
    }

    @Test("a cancel of one's own is had back after its time, too: it is queued again, and that is said")
    func late() {
        var screen = example()
        screen.press("j", "x")
        if screen.model.dialog != nil {
            screen.wait(.seconds(1))
            screen.press("x")
        }
        screen.answerDone()
        screen.wait(.seconds(600))
        screen.press("u")
        #expect(sent(screen) == [.undo(.operation(7), number: screen.lastNumber)])
        var changed = NodesChanged(
            results: [NodeResult(id: .batch(BatchID(rawValue: 1)), result: .done)], undone: .cancel)
        changed.startsAgain = true
        screen.send(.answer(.acted(.success(changed), number: screen.lastNumber)))
        #expect(screen.picture.contains("Queued again: "))
        #expect(screen.picture.contains("It starts again from 0"))
    }

    @Test(":undo list is a page of what can be taken back, :undo N takes back one of it")
    func list() {
        var screen = example()
        screen.press("p")
        screen.answerDone()
        screen.press(":", "undo list", "Enter")
        #expect(sent(screen) == [.undoable(number: screen.lastNumber)])
        let batch = NodeID.batch(BatchID(rawValue: 3))
        let steps = [
            UndoStep(
                operation: 7, deed: .pause, at: ScreenHarness.morning, node: batch, nodes: 3, name: "docs\u{1b}[2J",
                startsAgain: false),
            UndoStep(
                operation: 6, deed: .limit, at: ScreenHarness.morning, node: nil, name: "host nas", startsAgain: false),
            UndoStep(
                operation: 4, deed: .cancel, at: ScreenHarness.morning.advanced(by: .seconds(-7200)), node: batch,
                name: "docs", startsAgain: true),
        ]
        screen.send(.answer(.undoable(.success(steps), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "undo-list-80x24")
        screen.press("Esc", ":", "undo 4", "Enter")
        #expect(sent(screen) == [.undo(.operation(4), number: screen.lastNumber)])
    }

    @Test("the answer to :undo list opens its page on the list alone, and takes nobody out of what they do")
    func listWhileBusy() {
        for keys in [["5"], ["5", "n", "na"], [":", "paus"]] {
            var screen = example()
            screen.press(":", "undo list", "Enter")
            let number = screen.lastNumber
            for key in keys { screen.press(key) }
            let before = screen.model.keyView
            screen.send(.answer(.undoable(.success([]), number: number)))
            #expect(screen.model.keyView == before && !(screen.model.page is ReportPage))
            #expect(
                screen.model.notice?.text
                    == "What can be taken back was told while you were busy here: :undo list asks once more.")
        }
    }

    @Test("a pause that ends as before again is not said to be taken back")
    func pausedAgain() {
        func result(_ batch: Int64, _ end: Timestamp?) -> NodeResult {
            var result = NodeResult(id: .batch(BatchID(rawValue: batch)), result: .done)
            (result.pausedAgain, result.pausedUntil) = (true, end)
            return result
        }
        func said(_ results: [NodeResult]) -> String? {
            var screen = example()
            screen.press(":", "pause for 2h", "Enter")
            screen.answerDone()
            screen.press("u")
            let changed = NodesChanged(results: results, undone: .pause)
            screen.send(.answer(.acted(.success(changed), number: screen.lastNumber)))
            return screen.model.notice?.text.string
        }
        let end = ScreenHarness.morning.advanced(by: .seconds(3600))
        let again = "\"holiday-2024\" is paused until 13:41:00 again."
        #expect(said([result(1, end)]) == again && said([result(1, end), result(2, end)]) == again)
        #expect(said([result(1, nil)]) == "\"holiday-2024\" is paused again, until somebody resumes it.")
        // One that goes on, or has another end.
        let goesOn = NodeResult(id: .batch(BatchID(rawValue: 2)), result: .done)
        for other in [goesOn, result(2, nil)] {
            #expect(said([result(1, end), other]) == "Took back the pause of \"holiday-2024\".")
        }
    }

    @Test("what somebody else changed a moment ago is not cancelled without a question")
    func foreign() {
        var screen = example()
        var row = Rows.example[0].rows[0]
        row.paused.toggle()
        var root = Rows.example[0]
        root.rows[0] = row
        screen.news([root])
        #expect(screen.model.observed.changedByOthers.isRecent(row.id, at: .seconds(4)))
        #expect(!screen.model.observed.changedByOthers.isRecent(row.id, at: .seconds(5)))
        screen.press("g", "x")
        #expect(screen.picture.contains("Somebody else has changed it a moment ago."))
        // Nor is an undo of this screen, long after the change.
        screen = example()
        screen.press("g", "p")
        screen.answerDone()
        screen.wait(.seconds(7))
        screen.press("u")
        let result = NodeResult(id: .batch(BatchID(rawValue: 1)), result: .done)
        screen.send(
            .answer(.acted(.success(NodesChanged(results: [result], undone: .pause)), number: screen.lastNumber)))
        screen.wait(.seconds(2))
        screen.news([root])
        #expect(!screen.model.observed.changedByOthers.isRecent(row.id, at: screen.model.now.uptime))
        // What this screen asked for is no news.
        screen = example()
        screen.press("g", "p")
        screen.news([root])
        #expect(!screen.model.observed.changedByOthers.isRecent(row.id, at: .seconds(1)))
    }
}
