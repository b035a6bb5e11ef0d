import TestSupport
import Testing

@testable import Configuration

@Suite("INI text is taken apart")
struct INIDocumentTests {
    @Test("a value is kept to the letter, with semicolons, hashes and equals signs")
    func verbatimValues() {
        let document = INIDocument("token = {\"a\":1} ; not a comment # nor this = x  \n")
        #expect(document.value("token") == "{\"a\":1} ; not a comment # nor this = x")
    }

    @Test("comments stand only at the start of a line, blanks before them or not")
    func comments() {
        let document = INIDocument("# a = 1\n  ; b = 2\nc = 3 # d\n")
        #expect(document.entries == [.init(section: nil, key: "c", value: "3 # d", line: 3)])
        #expect(document.problems.isEmpty)
    }

    @Test("sections may have blanks in their names and be empty")
    func sections() {
        let document = INIDocument("top = 1\r\n[ nas at home ]\r\nurl = x\r\n[empty]\r\n")
        #expect(document.sections.map(\.name) == ["nas at home", "empty"])
        #expect(document.value("url", in: "nas at home") == "x")
        #expect(document.value("top") == "1")
        #expect(document.value("url") == nil)
    }

    @Test("a line may be a megabyte long")
    func longLine() {
        let value = String(repeating: "x ;", count: 400_000)
        #expect(INIDocument("a = \(value)").value("a") == value)
    }

    @Test("the last of two equal keys counts, and both are there")
    func repeatedKey() {
        let document = INIDocument("a = 1\na = 2")
        #expect(document.value("a") == "2")
        #expect(document.entries.map(\.line) == [1, 2])
    }

    @Test(
        "a line that is nothing is reported by its number, and the others count",
        arguments: ["[open", "[]", "[a] b", "no sign", "= value", "\u{1}\u{0}= 1"])
    func problems(line: String) {
        let document = INIDocument("a = 1\n\(line)\nb = 2\n")
        #expect(document.problems.map(\.line) == [2])
        #expect(document.entries.map(\.key) == (line.hasPrefix("[") ? ["a"] : ["a", "b"]))
    }

    @Test(
        "what stands below a section whose name cannot be read is nobody's, and a comment may stand behind a name",
        arguments: ["[b", "[b] c", "[b\u{1}\u{0}]", "[]"])
    func lostSection(header: String) {
        let document = INIDocument("[a]\nx = 1\n\(header)\nx = 2\n[c] ; c\nx = 3\n[d]# d]\nx = 4\n[e] f]\nx = 5\n")
        #expect(document.problems.map(\.line) == [3])
        #expect(document.entries.map(\.value) == ["1", "3", "4", "5"])
        #expect(document.sections.map(\.name) == ["a", "c", "d", "e] f"])
        #expect((1...8).map { document.section(ofLine: $0) } == ["a", "a", nil, nil, "c", "c", "d", "d"])
    }

    @Test("bytes that are no UTF-8 are reported and not repaired")
    func notText() {
        let document = INIDocument(bytes: Array("a = ".utf8) + [0xFF] + Array("\nb = 2".utf8))
        #expect(document.problems == [.init(line: 1, "is not UTF-8 text: write it again")])
        #expect(document.value("b") == "2")
    }

    @Test("a byte order mark is not part of the first key")
    func byteOrderMark() {
        #expect(INIDocument("\u{FEFF}a = 1").value("a") == "1")
    }

    @Test("the entries of a section are those of all its parts, and the last value counts, of many thousands")
    func parts() {
        let many = (1...150_000).map { "k\($0) = \($0)\n" }.joined()
        let document = INIDocument("a = 0\n[one]\na = 1\n[two]\na = 2\n[one]\na = 3\n[many]\n\(many)")
        #expect(document.entries(in: nil).map(\.value) == ["0"])
        #expect(document.entries(in: "one").map(\.value) == ["1", "3"])
        #expect(document.entries(in: "none").isEmpty && document.value("a", in: "none") == nil)
        #expect(document.value("a") == "0" && document.value("a", in: "one") == "3")
        // One by one: whoever looked through all of them for each would not come to an end.
        #expect((1...150_000).allSatisfy { document.value("k\($0)", in: "many") == String($0) })
        #expect(document.value("a", in: "many") == nil)
    }

    @Test("what was written is read again", arguments: 0..<200)
    func roundTrip(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let alphabet = Array("ab =#;[]\"\\ñ日\t.")
        /// A word that does not begin with `first` and has no blanks at its ends and none of `without`.
        func word(first: Set<Character>, without: Set<Character> = []) -> String {
            var word = (0...random.below(12)).map { _ in alphabet[random.below(alphabet.count)] }
            word.removeAll { without.contains($0) }
            while let start = word.first, first.contains(start) { word.removeFirst() }
            while let end = word.last, " \t".contains(end) { word.removeLast() }
            return String(word)
        }
        var text = ""
        var expected: [INIDocument.Entry] = []
        for line in 1...20 {
            let key = word(first: [" ", "\t", "#", ";", "["], without: ["="])
            guard !key.isEmpty else {
                text += "\n"
                continue
            }
            let value = word(first: [" ", "\t"])
            text += "\(key) =\(random.below(2) == 0 ? " " : "")\(value)\n"
            expected.append(.init(section: nil, key: key, value: value, line: line))
        }
        let document = INIDocument(text)
        #expect(document.entries == expected)
        #expect(document.problems.isEmpty)
    }

    @Test("no bytes make the reader fail, and every line is accounted for once", arguments: 0..<300)
    func garbage(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<random.below(400)).map { _ in
            random.below(3) == 0 ? Array("[]=\n;# a".utf8)[random.below(8)] : UInt8(random.below(256))
        }
        let document = INIDocument(bytes: bytes)
        let lines = document.entries.map(\.line) + document.sections.map(\.line) + document.problems.map(\.line)
        #expect(Set(lines).count == lines.count)
        #expect((lines.max() ?? 1) <= bytes.filter { $0 == 10 }.count + 1)
    }
}
