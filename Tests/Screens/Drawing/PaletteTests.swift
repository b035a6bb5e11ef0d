import Configuration
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The palette finds every action by name, and runs commands")
struct CommandPaletteTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    @Test("everything that a key does is found by its name")
    func actions() {
        var screen = example()
        screen.press(":")
        for action in KeyMap.standard.actions(in: .transfers) where action.part != .move {
            guard ![.command, .interrupt, .back].contains(action) else { continue }
            screen.model.commandPrompt?.field = TextField(Array(action.rawValue.utf8))
            #expect(screen.model.paletteEntries.first?.run == .action(action), "\(action)")
        }
    }

    @Test("letters in order find, beginnings of words before others")
    func fuzzy() {
        #expect(FuzzyMatch.score("xyz", "pause or resume") == nil)
        let (beginnings, inside) = (FuzzyMatch.score("pr", "pause or resume"), FuzzyMatch.score("pr", "sapuryx"))
        #expect((beginnings ?? 0) > (inside ?? 0))
        #expect(FuzzyMatch.score("", "a") == 0)
        #expect((FuzzyMatch.score("ca", "cancel") ?? 0) > (FuzzyMatch.score("ca", "open or close all") ?? 0))
        #expect(FuzzyMatch.score("res all", "pause or resume all") != nil)
    }

    /// A text that counts how often somebody looks at one of its characters.
    private final class CountedText: RandomAccessCollection {
        let characters: [Character]
        var looks = 0

        init(_ text: String) { characters = Array(text) }

        var startIndex: Int { 0 }
        var endIndex: Int { characters.count }
        subscript(index: Int) -> Character {
            looks += 1
            return characters[index]
        }
    }

    @Test("a long name of one letter is not looked through once for each letter")
    func longName() {
        for word in ["aaaaaaaaab", String(repeating: "a", count: 200)] {
            let text = CountedText(String(repeating: "a", count: 1000))
            #expect((FuzzyMatch.score(Array(word), text) == nil) == word.hasSuffix("b"))
            #expect(text.looks < 64 * text.count)
        }
    }

    @Test("pictures: at first, while typing, a command's form, in a small window")
    func pictures() {
        var screen = example()
        screen.model.filters.saved = [SavedFilter(name: "errors", text: "@err 403")]
        screen.press(":")
        Pictures.expect(screen.picture, "palette-80x24")
        screen.press("pau", "Down")
        Pictures.expect(screen.picture, "palette-typed-80x24")
        screen.press("Esc", ":", "columns", "Space")
        Pictures.expect(screen.picture, "palette-command-80x24")
        screen.press("Esc", ":", "ret")
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        Pictures.expect(screen.picture, "palette-40x8")
        screen.send(.resized(ScreenSize(columns: 20, rows: 2)))
        Pictures.expect(screen.picture, "palette-20x2")
    }

    @Test("Enter runs what is chosen, or says why not")
    func running() {
        var screen = example()
        screen.press(":", "problems", "Enter")
        if screen.model.page is ProblemsPage {} else { Issue.record("not on the page") }
        screen.press("Esc", ":", "unmark all", "Enter")
        #expect(screen.model.notice?.text.string.contains("nothing is marked") == true)
        screen.press(":", "qqqq")
        #expect(screen.picture.contains("Nothing is called so"))
        screen.press("Enter")
        #expect(screen.model.notice?.isError == true)
        #expect(screen.model.commandPrompt != nil)
    }

    @Test("commands act on what they name, and ask when nobody can know how much that is")
    func commands() {
        var screen = example()
        screen.press(":", "pause b2", "Enter")
        let named = screen.requests.contains {
            if case .act(.pause, .ids([.batch(BatchID(rawValue: 2))]), _) = $0 { true } else { false }
        }
        #expect(named)
        screen.press(":", "cancel @err 403", "Enter")
        Pictures.expect(screen.picture, "ask-cancel-filter-80x24")
        screen.wait(.seconds(1))
        screen.press("x")
        let matching = screen.requests.contains {
            if case .act(.cancel, .matching(NodeSelector(filter: "@err 403")), _) = $0 { true } else { false }
        }
        #expect(matching)
        screen.answerDone()
        #expect(screen.model.notice?.text.string == "Cancelled: all files that match @err 403 (1 changed).")
        screen.press(":", "retry size>", "Enter")
        #expect(screen.model.notice?.isError == true)
    }

    @Test("a batch is found by its name, with what can be done to it, and why it cannot")
    func batches() {
        var screen = example()
        screen.press(":", "pau nas")
        Pictures.expect(screen.picture, "palette-batch-80x24")
        screen.press("Enter")
        #expect(screen.model.notice?.text.string == "Pause batch \"nas-backup\": already paused.")
        screen.press(":", "nas res", "Enter")
        let resumes = screen.requests.contains {
            if case .act(.resume, .rows([.batch(BatchID(rawValue: 2))]), _) = $0 { true } else { false }
        }
        #expect(resumes)
        screen.press(":", "holiday can", "Tab")
        #expect(screen.model.commandPrompt?.text == "cancel b1")
        screen.press("Esc", ":", "holiday can", "Enter")
        #expect(screen.model.dialog != nil, "asked about as by its key")
    }

    @Test(
        "who types a batch's name means the batch; of two of one name the palette tells which is which, and both are asked about"
    )
    func names() {
        var screen = ScreenHarness(80, 24)
        screen.connect()
        let rows = [
            Rows.batch(1, "photos", .running, { $0.running = 2 }, total: 9),
            Rows.batch(2, "docs", .paused, { $0.paused = 1 }, total: 9),
            Rows.batch(3, "docs", .paused, { $0.paused = 1 }, total: 9),
        ]
        screen.news([Rows.section(nil, rows)])
        screen.press(":", "pause photos", "Enter")
        let pauses = screen.requests.contains {
            if case .act(.pause, .rows([.batch(BatchID(rawValue: 1))]), _) = $0 { true } else { false }
        }
        #expect(pauses)
        screen.press(":", "res docs")
        #expect(screen.picture.contains("Resume batch \"docs\" (b2)") && screen.picture.contains("(b3)"))
        screen.press("Esc", ":", "resume docs", "Enter")
        #expect(screen.model.dialog?.title.string == "Resume 2 batches called docs?")
    }

    @Test("IDs and * are what they say; a batch that is called so is named in quotes, and by its bytes")
    func namesLikeIDs() {
        var screen = ScreenHarness(80, 24)
        screen.connect()
        let names = ["photos", "b1", "*", "b1 t2", "caf\u{E9}"]
        let rows = names.enumerated().map { index, name in
            Rows.batch(Int64(index) + 1, name, .running, { $0.running = 1 }, total: 9)
        }
        screen.news([Rows.section(nil, rows)])
        func acted(_ text: String) -> NodeChoice? {
            var screen = screen
            screen.press(":")
            screen.model.commandPrompt?.field = TextField(Array("pause \(text)".utf8))
            screen.press("Enter")
            if screen.model.dialog != nil {
                screen.wait(.seconds(1))
                screen.press("p")
            }
            return screen.requests.lazy.compactMap {
                if case .act(.pause, let nodes, _) = $0 { nodes } else { nil }
            }.first
        }
        func batch(_ number: Int64) -> NodeChoice { .rows([.batch(BatchID(rawValue: number))]) }
        let (one, two) = (NodeID.batch(BatchID(rawValue: 1)), NodeID.task(TaskID(rawValue: 2)))
        #expect(acted("b1") == .ids([one]) && acted("b1 t2") == .ids([one, two]))
        #expect(acted("*") == .matching(NodeSelector()))
        #expect(acted("\"b1\"") == batch(2) && acted("\"*\"") == batch(3) && acted("\"b1 t2\"") == batch(4))
        #expect(acted("caf\u{E9}") == batch(5))
        #expect(acted("cafe\u{301}") == .matching(NodeSelector(filter: "cafe\u{301}")))
        #expect(acted("\"photos\"") == .matching(NodeSelector(filter: "\"photos\"")))
    }

    @Test("pause and resume as words do one thing each, where the key does either")
    func oneWay() {
        var screen = example()
        screen.press(":", "resume", "Space", "Enter")
        #expect(screen.requests.isEmpty && screen.model.notice?.text.string == "Nothing of it is paused.")
        screen.press("}", ":", "pause", "Space", "Enter")
        #expect(
            screen.requests.isEmpty
                && screen.model.notice?.text.string == "Nothing of it moves: there is nothing to pause.")
    }

    @Test("run-now and theme can be typed")
    func typed() {
        var screen = example()
        screen.press(":", "run-now b2", "Enter")
        let runs = screen.requests.contains {
            if case .act(.runNow, .ids([.batch(BatchID(rawValue: 2))]), _) = $0 { true } else { false }
        }
        #expect(runs)
        screen.press(":", "theme light", "Enter")
        #expect(screen.requests.contains(.theme(.light)))
        screen.press(":", "theme blue", "Enter")
        #expect(screen.model.notice?.text.string == "Type  theme auto | dark | light")
    }

    @Test("columns, units and signs change at once")
    func settings() {
        var screen = example()
        screen.press(":", "columns size percent", "Enter")
        Pictures.expect(screen.picture, "columns-80x24")
        screen.press(":", "units si", "Enter", ":", "glyphs narrow", "Enter", ":", "columns all", "Enter")
        Pictures.expect(screen.picture, "narrow-si-80x24")
        screen.press(":", "units x", "Enter")
        #expect(screen.model.notice?.isError == true)
    }

    @Test("a filter gets a name, is offered by it, and is forgotten")
    func saving() {
        var screen = example()
        screen.press(":", "save bad @err 403", "Enter")
        #expect(screen.requests.contains(.changeFilter("bad", to: "@err 403")))
        screen.press(":", "filter bad", "Tab")
        #expect(screen.model.commandPrompt?.text.hasPrefix("filter") == true)
        screen.press("Esc", ":", "forget bad", "Enter")
        #expect(screen.requests.contains(.changeFilter("bad", to: nil)))
        screen.press(":", "save a/b x", "Enter")
        #expect(screen.model.notice?.isError == true)
    }

    @Test("keys.conf: clashes and keys that cannot arrive are shown with their line")
    func keys() {
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        let file = "# mine\nfly = x\n[transfers]\ncancel = p ^B\n"
        map.apply(KeyBinding.read(bytes: Array(file.utf8), problems: &problems), problems: &problems)
        #expect(problems.count == 2)
        #expect(map.unreachable { $0 == "TMUX" } == ["^B is taken by tmux: \"cancel\" in transfers needs another key"])
        #expect(map.unreachable { _ in false } == [])
        #expect(KeyMap.standard.unreachable { _ in true } == [])
        var screen = example()
        screen.model.settings.keyProblems = problems.map { $0.description(file: "keys.conf") }
        screen.press(":", "keys", "Enter")
        Pictures.expect(screen.picture, "keys-80x24")
        screen.press("G", "Esc")
        if screen.model.page is TransfersPage {} else { Issue.record("the page is still open") }
    }
}

