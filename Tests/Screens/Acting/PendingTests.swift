@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("A row says what was asked of it until it shows it")
struct PendingTests {
    /// A key, and what its deed makes of a row.
    struct Change: Sendable, CustomTestStringConvertible {
        let key: String
        let word: String
        let before: NodeRow
        let after: NodeRow
        var testDescription: String { word }
    }

    static let changes = [
        Change(key: "p", word: "pause?", before: batch(.queued), after: batch(.paused)),
        Change(key: "p", word: "go on?", before: batch(.paused), after: batch(.queued)),
        Change(key: "x", word: "cancl?", before: batch(.queued), after: batch(.cancelled)),
        Change(
            key: "r", word: "retry?", before: Rows.task(1, 10, "a.mov", .failed),
            after: Rows.task(1, 10, "a.mov", .queued)),
    ]

    private static func batch(_ state: TransferState) -> NodeRow {
        Rows.batch(1, "photos", state) { $0[state] = 3 }
    }

    private func screen(_ change: Change) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [change.before])])
        screen.press(change.key)
        #expect(screen.picture.contains(change.word))
        return screen
    }

    @Test("no longer than to the answer, when the row's news came before it", arguments: changes)
    func newsFirst(_ change: Change) {
        var screen = screen(change)
        screen.news([Rows.section(nil, [change.after])])
        #expect(screen.picture.contains(change.word), "nothing is claimed before the answer")
        screen.answerDone()
        #expect(!screen.picture.contains(change.word) && screen.model.changes.pending.isEmpty)
    }

    @Test("beyond the answer, when the row's news come after it", arguments: changes)
    func answerFirst(_ change: Change) {
        var screen = screen(change)
        screen.answerDone()
        #expect(screen.picture.contains(change.word))
        screen.news([Rows.section(nil, [change.after])])
        #expect(!screen.picture.contains(change.word) && screen.model.changes.pending.isEmpty)
    }
}
