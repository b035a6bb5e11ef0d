import Configuration
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("A deed is done to what was seen: a group that has grown since is asked about with its number of now")
struct SeenRowsTests {
    private let group = RowID.group(BatchID(rawValue: 1), FolderID(rawValue: 0), RowID.Fate(.queued))

    /// A batch of so many queued files in one row, and as many in its row of failed ones.
    private func sections(_ files: Int64) -> [TreeSection] {
        let batch = Rows.batch(1, "photos", .running, { ($0.queued, $0.failed, $0.running) = (files, files, 1) })
        return [
            Rows.section(nil, [batch]),
            Rows.section(
                batch.id,
                [
                    Rows.task(1, 9, "now.jpg", .running), Rows.group(1, 0, .queued, files),
                    Rows.group(1, 0, .failed, files),
                ]),
        ]
    }

    /// The cursor is on the queued ones.
    private func example(_ files: Int64 = 3) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, sections(files))
        screen.press("j", "j")
        #expect(screen.model.tree.cursorRow?.id == group)
        return screen
    }

    private func deeds(_ screen: ScreenHarness) -> [Request] {
        screen.requests.filter { if case .act = $0 { true } else { false } }
    }

    private func confirm(_ screen: inout ScreenHarness, _ letter: String) {
        screen.wait(.seconds(1))
        screen.press(letter)
    }

    @Test("in a frozen list a key on a grown group asks, and means the files of now when that is confirmed")
    func frozen() {
        let keys: [(key: String, title: String, letter: String, deed: NodeDeed)] = [
            ("x", "Cancel 5,000 files?", "x", .cancel), ("p", "Pause 5,000 files?", "p", .pause),
            ("]", "Change 5,000 files?", "y", .move(.later)),
        ]
        for (key, title, letter, deed) in keys {
            var screen = example()
            screen.press("z")
            screen.news(sections(5000))
            screen.press(key)
            #expect(deeds(screen).isEmpty)
            #expect(screen.model.dialog?.title.string == title)
            #expect(screen.picture.contains("3 files when"), "says what was seen")
            confirm(&screen, letter)
            #expect(deeds(screen) == [.act(deed, .rows([group]), number: screen.lastNumber)])
        }
    }

    @Test("a question that was answered long after it was asked is asked once more")
    func question() {
        var screen = example(150)
        screen.press("x")
        #expect(screen.model.dialog?.title.string == "Cancel 150 files?")
        screen.news(sections(5000))
        confirm(&screen, "x")
        #expect(deeds(screen).isEmpty)
        #expect(screen.model.dialog?.title.string == "Cancel 5,000 files?")
        confirm(&screen, "x")
        #expect(deeds(screen).count == 1)
    }

    @Test("a frozen group is retried, and left out, by its number of now")
    func failed() {
        var screen = example()
        screen.press("j", "z")
        screen.news(sections(5000))
        screen.press("r")
        // Whether something of that name is there is asked first.
        screen.send(.answer(.batches(.success([]), number: screen.lastNumber)))
        #expect(deeds(screen).isEmpty && screen.model.dialog?.title.string == "Retry 5,000 files?")
        screen.press("Esc")
        screen.wait(.seconds(1))
        screen.press("Esc", "x")
        #expect(screen.model.dialog?.title.string == "Leave out 5,000 failed files of 5,000 failed?")
    }

    @Test("a group that shrank, or that grows while the list shows it, is not asked about")
    func smaller() {
        var screen = example()
        screen.press("z")
        screen.news(sections(2))
        screen.press("x")
        #expect(deeds(screen).count == 1)
        screen = example()
        screen.news(sections(5))
        screen.press("x")
        #expect(deeds(screen).count == 1)
    }

    @Test("a group that is in sight no more is left alone: nobody knows how many files it holds")
    func gone() {
        var screen = example()
        screen.press("Space", "g", "h")
        screen.news([sections(5000)[0]])
        screen.press("p")
        #expect(deeds(screen).isEmpty)
        let words = "Nothing was done: 3 waiting is not in sight any more. Open its folder and press the key again."
        #expect(screen.model.notice?.text.string == words)
    }
}
