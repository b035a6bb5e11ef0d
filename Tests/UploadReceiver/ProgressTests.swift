import DisplayText
import Testing

@testable import UploadReceiver

@Suite("Uploads that are under way, on a terminal")
struct ProgressTests {
    private func line(_ name: String, _ received: UInt64, _ total: UInt64?, rate: UInt64? = nil) -> ProgressLine {
        ProgressLine(name: SafeText(name), received: received, total: total, rate: rate)
    }

    struct Sample: Sendable {
        let line: (name: String, received: UInt64, total: UInt64?, rate: UInt64?)
        let text: String
    }

    @Test(
        "a line says name, share, bytes and rate",
        arguments: [
            Sample(
                line: ("film.mov", 126_000_000, 300_000_000, 58_000_000),
                text: "film.mov  42 %  126 MB of 300 MB  58.0 MB/s"),
            Sample(line: ("a", 0, 1, nil), text: "a  0 %  0 B of 1 B  -"),
            Sample(line: ("a", 299_999_999, 300_000_000, 5), text: "a  99 %  299 MB of 300 MB  5 B/s"),
            Sample(line: ("a", 300, 300, 5), text: "a  99 %  300 B of 300 B  5 B/s"),
            Sample(line: ("a", 1500, nil, 5), text: "a  1.50 kB  5 B/s"),
            Sample(line: ("a", 0, 0, nil), text: "a  0 %  0 B of 0 B  -"),
        ])
    func whole(sample: Sample) {
        let (name, received, total, rate) = sample.line
        #expect(line(name, received, total, rate: rate).text(columns: 80).string == sample.text)
    }

    @Test("it is never wider than the terminal, and what matters most goes last", arguments: 1...70)
    func narrow(columns: Int) {
        let text = line("日本語の名前 of a holiday.mov", 126_000_000, 300_000_000, rate: 58_000_000).text(columns: columns)
        #expect(text.width <= columns)
        #expect(text.string.contains("42 %") == (columns >= 18))
        #expect(text.string.contains("MB of") == (columns >= 36))
        #expect(text.string.contains("MB/s") == (columns >= 47))
    }

    @Test(
        "figures have three digits",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9_999, "9.99 kB"), (12_345, "12.3 kB"), (999_999, "999 kB"),
            (1_000_000, "1.00 MB"), (12_345_678, "12.3 MB"), (5_000_000_000, "5.00 GB"), (UInt64.max, "18.4 EB"),
        ] as [(UInt64, String)])
    func figures(bytes: UInt64, text: String) { #expect(ProgressLine.shown(bytes) == text) }

    @Test("lines are redrawn in place, those that stay come above, and nothing is written where nothing is shown")
    func redrawn() {
        var terminal = LiveTerminal()
        #expect(terminal.draw(staying: ["ready"], live: [], columns: 80, rows: 24) == "ready\n")
        #expect(terminal.draw(staying: [], live: [], columns: 80, rows: 24) == "")
        let (a, b) = (line("a", 1, 2), line("b", 3, 4))
        #expect(
            terminal.draw(staying: [], live: [a, b], columns: 80, rows: 24)
                == "a  50 %  1 B of 2 B  -\nb  75 %  3 B of 4 B  -\n")
        #expect(
            terminal.draw(staying: ["received a"], live: [b], columns: 80, rows: 24)
                == "\u{1B}[2A\r\u{1B}[Jreceived a\nb  75 %  3 B of 4 B  -\n")
        #expect(
            terminal.draw(staying: ["received b"], live: [], columns: 80, rows: 24)
                == "\u{1B}[1A\r\u{1B}[Jreceived b\n")
        #expect(terminal.draw(staying: ["idle"], live: [], columns: 80, rows: 24) == "idle\n")
    }

    @Test("a terminal that has become narrower has broken the lines that are there")
    func resized() {
        var terminal = LiveTerminal()
        let text = terminal.draw(staying: [], live: [line("film.mov", 1, 2), line("b", 1, 2)], columns: 80, rows: 24)
        #expect(text.hasPrefix("film.mov  50 %  1 B of 2 B  -\n"))
        // 29 and 22 cells at ten a row.
        #expect(terminal.draw(staying: [], live: [], columns: 10, rows: 24) == "\u{1B}[6A\r\u{1B}[J")
    }

    @Test("what there is no room for is counted")
    func many() {
        var terminal = LiveTerminal()
        let lines = (0..<20).map { line("file-\($0)", 1, 2) }
        let text = terminal.draw(staying: [], live: lines, columns: 80, rows: 10)
        #expect(text.split(separator: "\n").count == 8)
        #expect(text.hasSuffix("and 13 more\n"))
    }
}
