import DisplayText
import TestSupport
import Testing
import TransferModel

/// What is drawn stands where it is thought to stand: a terminal is asked how far each text moved its cursor.
@Suite(.inLane) struct TerminalWidthTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Prints each line of a file at the left edge and asks where the cursor is then (DSR 6); one column a line.
    private static let asking = """
        import os, re, sys, termios, tty
        tty.setraw(0)
        lines = open(sys.argv[1], "rb").read().split(b"\\n")[:-1]
        with open(sys.argv[2] + ".new", "w") as answers:
            for line in lines:
                os.write(1, b"\\r\\x1b[2K" + line + b"\\x1b[6n")
                answer = b""
                while not answer.endswith(b"R"): answer += os.read(0, 100)
                answers.write(str(int(re.search(rb";(\\d+)R", answer)[1]) - 1) + "\\n")
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        """

    private func widths(_ texts: [SafeText]) throws -> [Int] {
        let (script, lines, answers) = ("\(sandbox.root)/ask.py", "\(sandbox.root)/lines", "\(sandbox.root)/columns")
        try write(Self.asking, to: script)
        try write(texts.map { $0.string + "\n" }.joined(), to: lines)
        let terminal = try TerminalScreen(
            sandbox, size: "200x5", program: "/usr/bin/python3", script, lines, answers)
        #expect(try terminal.awaitEnd() == 0)
        return try readText(answers).split(separator: "\n").compactMap { Int($0) }
    }

    @Test func `tmux moves as far as a text is thought wide: names from everywhere, and what is left of hostile ones`()
        throws
    {
        var random = SeededGenerator(seed: 7)
        var texts = [
            "photo.jpg", "日本語のファイル.txt", "한국어", "ภาษาไทย", "العربية", "e\u{301}te\u{301}", "👩‍👩‍👧 family", "🇯🇵 flag",
            "❤\u{FE0F}.png",
            "a\u{202E}gpj.exe", "\u{1B}[31mred", "tab\tnew\nline", "👍🏽", "ｆｕｌｌ", "—…•→█▏", "\u{200B}\u{FEFF}", "🧑‍🌾",
        ].map { SafeText($0) }
        texts += (0..<400).map { _ in SafeText(random.hostileBytes(), characterSet: .utf8) }
        texts = texts.map { $0.beginning(of: 190) }
        let found = try widths(texts)
        try #require(found.count == texts.count)
        let wrong = zip(texts, found).filter { $0.width != $1 }.map { "\($0.string): \($0.width), tmux \($1)" }
        #expect(wrong == [])
    }
}
