import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("What is typed goes into the line that is open, and Ctrl-Z and Ctrl-L work over all of them")
struct TypingTests {
    private func example() -> ScreenHarness { ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals) }

    @Test("a paste goes into the log's line, and the log stays open")
    func pasteIntoLog() {
        var screen = example()
        screen.press("L", "/")
        screen.paste("nas backup")
        guard let log = screen.model.page as? LogPage else { return #expect(Bool(false), "the log was left") }
        #expect(log.find.text == "nas backup")
        #expect(screen.model.adding == nil)
    }

    @Test(
        "Ctrl-Z stops and Ctrl-L draws again, whatever is open",
        arguments: [["f"], [":"], ["P"], ["L", "/"], ["D"], ["D", "n"], ["a"], ["a", "/"], ["b"], ["?"]])
    func anywhere(keys: [String]) {
        var screen = example()
        for key in keys { screen.press(key) }
        screen.press("^Z")
        #expect(screen.requests.contains(.suspend))
        screen.press("^L")
        #expect(screen.requests.contains(.redraw))
    }

    @Test("and over the form of limits")
    func overForm() {
        var screen = example()
        screen.openLimits()
        screen.press("^Z")
        #expect(screen.requests.contains(.suspend))
    }

    @Test("the first letter replaces a proposed destination; a cursor key edits it, and one that was chosen goes on")
    func proposal() {
        var step = DestinationStep()
        let choices = ["https://host/up/", "nas:"].map { DestinationStep.Choice(text: $0, detail: "") }
        step.offer(choices)
        for letter in "sftp://x/".unicodeScalars { _ = step.take(.character(letter)) }
        #expect(step.field.text == "sftp://x/")
        var edited = DestinationStep()
        edited.offer(choices)
        _ = edited.take(KeyPress(.left))
        _ = edited.take(.character("y"))
        #expect(edited.field.text == "https://host/upy/")
        var chosen = DestinationStep()
        chosen.offer(choices)
        _ = chosen.take(KeyPress(.down))
        for letter in "in/".unicodeScalars { _ = chosen.take(.character(letter)) }
        #expect(chosen.field.text == "nas:in/")
        // The next batch goes elsewhere: what was typed for the last one is a proposal, too.
        step.begin()
        for letter in "nas:y/".unicodeScalars { _ = step.take(.character(letter)) }
        #expect(step.field.text == "nas:y/")
    }
}
