import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The mouse answers questions, and forgives a hand that moves")
struct PointingTests {
    private func click(_ screen: inout ScreenHarness, _ row: Int, _ column: Int) {
        screen.send(.input(.mouse(MousePress(.left, at: Position(row: row, column: column)))))
    }

    /// Where a text stands.
    private func place(_ screen: ScreenHarness, _ text: String) throws -> (row: Int, column: Int) {
        let row = try #require(screen.lines.firstIndex { $0.contains(text) })
        let line = screen.lines[row]
        let start = try #require(line.firstRange(of: text)?.lowerBound)
        return (row, line.distance(from: line.startIndex, to: start))
    }

    @Test("one click chooses a line of a question, a second one takes it; none counts while it is new")
    func question() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("x")
        let stop = try place(screen, "Stop, keep")
        click(&screen, stop.row, stop.column)
        click(&screen, stop.row, stop.column)
        #expect(screen.model.dialog != nil && screen.requests.isEmpty, "it has just appeared")
        screen.wait(.seconds(1))
        click(&screen, stop.row, stop.column)
        #expect(screen.model.dialog?.selected == 0 && screen.requests.isEmpty)
        click(&screen, 0, stop.column)
        #expect(screen.model.dialog?.selected == 0, "outside its lines it means nothing")
        click(&screen, stop.row, stop.column + 3)
        #expect(screen.model.dialog == nil)
        let cancels = screen.requests.contains { if case .act(.cancel, _, _) = $0 { true } else { false } }
        #expect(cancels)
    }

    /// The last look, for files that go to a server.
    private func review() -> ScreenHarness {
        var screen = Adding.screen(80, 24)
        screen.list(Adding.entries)
        screen.press("Space", "F2", "https://host/in/", "Enter")
        return screen
    }

    @Test("in the last look a click goes to a field, takes a choice, and the second one on a button presses it")
    func reviewForm() throws {
        var screen = review()
        let limit = try place(screen, "Speed limit")
        click(&screen, limit.row, limit.column + 20)
        screen.press("2M")
        #expect(screen.model.adding?.review?.form.text(.limit) == "2M")
        let skip = try place(screen, "( ) skip")
        click(&screen, skip.row, skip.column + 5)
        #expect(screen.model.adding?.review?.form.word(.ifExists) == "skip")
        #expect(screen.picture.contains("What is there stays and counts as done."), "that field has the keys")
        let label = try place(screen, "Priority")
        click(&screen, label.row, label.column)
        #expect(screen.model.adding?.review?.form.word(.priority) == "normal", "a name chooses nothing")
        let time = try place(screen, "( ) at a time")
        click(&screen, time.row, time.column)
        #expect(screen.picture.contains("Not before    ["), "the field that it calls for is there")
        let back = try place(screen, "[ Back ]")
        click(&screen, back.row, back.column)
        #expect(screen.model.adding?.step == .third)
        click(&screen, back.row, back.column)
        #expect(screen.model.adding?.step == .second)
    }

    @Test("the form of a server takes clicks as the last look does")
    func serverForm() throws {
        var screen = ScreenHarness(80, 24, Rows.example)
        screen.press("D", "n")
        let user = try place(screen, "User")
        click(&screen, user.row, user.column)
        screen.press("ana")
        guard let shown = screen.model.page as? DestinationsPage else { return #expect(Bool(false), "no page") }
        #expect(shown.form?.fields.text(.user) == "ana")
        let cancel = try place(screen, "[ Cancel ]")
        click(&screen, cancel.row, cancel.column + 3)
        click(&screen, cancel.row, cancel.column + 3)
        guard let left = screen.model.page as? DestinationsPage else { return #expect(Bool(false), "no page") }
        #expect(left.form == nil)
    }

    @Test("a click goes to a line of the limits")
    func limitForm() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.openLimits()
        let line = try place(screen, "[8 ")
        click(&screen, line.row, line.column)
        #expect(screen.model.form?.lines[screen.model.form?.selected ?? 0].text == "8")
    }

    @Test("in the palette one click chooses a line, a second one runs it, and the wheel goes through it")
    func palette() throws {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press(":", "help")
        let line = try place(screen, "this help")
        screen.send(.input(.mouse(MousePress(.wheelDown, at: Position(row: 3, column: 3)))))
        #expect(screen.model.commandPrompt?.selected ?? 0 > 0)
        click(&screen, line.row, line.column)
        #expect(screen.model.commandPrompt?.selected == 0)
        click(&screen, 1, 3)
        #expect(screen.model.commandPrompt != nil, "outside its lines it means nothing")
        click(&screen, line.row, line.column + 2)
        #expect(screen.model.commandPrompt == nil && screen.lines[0].contains("Help: transfers"))
        screen.press("Esc", ":")
        for _ in 0..<200 {
            screen.send(.input(.mouse(MousePress(.wheelDown, at: Position(row: 3, column: 3)))))
        }
        #expect(screen.model.commandPrompt?.selected == screen.model.paletteEntries.count - 1)
        screen.send(.input(.mouse(MousePress(.wheelUp, at: Position(row: 3, column: 3)))))
        #expect(screen.model.commandPrompt?.selected == screen.model.paletteEntries.count - 4)
    }

    @Test("text can be selected wherever nothing can be clicked")
    func captured() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        func captures(_ keys: String..., after back: Int = 0) -> Bool {
            for key in keys { screen.press(key) }
            defer { for _ in 0..<back { screen.press("Esc") } }
            return screen.model.wantsMouse
        }
        #expect(captures())
        #expect(captures(":", after: 1) && !captures("f", after: 1))
        #expect(!captures("i", after: 1) && !captures("e", after: 1) && !captures("L", after: 1))
        #expect(!captures("D") && captures("n", after: 2))
        screen.press("m")
        #expect(!captures() && !captures(":", after: 1) && !captures("D", "n", after: 2))
        var review = review()
        #expect(review.model.wantsMouse)
        review.press("Esc")
        #expect(!review.model.wantsMouse, "an address is typed, or copied")
    }

    @Test("a double click may be a cell apart")
    func doubleClick() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        click(&screen, 5, 14)
        click(&screen, 5, 15)
        let isShown = if screen.model.page is DetailsPage { true } else { false }
        #expect(isShown, "\(screen.picture)")
    }
}
