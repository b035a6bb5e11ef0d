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

    @Test("what is typed goes on behind a proposed destination, and takes its place once it is an address of its own")
    func proposal() {
        var step = DestinationStep()
        let choices = ["https://host/up/", "nas:"].map { DestinationStep.Choice(text: $0, detail: "") }
        step.offer(choices)
        for letter in "sftp://x/".unicodeScalars { _ = step.take(.character(letter)) }
        #expect(step.field.text == "sftp://x/")
        var configured = DestinationStep()
        configured.offer([choices[1], choices[0]])
        for letter in "in/2024".unicodeScalars { _ = configured.take(.character(letter)) }
        #expect(configured.field.text == "nas:in/2024")
        var pasted = DestinationStep()
        pasted.offer([choices[1], choices[0]])
        pasted.paste(Array("in/".utf8))
        #expect(pasted.field.text == "nas:in/")
        pasted.begin()
        pasted.paste(Array("https://h/".utf8))
        #expect(pasted.field.text == "https://h/")
        // The name of another server does, too.
        var other = DestinationStep()
        other.offer(choices)
        for letter in "nas:up".unicodeScalars { _ = other.take(.character(letter)) }
        #expect(other.field.text == "nas:up")
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

    @Test("a line takes what fits into it, whole, and nothing of what does not")
    func longest() {
        let most = [UInt8](repeating: UInt8(ascii: "a"), count: TextField.longest)
        var field = TextField(Array("path".utf8))
        field.paste(most)
        #expect(field.text == "path" && field.cursor == 4)
        field.paste(Array(most.dropLast(4)))
        #expect(field.count == TextField.longest && field.cursor == TextField.longest)
        _ = field.edit(.character("b"))
        field.paste(Array("é".utf8))
        #expect(field.bytes == Array("path".utf8) + most.dropLast(4))
        _ = field.edit(KeyPress(.backspace))
        _ = field.edit(.character("b"))
        #expect(field.bytes.count == TextField.longest && field.bytes.last == UInt8(ascii: "b"))
        #expect(field.shown(in: 4, .utf8).text.description == "aab")
        _ = field.edit(KeyPress(.home))
        #expect(field.shown(in: 6, .utf8).text.description == "pathaa")
        var proposal = TextField(proposal: Array("nas:".utf8))
        proposal.paste(most + most)
        #expect(proposal.text == "nas:")
        proposal.paste(most)
        #expect(proposal.bytes == most)
    }

    @Test("a paste goes between what stands there, cut where the cursor may stand")
    func between() {
        var field = TextField(Array("ab".utf8))
        _ = field.edit(KeyPress(.left))
        field.paste(Array("é\u{1}日".utf8) + [0xFF])
        #expect(field.bytes == Array("aé日".utf8) + [0xFF] + Array("b".utf8))
        #expect(field.count == 5 && field.cursor == 4)
    }

    @Test("the last word of a line is the one that is being typed, quoted, escaped, or not begun; of a long line, too")
    func lastWord() {
        let words = ShellWords(home: Array("/h".utf8))
        func last(_ line: String) -> String? {
            words.lastWord(Array(line.utf8)).map { "\(String(decoding: $0.word, as: UTF8.self)) \($0.start)" }
        }
        let expected: [(line: String, last: String?)] = [
            ("", nil), ("a", "a 0"), ("a b", "b 2"), ("a ", " 2"), ("a\\ b", "a b 0"), ("x a\\ b", "a b 2"),
            ("x 'a b", nil), ("x 'a b'", "a b 2"), ("x 'a b'c", "a bc 2"), ("x\\", nil), ("~/a ~/b", "/h/b 4"),
            ("a\\\\ b", "b 4"), ("a\tb", "b 2"),
        ]
        for (line, word) in expected { #expect(last(line) == word, "\(line)") }
        // Looking at each blank as a beginning would take hours.
        let long = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20) + Array("'x".utf8)
        #expect(words.lastWord(long) == nil)
    }

    @Test("one word of a megabyte is one word, with and without quotes and backslashes")
    func longWord() {
        let words = ShellWords(home: Array("/home/ana".utf8))
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
        #expect(words.split(long) == [long])
        #expect(words.split(Array("'".utf8) + long + Array("'".utf8)) == [long])
        #expect(words.split(Array(long.map { [UInt8(ascii: "\\"), $0] }.joined())) == [long])
        #expect(words.pasted(Array("/".utf8) + long) == [Array("/".utf8) + long])
        #expect(words.split(Array(" '' ~/a 'b'c \"\" ".utf8)) == ["", "/home/ana/a", "bc", ""].map { Array($0.utf8) })
    }
}