@Suite("A command means what was under the cursor when its line was opened")
struct CommandTargetTests {
    private func sections(_ names: [Int64: String], files: [Int64]) -> [TreeSection] {
        let batches = names.sorted { $0.key < $1.key }.map { id, name in
            Rows.batch(id, name, .running, { $0.running = Int64(files.count) })
        }
        return [
            Rows.section(nil, batches),
            Rows.section(batches[0].id, files.map { Rows.task(1, $0, "\($0).jpg", .running, total: Rows.mega) }),
        ]
    }

    private func deeds(_ screen: ScreenHarness) -> [NodeChoice] {
        screen.requests.compactMap { if case .act(_, let nodes, _) = $0 { nodes } else { nil } }
    }

    @Test("news that take the cursor elsewhere while it is typed do not change that", arguments: ["cancel", "cancel "])
    func moved(line: String) {
        var screen = ScreenHarness(80, 24, sections([1: "a"], files: [10, 11, 12]))
        screen.press("j")
        screen.press(":", line)
        // The way to another row is on its way.
        screen.model.tree.going = .to(.task(BatchID(rawValue: 1), TaskID(rawValue: 13)))
        screen.news(sections([1: "a"], files: [10, 11, 12, 13]))
        screen.press("Enter")
        #expect(deeds(screen) == [.rows([.task(BatchID(rawValue: 1), TaskID(rawValue: 10))])])
    }

