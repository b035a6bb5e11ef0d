import Configuration
import DisplayText
import FoundationEssentials
import LinuxSystem
import Testing
import TransferModel

@testable import Commands

@Suite("Foreign text on its way to the terminal") struct ForeignTextTests {
    /// Written by whoever names a file, a server or another machine: it turns what follows, ends a line, or speaks to the terminal.
    private static let words = [
        "a\u{202E}fdp.exe", "a\u{2066}b\u{2069}", "a\u{2028}b", "a\u{1B}[31mb", "a\u{9B}b", "a\u{7}b",
        "a\u{200B}b", "a\u{FEFF}b", "a\u{200F}b", "a\u{E0041}b",
    ]

    private static func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            (scalar.value < 32 && scalar != "\n") || (127...159).contains(scalar.value)
                || (0x200E...0x200F).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value) || [0x200B, 0xFEFF, 0xE0041].contains(scalar.value)
        }
    }

    private final class Paper: Sendable {
        let text = Mutex("")
    }

    @Test("results, messages and progress are made harmless in one place, whoever made the text", arguments: words)
    func console(word: String) {
        let paper = Paper()
        let console = Console(errorIsTerminal: true) { _, bytes in
            paper.text.withLock { $0 += String(decoding: bytes.filter { $0 != 13 }, as: UTF8.self) }
        }
        console.line(word)
        console.text("\(word)\n\(word)\n")
        console.note(word)
        console.progress(word)
        console.json(["name": word])
        console.flush()
        let shown = paper.text.withLock { $0 }
        #expect(Self.isHarmless(shown), "\(shown.debugDescription)")
        #expect(shown.split(separator: "\n").count == 5)
        #expect(shown.contains("{\"name\":\"a"))
    }

    @Test("a progress line is cut and taken away by cells: wide letters take two", arguments: ["日本語", "👍🏽é", "abc"])
    func cells(word: String) {
        let paper = Paper()
        let console = Console(errorIsTerminal: true, width: 40) { _, bytes in
            paper.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        console.progress(String(repeating: word, count: 40))
        let line = paper.text.withLock { $0.dropFirst() }
        let width = SafeText(String(line)).width
        #expect(width <= 39 && width >= 38, "\(line)")
        console.clearProgress()
        let taken = paper.text.withLock { $0 }.dropFirst(line.count + 1)
        #expect(taken == "\r" + String(repeating: " ", count: width) + "\r", "\(taken.debugDescription)")
        let table = TextTable(columns: [.init(title: "NAME", width: 20)], lastTitle: "REST", width: 40)
        let row = table.row([String(repeating: word, count: 3)], String(repeating: word, count: 40))
        #expect(SafeText(row).width <= 40 && SafeText(row).width >= 37, "\(row)")
    }

    @Test("what is written as JSON is read back as it was", arguments: words + ["caf\u{85}", "a\u{7F}b", "tab\tb"])
    func json(word: String) throws {
        let paper = Paper()
        let console = Console(errorIsTerminal: true) { _, bytes in
            paper.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        console.json(["name": word])
        console.flush()
        let line = paper.text.withLock { $0 }
        #expect(try JSONDecoder().decode([String: String].self, from: Data(line.utf8)) == ["name": word])
    }

    @Test("a path for a person or the log has none of it either", arguments: words)
    func path(word: String) {
        #expect(Self.isHarmless(RawPath(word).displayed))
        #expect(RawPath(word).displayed.hasPrefix("a\\x"))
        #expect(word.harmless == RawPath(word).displayed)
    }

    @Test("names that are written from right to left stay as they are")
    func arabic() {
        let name = "\u{0627}\u{0644}\u{0635}\u{0648}\u{0631}\u{200F}.jpg"
        #expect(RawPath(name).displayed == name)
        #expect(name.harmless == name)
    }
}
