import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("One key takes back the last change made here, and no other")
struct TakingBackTests {
    /// Two batches, each of which is cancelled without a question.
    private func example() -> ScreenHarness {
        let batches = [
            Rows.batch(1, "photos", .queued, { $0.queued = 3 }), Rows.batch(2, "films", .failed, { $0.failed = 2 }),
            Rows.batch(3, "docs", .queued, { $0.queued = 4 }),
        ]
        return ScreenHarness(80, 24, [Rows.section(nil, batches)])
    }

    private func undone(_ screen: ScreenHarness) -> [UndoChoice] {
        screen.requests.compactMap { if case .undo(let choice, _) = $0 { choice } else { nil } }
    }

    private func answer(
        _ screen: inout ScreenHarness, _ results: [NodeResult], operation: Int64?, number: Int? = nil
    ) {
        let changed = NodesChanged(results: results, undo: operation.map { .operation($0) })
        screen.send(.answer(.acted(.success(changed), number: number ?? screen.lastNumber)))
    }

    private func done(_ batch: Int64) -> NodeResult { NodeResult(id: .batch(BatchID(rawValue: batch)), result: .done) }

    /// Cancels the first batch, which the engine says to have done.
    private func cancelled() -> ScreenHarness {
        var screen = example()
        screen.press("x")
        answer(&screen, [done(1)], operation: 7)
        return screen
    }

    @Test("of a change that is refused in part what was done is told, can be taken back and is not marked any more")
    func part() {
        var screen = cancelled()
        screen.press("g", "Space", "j", "Space", "x")
        screen.wait(.seconds(1))
        if screen.model.dialog != nil { screen.press("x") }
        let docs = NodeID.batch(BatchID(rawValue: 3))
        answer(
            &screen, [done(1), NodeResult(id: docs, refused: .refused, Advice("the disk is full"))], operation: 8)
        #expect(screen.model.notice?.text == "1 cancelled, 1 refused: the disk is full")
        #expect(screen.model.notice?.isError == true && screen.model.notice?.undo?.choice == .operation(8))
        #expect(Array(screen.model.tree.marks.keys) == [.batch(BatchID(rawValue: 3))])
        #expect(Array(screen.model.changes.pending.keys) == [.batch(BatchID(rawValue: 1))])
        screen.press("u")
        #expect(undone(screen) == [.operation(8)])
    }

    @Test("where all is refused nothing is said to be done, and the change before can still be taken back")
    func refused() {
        var screen = cancelled()
        screen.press("G", "x")
        let docs = NodeID.batch(BatchID(rawValue: 3))
        answer(&screen, [NodeResult(id: docs, refused: .refused, Advice("the disk is full"))], operation: nil)
        #expect(screen.model.notice?.text == "the disk is full")
        screen.press("u")
        #expect(undone(screen) == [.operation(7)])
    }

    @Test("a change that is not answered yet is the last one: none before it is taken back in its place")
    func asked() {
        var screen = cancelled()
        screen.press("G", "x")
        let number = screen.lastNumber
        screen.press("u")
        #expect(undone(screen).isEmpty)
        #expect(screen.model.notice?.text == "The engine has not answered yet: cancel \"docs\".")
        answer(&screen, [done(3)], operation: 8, number: number)
        screen.press("u")
        #expect(undone(screen) == [.operation(8)])
        // Nor is a second one, before it is known what became of the first.
        screen.press("u")
        #expect(undone(screen).isEmpty)
        answer(&screen, [done(3)], operation: nil)
        screen.press("u")
        #expect(undone(screen) == [.operation(7)])
    }

    @Test("a change whose answer was lost may have been made: nobody takes back another one for it")
    func lost() {
        var screen = cancelled()
        screen.press("G", "x")
        screen.send(
            .answer(.acted(.failure(RequestError(.engineUnreachable, "the line broke")), number: screen.lastNumber)))
        screen.press("u")
        #expect(undone(screen).isEmpty)
        #expect(
            screen.model.notice?.text
                == "The answer was lost, so it may be done or not: cancel \"docs\". :undo list tells.")
        // A plain refusal has changed nothing.
        screen = cancelled()
        screen.press("G", "x")
        screen.send(.answer(.acted(.failure(RequestError(.refused, "not now")), number: screen.lastNumber)))
        screen.press("u")
        #expect(undone(screen) == [.operation(7)])
    }

    @Test("a retry cannot be taken back, and no cancel of this morning is in its place")
    func final() {
        var screen = cancelled()
        screen.wait(.seconds(7200))
        screen.press("g", "j", "r")
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        answer(&screen, [done(2)], operation: nil)
        screen.press("u")
        #expect(undone(screen).isEmpty)
        #expect(
            screen.model.notice?.text
                == "This cannot be taken back: retry \"films\". :undo list tells what can be.")
    }

    @Test("a pause whose time is over stands before a cancel of this morning")
    func over() {
        var screen = cancelled()
        screen.wait(.seconds(7200))
        screen.press("G", "p")
        answer(&screen, [done(3)], operation: 8)
        screen.wait(.seconds(11))
        screen.press("u")
        #expect(undone(screen).isEmpty)
        #expect(
            screen.model.notice?.text
                == "The 10 s to take it back are over: pause \"docs\". :undo list tells what can be.")
    }

    @Test("what is queued here is a change, too, and a login that was typed leaves nothing behind in the history")
    func others() {
        var screen = cancelled()
        screen.wait(.seconds(7200))
        screen.model.ask(.lettingIn("\"docs\"")) { .act(.set(NodeSettings()), .ids([]), number: $0) }
        answer(&screen, [done(3)], operation: 8)
        screen.press("u")
        #expect(undone(screen).isEmpty)
        #expect(screen.model.notice?.text.string.hasPrefix("This cannot be taken back: the login of \"docs\".") == true)
        #expect(screen.model.changes.history.newest?.request == nil)
    }
}