    @Test("a row that went meanwhile is refused once, whatever the cursor is on then")
    func gone() {
        var screen = ScreenHarness(80, 24, sections([1: "a"], files: [10, 11, 12]))
        screen.press("j", ":", "cancel")
        screen.model.tree.going = .to(.task(BatchID(rawValue: 1), TaskID(rawValue: 13)))
        screen.news(sections([1: "a"], files: [11, 12, 13]))
        screen.press("Enter")
        #expect(deeds(screen).isEmpty)
        #expect(screen.model.notice?.text.string.hasPrefix("That row is gone") == true)
    }

    @Test("the chosen line of the palette stays chosen when batches come and go; one that is gone runs nothing else")
    func chosen() {
        var screen = ScreenHarness(80, 24, sections([1: "photos", 2: "photos b"], files: [10]))
        func chosen() -> String? {
            let entries = screen.model.paletteEntries
            return screen.model.commandPrompt.flatMap {
                entries.indices.contains($0.selected) ? entries[$0.selected].title : nil
            }
        }
        screen.press(":", "photos pau", "Down")
        #expect(chosen() == "Pause batch \"photos b\"")
        screen.news(sections([1: "photos", 2: "photos b", 3: "photos"], files: [10]))
        #expect(chosen() == "Pause batch \"photos b\"")
        screen.news(sections([1: "photos", 3: "photos c"], files: [10]))
        screen.press("Enter")
        #expect(deeds(screen).isEmpty && screen.model.commandPrompt != nil)
        #expect(screen.model.notice?.text.string.hasPrefix("What was chosen is gone") == true)
        screen.press("Enter")
        #expect(deeds(screen) == [.rows([.batch(BatchID(rawValue: 3))])])
    }
}
