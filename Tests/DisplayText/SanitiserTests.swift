import DisplayText
import TestSupport
import Testing

@Suite("What comes from outside is made harmless")
struct SanitiserTests {
    @Test("hostile text is shown, not obeyed")
    func hostile() {
        // Not arguments of the test, because the test's log would print them raw.
        let rows = [
            ("plain name.txt", "plain name.txt"),
            ("", ""),
            ("\u{1B}[31mred\u{7}", "\\x1b[31mred\\x07"),
            ("\u{1B}]52;c;ZXZpbA==\u{7}", "\\x1b]52;c;ZXZpbA==\\x07"),
            ("a\nb\tc\r\u{7F}", "a\\x0ab\\x09c\\x0d\\x7f"),
            ("c1 \u{9B}31m \u{85}", "c1 \\u{9B}31m \\u{85}"),
            ("photo\u{202E}gpj.exe", "photo\\u{202E}gpj.exe"),
            ("zero\u{200B}width\u{FEFF}", "zero\\u{200B}width\\u{FEFF}"),
            ("soft\u{AD}hyphen", "soft\\u{AD}hyphen"),
            ("tag\u{E0041}\u{E0042}", "tag\\u{E0041}\\u{E0042}"),
            ("line\u{2028}paragraph\u{2029}", "line\\u{2028}paragraph\\u{2029}"),
            ("private \u{E000}\u{F8FF}", "private \\u{E000}\\u{F8FF}"),
            ("not\u{A0}a\u{3000}space\u{2003}", "not␣a␣space␣"),
            ("\u{301}accent on nothing", "◌\u{301}accent on nothing"),
            ("日本語.txt", "日本語.txt"),
            ("❤\u{FE0F} heart", "❤ heart"),
            ("👨\u{200D}👩\u{200D}👧 family", "👨 family"),
            ("👋🏽 hello", "👋 hello"),
            ("no\u{200D}joint", "no\\u{200D}joint"),
            ("🧑\u{200D}x", "🧑\\u{200D}x"),
            ("e\u{301}\u{302}\u{303}\u{304}", "e\u{301}\u{302}"),
            ("\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}\u{11AB}"),
            ("สวัสดี", "สวัสดี"),
            ("مرحبا", "مرحبا"),
            ("-rf", "-rf"),
            ("   ", "   "),
            ("newer \u{1FAE8} than the table", "newer \\u{1FAE8} than the table"),
            ("invisible \u{3164}\u{115F}", "invisible \\u{3164}\\u{115F}"),
        ]
        for (text, shown) in rows {
            #expect(SafeText(text).string.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(shown)")
        }
    }

    @Test("bytes that are not UTF-8 are shown one by one")
    func invalidBytes() {
        #expect(SafeText([0x61, 0xFF, 0x62]).string == "a\\xffb")
        #expect(SafeText([0xC0, 0x80]).string == "\\xc0\\x80", "overlong")
        #expect(SafeText([0xED, 0xA0, 0x80]).string == "\\xed\\xa0\\x80", "a surrogate")
        #expect(SafeText([0xF4, 0x90, 0x80, 0x80]).string == "\\xf4\\x90\\x80\\x80", "above the last code point")
        #expect(SafeText([0xE3, 0x81]).string == "\\xe3\\x81", "cut off")
        #expect(SafeText([0xE3, 0x41, 0x82]).string == "\\xe3A\\x82")
    }

    @Test("a substitute is marked, so that a screen can tell it from a name that spells it out")
    func marks() {
        let real = SafeText([0xFF])
        let spelled = SafeText("\\xff")
        #expect(real.string == spelled.string)
        #expect(real != spelled)
        #expect(real.glyphs.allSatisfy { $0.isSubstitute })
        #expect(SafeText("a\u{A0}b") != SafeText("a␣b"))
    }

    @Test("a terminal that knows only ASCII gets only ASCII")
    func ascii() {
        let text = SafeText("日本 é\u{202E}\u{A0}👨\u{200D}👩", characterSet: .ascii)
        #expect(
            text.string == "\\u{65E5}\\u{672C} \\u{E9}\\u{202E}\\u{A0}\\u{1F468}\\u{200D}\\u{1F469}")
        #expect(text.width == text.string.utf8.count)
    }

    @Test("a megabyte from a server keeps its beginning and its end")
    func limit() {
        let page = Array("<html>".utf8) + Array(repeating: UInt8(ascii: "y"), count: 1 << 20)
        let text = SafeText(page + Array("</html>".utf8))
        #expect(text.width == SafeText.longest)
        #expect(text.string.hasPrefix("<html>yyy"))
        #expect(text.string.hasSuffix("yyy</html>"))
        #expect(SafeText(Array(repeating: 0x80, count: 1 << 20)).width == SafeText.longest)
    }

    @Test("any bytes give text without anything that a terminal obeys, and cleaning it again changes nothing")
    func property() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<6_000 {
            let bytes = random.hostileBytes()
            let text = SafeText(bytes)
            let string = text.string
            #expect(string.unicodeScalars.allSatisfy { isHarmless($0) }, "\(bytes)")
            let again = SafeText(string)
            #expect(
                again.string.unicodeScalars.elementsEqual(string.unicodeScalars) && again.width == text.width,
                "\(bytes)")
            #expect(text.width == text.glyphs.reduce(0) { $0 + Int($1.width) })
            #expect(text.width <= SafeText.longest)
        }
    }

    @Test("different bytes look different, apart from what is dropped on purpose")
    func injective() {
        var random = SeededGenerator(seed: 11)
        var seen: [SafeText: [UInt8]] = [:]
        let pieces: [[UInt8]] = [
            [0x61], [0x5C], [0x78], [0x46], [0xFF], [0x1B], [0x9B], [0xC2, 0x9B], [0xC2, 0xA0], [0x20],
            Array("\u{202E}".utf8), Array("\u{301}".utf8), Array("␣".utf8), Array("◌".utf8), Array("\u{200D}".utf8),
            Array("日".utf8), [0x7B], [0x7D],
        ]
        for _ in 0..<10_000 {
            let bytes = (0..<Int.random(in: 0...5, using: &random))
                .flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
            let marks = SafeText(bytes).glyphs.count { $0.secondMark != 0 }
            guard marks == 0 else { continue }
            if let other = seen.updateValue(bytes, forKey: SafeText(bytes)) { #expect(other == bytes) }
        }
    }

    private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
