import Configuration
import DisplayText
import FoundationEssentials
import Terminal
import Testing

@testable import TerminalUI
import TestSupport

@Suite("Keys are one table: what works, what help says, what the hints show")
struct KeyMapTests {
    private let keys = KeyMap.standard
    /// Large letters and digits that no action has on the list of transfers.
    private static let free = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ7890".unicodeScalars).filter {
        KeyMap.standard.action(for: .character($0), in: .transfers) == nil
    }

    @Test("the page on contributing names the free keys")
    func freeKeys() throws {
        let text = try String(contentsOfFile: "\(Checkout.root)/CONTRIBUTING.md", encoding: .utf8)
        let (letters, digits) = (Self.free.filter { $0.value > 64 }, Self.free.filter { $0.value < 64 })
        func words(_ keys: [Unicode.Scalar]) -> String { keys.map { "\($0)" }.joined(separator: " ") }
        #expect(text.contains("Free on the list of transfers are \(words(letters)) and \(words(digits));"))
    }

    @Test("no key does two things in a view, and every name in the table is a key")
    func table() {
        for view in KeyMap.View.allCases {
            for action in keys.actions(in: view) {
                for press in keys.keys(for: action, in: view) {
                    #expect(keys.action(for: press, in: view) == action, "\(press.name) in \(view)")
                }
            }
        }
        #expect(keys.keys(for: .cancel, in: .transfers).map(\.name) == ["x", "F8", "Del"])
    }

    @Test("every action has a key in a view", arguments: Action.allCases)
    func keyed(action: Action) {
        let views = KeyMap.View.allCases.filter { !keys.keys(for: action, in: $0).isEmpty }
        #expect(!views.isEmpty, "no table has it, or its page's view is not in KeyMap.View.allCases")
    }

    @Test("every action is reachable by a letter or a sign, a function key only repeats it")
    func letters() {
        for action in keys.actions(in: .transfers) {
            guard let first = keys.keys(for: action, in: .transfers).first else { continue }
            if case .function = first.key { Issue.record("\(action) is only on \(first.name)") }
        }
    }

    @Test("nothing irreversible is on a letter that ends an escape sequence, and reserved keys are free")
    func safety() {
        for letter in "ABCDFHMPQRS".unicodeScalars {
            let action = keys.action(for: .character(letter), in: .transfers)
            let harmless: [Action?] =
                [nil, .pauseAll, .retryAll, .markMatching, .leaveWithChoices, .reverse, .follow, .again, .verify]
                + KeyMap.View.pages.map { $0.opener }
            #expect(harmless.contains(action), "\(letter)")
        }
        for letter in "sqabojkpnhmi".unicodeScalars {
            #expect(keys.action(for: .control(letter), in: .transfers) == nil)
        }
        #expect(keys.action(for: .character("d"), in: .transfers) == nil)
    }

    @Test("every view can be left, and has help")
    func leaving() {
        for view in KeyMap.View.allCases where view != .lost {
            #expect(keys.action(for: KeyPress(.escape), in: view) == .back)
            #expect([.help, .back].contains(keys.action(for: .character("?"), in: view)))
            #expect(keys.action(for: .character("q"), in: view) == (view == .transfers ? .leave : .back))
        }
    }

    @Test("keys.conf replaces keys, and what it gets wrong is told with its line")
    func keysFile() {
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        let (one, other) = (Self.free[0], Self.free[1])
        let text = """
            leave = \(one)
            [transfers]
            cancel = \(other) p
            dance = y
            retry = NoKey
            [nowhere]
            up = w
            """
        map.apply(KeyBinding.read(bytes: Array(text.utf8), problems: &problems), problems: &problems)
        #expect(map.action(for: .character(other), in: .transfers) == .cancel)
        #expect(map.action(for: .character("x"), in: .transfers) == nil)
        #expect(map.action(for: .character("p"), in: .transfers) == .cancel)
        #expect(map.keys(for: .pause, in: .transfers).map(\.name) == ["F7"])
        #expect(map.action(for: .character("x"), in: .details) == .cancel, "another view keeps its keys")
        #expect(map.action(for: .character(one), in: .transfers) == .leave)
        #expect(problems.map(\.line) == [3, 4, 5, 7])
    }

    @Test("two actions may exchange their keys, and of two lines with one key the later has it")
    func exchange() {
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        let text = "[transfers]\npause = x\ncancel = p\n"
        map.apply(KeyBinding.read(bytes: Array(text.utf8), problems: &problems), problems: &problems)
        #expect(problems == [])
        #expect(map.action(for: .character("x"), in: .transfers) == .pause)
        #expect(map.action(for: .character("p"), in: .transfers) == .cancel)
        let clash = "[transfers]\npause = \(Self.free[0])\nretry = \(Self.free[0])\n"
        map = .standard
        map.apply(KeyBinding.read(bytes: Array(clash.utf8), problems: &problems), problems: &problems)
        #expect(problems.map(\.line) == [3])
        #expect(map.action(for: .character(Self.free[0]), in: .transfers) == .retry)
    }

    @Test("of thousands of keys that three lines name the last line has all, and each loser is told of once")
    func manyClashes() {
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        let keys = (0x4E00..<0x9000).compactMap { Unicode.Scalar($0).map { String($0) } }.joined(separator: " ")
        let text = ["pause", "retry", "cancel"].map { "\($0) = \(keys)\n" }.joined()
        map.apply(
            KeyBinding.read(bytes: Array(("[transfers]\n" + text).utf8), problems: &problems), problems: &problems)
        #expect(problems.map(\.line) == [3, 4])
        #expect(map.keys(for: .cancel, in: .transfers).count == 0x4200)
        #expect(map.keys(for: .pause, in: .transfers).isEmpty && map.keys(for: .retry, in: .transfers).isEmpty)
    }

    @Test("what is said of states names the keys as they are set")
    func states() {
        #expect(RowState.failed.meaning { _ in "Z" } == "gave up; Z tries again")
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        map.apply(
            KeyBinding.read(bytes: Array("[transfers]\nretry = Z\n".utf8), problems: &problems), problems: &problems)
        let appearance = ScreenHarness(80, 24).model.appearance
        let help = HelpText(keys: map, appearance: appearance, machine: nil, keysFile: "").signs.map {
            $0.pieces.map(\.text.string).joined()
        }
        #expect(help.contains { $0.contains("gave up; Z tries again") })
    }

    @Test("hints are made from the keys; where there is no room the least go, in a narrow window the words, help last")
    func hints() {
        let actions: [Action] = [.help, .add, .pause, .cancel, .retry, .details, .leave]
        let line = { HintLine.text(actions, in: .transfers, keys, width: $0).string }
        #expect(line(80) == " ? help   a add   p pause   x cancel   r retry   i details   q leave")
        #expect(line(63) == " ? help  a add  p pause  x cancel  r retry  i details  q leave")
        #expect(line(60) == " ? help   a add   p pause   x cancel   r retry   q leave")
        let action = { HintLine.action(at: $0, actions, in: .transfers, keys, width: 60) }
        #expect((0..<60).map(action).firstIndex(of: .leave) == 49 && !(0..<60).map(action).contains(.details))
        #expect(line(40) == " ?help a p x r i q")
        #expect(line(12) == " ?help a q")
        #expect(line(9) == " ?help q")
        #expect(line(5) == " ? q")
        #expect(line(3) == "?")
        for width in 1...200 { #expect(HintLine.text(actions, in: .transfers, keys, width: width).width <= width) }
    }

    @Test("the example of keys.conf names every key, and read as it is it changes none")
    func example() throws {
        Pictures.expect(KeyMap.example, file: Checkout.resource("examples/keys.conf"))
        var map = KeyMap.standard
        var problems: [ConfigurationProblem] = []
        let lines = KeyMap.example.split(separator: "\n").map {
            $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0
        }
        let text = lines.joined(separator: "\n")
        map.apply(KeyBinding.read(bytes: Array(text.utf8), problems: &problems), problems: &problems)
        #expect(problems == [])
        #expect(map == .standard)
    }
}
