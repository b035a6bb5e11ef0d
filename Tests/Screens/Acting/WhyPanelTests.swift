import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The panel that says why closes for good, and never shows less than it could")
struct WhyPanelTests {
    private static let long =
        "b1: 2 files wait (for 4 min): nas-of-the-second-floor.lcoal cannot be found, neither by its name in /etc/hosts "
        + "nor by the name server 192.168.178.1 of this machine"

    private func answer(_ sentence: String, retryAt: Timestamp? = nil) -> WhyAnswer {
        WhyAnswer(
            id: nil, state: .waiting, waitReasons: [.backoff], since: nil, retryAt: retryAt, tasks: 2,
            sentence: sentence, unblock: "check the spelling of its name")
    }

    /// A screen with the panel open over its first batch.
    private func open(_ columns: Int = 80, _ rows: Int = 24, retryAfter seconds: Int64? = nil) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
        screen.press("w")
        let retryAt = seconds.map { screen.moment.wall.advanced(by: .seconds($0)) }
        screen.send(.answer(.why(.success([answer(Self.long, retryAt: retryAt)]), number: screen.lastNumber)))
        return screen
    }

    private func isAsked(_ screen: ScreenHarness) -> Bool {
        screen.requests.contains { if case .why = $0 { true } else { false } }
    }

    private func click(_ column: Int, _ row: Int, _ button: MousePress.Button = .left) -> Message {
        .input(.mouse(MousePress(button, at: Position(row: row, column: column))))
    }

    @Test("the key that lets go on what stands still says so, below the list, in its details and under its why")
    func resumes() {
        var sections = Rows.example
        sections[0].rows[0].state = .paused
        (sections[0].rows[0].paused, sections[0].rows[0].effectivelyPaused) = (true, true)
        var screen = ScreenHarness(120, 30, sections, totals: Rows.exampleTotals)
        #expect(screen.lines.last?.contains("p resume") == true && screen.lines.last?.contains("pause") == false)
        screen.press("w")
        screen.send(.answer(.why(.success([answer("b1 is paused")]), number: screen.lastNumber)))
        #expect(screen.lines.last?.contains("p resume") == true)
        screen.press("Esc", "i")
        #expect(screen.lines.last?.contains("p resume") == true)
        screen.press("Esc", "j", "j")
        #expect(screen.lines.last?.contains("p pause") == true)
    }

    @Test("over the page of servers, which takes keys as they are, it has the key that closes it")
    func overServers() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("w")
        let number = screen.lastNumber
        screen.press("D")
        screen.send(.answer(.why(.success([answer(Self.long)]), number: number)))
        #expect(screen.model.why != nil)
        screen.press("Esc")
        #expect(screen.model.why == nil && screen.model.page is DestinationsPage)
        screen.press("Esc")
        #expect(screen.model.page is TransfersPage)
    }

    @Test("it does not open over a line that is typed or a form: that is said, and the keys go where they went")
    func whileTyping() {
        for key in ["/", ":"] {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("w")
            let number = screen.lastNumber
            screen.press(key, "a")
            screen.send(.answer(.why(.success([answer(Self.long)]), number: number)))
            #expect(screen.model.why == nil && screen.model.isOccupied)
            #expect(screen.model.notice?.text.string.contains("came while you were busy") == true)
            screen.press("Esc")
            #expect(!screen.model.isOccupied)
        }
    }

    @Test("of the layers only what is there changes while the stack is shut")
    func shut() {
        var stack = LayerStack()
        stack[FilterLine.self] = FilterLine("a")
        stack.isShut = true
        stack[CommandPrompt.self] = CommandPrompt(on: nil)
        #expect(stack[CommandPrompt.self] == nil && stack.wasRefused)
        stack[FilterLine.self] = FilterLine("b")
        #expect(stack[FilterLine.self] != nil)
        #expect(stack.reopen() && !stack.reopen())
        stack[CommandPrompt.self] = CommandPrompt(on: nil)
        #expect(stack[CommandPrompt.self] != nil)
    }

    @Test("it is about the row of the cursor, whatever is marked")
    func marked() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("Space", "}", "w")
        let asked = screen.requests.compactMap { if case .why(let node, _) = $0 { node } else { nil } }
        #expect(asked.count == 1 && asked != [.batch(BatchID(rawValue: 1))])
    }

    @Test("a click closes it and does nothing else, wherever it is")
    func clicks() {
        for (column, row) in [(24, 23), (9, 23), (10, 4), (3, 20)] {
            var screen = open()
            let before = screen.model.tree.cursor
            screen.send(click(column, row))
            #expect(screen.model.why == nil)
            #expect(screen.requests.isEmpty && screen.model.dialog == nil && screen.model.adding == nil)
            #expect(screen.model.tree.cursor == before)
        }
    }

    @Test("the wheel scrolls it where there is more of it")
    func wheel() {
        var screen = open(40, 8)
        let first = screen.picture
        screen.send(click(5, 4, .wheelDown))
        #expect(screen.model.why != nil && screen.picture != first)
        screen.send(click(5, 4, .wheelUp))
        #expect(screen.picture == first)
    }

    @Test("closed while an answer is on its way it stays closed")
    func staysClosed() {
        for close: (inout ScreenHarness) -> Void in [
            { $0.press("Esc") }, { $0.press("w") }, { $0.press("j") }, { $0.send(self.click(10, 4)) },
        ] {
            var screen = open(retryAfter: 5)
            screen.wait(.seconds(1))
            #expect(isAsked(screen), "the sentence tells another number")
            let number = screen.lastNumber
            close(&screen)
            screen.send(.answer(.why(.success([answer("b1 waits")]), number: number)))
            #expect(screen.model.why == nil)
        }
    }

    @Test("a question that is refused is not asked again: the panel closes and says what the engine said")
    func refused() {
        var screen = open(retryAfter: 5)
        screen.wait(.seconds(1))
        let refusal = RequestError(.noSuchObject, "there is no b1")
        screen.send(.answer(.why(.failure(refusal), number: screen.lastNumber)))
        #expect(!isAsked(screen))
        #expect(screen.model.why == nil)
        #expect(screen.picture.contains("there is no b1"))
    }

    @Test("after a resize or a shorter answer its end is never above the window's")
    func clamped() {
        var screen = open(40, 8)
        screen.press("G")
        let end = screen.picture
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        #expect(screen.picture == open().picture, "all of it has room")
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        #expect(screen.picture == end)
        screen.model.askWhyAgain()
        screen.send(.answer(.why(.success([answer("b1 waits")]), number: screen.lastNumber)))
        #expect(screen.picture.contains("b1 waits"))
    }

    @Test("a row that looks different is asked about again without a jump of what is read")
    func keepsPlace() {
        var screen = open(40, 8)
        screen.press("j")
        let read = screen.lines.suffix(4)
        var sections = Rows.example
        sections[0].rows[0].state = .waiting
        screen.news(sections, totals: Rows.exampleTotals)
        #expect(isAsked(screen))
        #expect(screen.lines.suffix(4) == read)
        screen.send(.answer(.why(.success([answer(Self.long)]), number: screen.lastNumber)))
        #expect(screen.lines.suffix(4) == read)
    }

    @Test("an answer that comes while files are picked opens nothing behind the picker")
    func picking() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("w")
        let number = screen.lastNumber
        screen.press("a")
        screen.send(.answer(.why(.success([answer(Self.long)]), number: number)))
        #expect(screen.model.why == nil)
    }
}
