import DisplayText
import FoundationEssentials
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI
import TestSupport

@Suite("What stopping costs is said, and what is not known is not claimed")
struct CostTests {
    private let giga: Int64 = 1 << 30

    /// One batch of two files that run, opened.
    private func screen(atRisk: Int64) -> ScreenHarness {
        var batch = Rows.batch(
            1, "films", .running, { $0.running = 2 }, total: 40 * giga, sent: 12 * giga, speed: 9 << 20, left: 60)
        batch.bytesAtRisk = atRisk
        var film = Rows.task(1, 10, "film.mov", .running, total: 39 * giga, sent: 12 * giga, speed: 9 << 20, left: 60)
        film.bytesAtRisk = atRisk
        let other = Rows.task(1, 11, "trailer.mov", .running, total: giga, sent: 0, speed: 0)
        return ScreenHarness(80, 24, [Rows.section(nil, [batch]), Rows.section(batch.id, [film, other])])
    }

    private func result(_ task: Int64, _ bytes: Int64) -> NodeResult {
        var result = NodeResult(id: .task(TaskID(rawValue: task)), result: .done)
        result.bytesToRepeat = bytes
        return result
    }

    @Test("a pause or cancel that throws few sent bytes away says how many")
    func messages() {
        var screen = screen(atRisk: 99 << 20)
        screen.press("j", "p")
        screen.answer([result(10, 99 << 20)])
        #expect(
            screen.model.notice?.text
                == "Paused \"film.mov\" (1 file). 99.0M already sent must be sent again: it cannot resume there.")
        screen.press("j", "x")
        screen.answer([result(11, 3 << 20)])
        let lost: SafeText = "3.0M already sent are lost: it cannot resume there, and undo sends them again."
        #expect(screen.model.notice?.text == "Cancelled \"trailer.mov\" (1 file). " + lost)
    }

    @Test("what is worth a wait is asked about, with the cost, and Enter takes the harmless answer")
    func question() {
        var screen = screen(atRisk: 100 << 20)
        screen.press("j", "p")
        #expect(screen.picture.contains("100M already sent must be sent again: it cannot resume there."))
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.model.changes.pending.isEmpty)
        screen.press("p")
        screen.wait(.seconds(1))
        screen.press("p")
        #expect(screen.model.changes.pending.count == 1)
    }

    @Test("a cancel that loses as much is asked about, too")
    func cancelQuestion() {
        var screen = screen(atRisk: 100 << 20)
        // Its size alone would be asked about.
        screen.model.settings.askAbove.bytes = .max
        screen.press("j", "x")
        #expect(screen.picture.contains("100M already sent are lost: it cannot resume there, and undo sends"))
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.model.changes.pending.isEmpty && screen.model.dialog == nil)
        screen.press("j", "x")
        #expect(screen.model.dialog == nil && screen.model.changes.pending.count == 1)
    }

    @Test("a pause of everything is asked about when it loses as much, however few files it is about")
    func everything() {
        var screen = screen(atRisk: 100 << 20)
        screen.press("P")
        #expect(screen.picture.contains("Pause all 2 files?"))
        #expect(screen.picture.contains("100M already sent must be sent again: it cannot resume there."))
        screen = self.screen(atRisk: 99 << 20)
        screen.press("P")
        #expect(screen.model.dialog == nil)
    }

    @Test(
        "a command that names it asks as the key does",
        arguments: ["pause films", "pause b1", "pause t10", "pause films for 2h", "cancel t10", "cancel films"])
    func commands(line: String) {
        var screen = screen(atRisk: 100 << 20)
        screen.model.settings.askAbove.bytes = .max
        screen.press(":", line, "Enter")
        #expect(screen.picture.contains("100M already sent"), "\(screen.picture)")
        #expect(screen.requests.allSatisfy { if case .act = $0 { false } else { true } })
        screen.wait(.seconds(1))
        screen.press(line.hasPrefix("cancel") ? "x" : "p")
        #expect(screen.requests.contains { if case .act = $0 { true } else { false } })
    }

    @Test("a batch and its own file are one thing to cancel, and to take back")
    func batchAndFile() {
        var screen = screen(atRisk: 0)
        screen.press("Space", "Space", "x")
        // 28 G are asked about.
        screen.wait(.seconds(1))
        #expect(screen.picture.contains("Cancel 1 batch, 2 files?"))
        screen.press("x")
        screen.answerDone()
        #expect(screen.picture.contains("Cancelled \"films\" (2 files)."))
        #expect(screen.model.tree.marks.isEmpty)
        screen.press("u")
        #expect(screen.requests.contains(.undo(.operation(7), number: screen.lastNumber)))
    }

    @Test("without an engine nothing runs and nothing has a speed, as far as anybody knows")
    func lost() {
        var screen = screen(atRisk: 0)
        #expect(screen.picture.contains("9.0M") && screen.picture.contains(" run"))
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        let rows = screen.lines[3...5]
        #expect(rows.allSatisfy { $0.hasSuffix("?    ") && !$0.contains("9.0M") }, "\(rows)")
        screen.connect()
        #expect(screen.picture.contains(" run"))
    }

    @Test("a file of a paused batch is let go on with its batch")
    func pausedAbove() {
        var batch = Rows.batch(1, "films", .paused, { $0.paused = 1 }, total: giga)
        (batch.paused, batch.effectivelyPaused) = (true, true)
        var film = Rows.task(1, 10, "film.mov", .paused, total: giga)
        film.paused = false
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [batch])])
        screen.press("l")
        screen.news([Rows.section(batch.id, [film])])
        screen.press("j", "p")
        #expect(screen.picture.contains("Its batch \"films\" is paused. Resume the batch."))
        #expect(screen.model.changes.pending.isEmpty)
    }

    @Test("a click on a hint is its key")
    func hints() throws {
        var screen = screen(atRisk: 0)
        let line = screen.lines[23]
        for (word, isTaken) in [("a add", true), ("x cancel", true), ("? help", true), ("  a add", false)] {
            let start = try #require(line.firstRange(of: word)).lowerBound
            let column = line.distance(from: line.startIndex, to: start) + (isTaken ? word.count - 1 : 1)
            let action = HintLine.action(at: column, screen.model.hints, in: .transfers, .standard, width: 80)
            #expect((action != nil) == isTaken, "\(word)")
        }
        screen.send(.input(.mouse(MousePress(.left, at: Position(row: 23, column: 2)))))
        #expect(screen.picture.contains("Help: transfers"))
        #expect(HintLine.action(at: 9, screen.model.hints, in: .transfers, .standard, width: 40) == .pause)
    }

    @Test("going on with nothing to go on with says what is wanted")
    func emptyLines() {
        var screen = screen(atRisk: 0)
        screen.press("a", "F2")
        #expect(screen.picture.contains("Nothing is chosen yet: Space marks files and folders."))
        screen.list(Adding.entries)
        screen.press("Space", "F2", "Enter")
        #expect(screen.picture.contains("Type a URL, such as sftp://host/folder/"))
        screen.press("^C", "W", "Enter")
        #expect(screen.picture.contains("Type or paste a URL first."))
    }

    @Test(
        "the README's pictures are those that the tests draw",
        arguments: ["main-80x24-unicode", "problems-80x24", "pick-80x24"])
    func pictures(name: String) throws {
        let text = try String(contentsOf: URL(filePath: Checkout.root + "/README.md"), encoding: .utf8)
        let drawn = try String(
            contentsOf: URL(filePath: Checkout.root + "/Tests/Screens/Pictures/\(name).txt"), encoding: .utf8)
        for line in drawn.split(separator: "\n") where line.hasPrefix("|") {
            var shown = line.dropFirst().dropLast()
            while shown.last == " " { shown.removeLast() }
            #expect(text.contains("\n\(shown)\n"), "\(shown)")
        }
    }

    @Test("the README names the keys as they are")
    func readme() throws {
        let text = try String(contentsOf: URL(filePath: Checkout.root + "/README.md"), encoding: .utf8)
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let actions: [Action] = [
            .help, .add, .pause, .cancel, .undo, .retry, .details, .why, .problems, .log, .mark, .open, .close, .clear,
            .leave,
        ]
        for action in actions {
            let names = KeyMap.standard.keys(for: action, in: .transfers).map(\.name)
            #expect(names.contains { words.contains("`\($0)` \(action.summary)") }, "\(names) \(action.summary)")
        }
    }
}
