import FoundationEssentials
import Testing
import TransferModel

@Suite struct RawPathTests {
    @Test(
        arguments: [
            (Array("plain.txt".utf8), "plain.txt"),
            (Array("写真.jpg".utf8), "写真.jpg"),
            ([0x61, 0xFF, 0x62], "a\\xffb"),
            ([0x1B, 0x5B, 0x33, 0x31, 0x6D], "\\x1b[31m"),
            ([0xE5, 0x86], "\\xe5\\x86"),
            (Array("a\u{9B}31m".utf8), "a\\xc2\\x9b31m"),
            ([0x0A, 0x00C3, 0xA9], "\\x0aé"),
        ] as [([UInt8], String)])
    func `control and invalid bytes are shown as numbers and nothing else changes`(bytes: [UInt8], shown: String) {
        #expect(RawPath(bytes).displayed == shown)
    }

    @Test func `what is shown is the name, or has its bytes beside it, so that no two names are told alike`() {
        let names = ["a\nb", #"a\x0ab"#, "plain", "é", "e\u{301}", "\u{202E}gpj", "\u{627}\u{200F}"].map { RawPath($0) }
        for name in names + [RawPath([0xFF]), RawPath(#"\xff"#), RawPath("")] {
            let shown = name.shown
            #expect(RawPath(shown: shown.text, base64: shown.base64) == name)
            #expect((shown.base64 == nil) == (Array(shown.text.utf8) == name.bytes))
        }
        #expect(RawPath("a\nb").shown.base64 != nil && RawPath(#"a\x0ab"#).shown.base64 == nil)
    }

    @Test func `whatever the bytes, what is shown holds no control character`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let path = RawPath((0..<12).map { _ in UInt8.random(in: 1...255, using: &random) })
            #expect(
                !path.displayed.unicodeScalars.contains { $0.value < 32 || (127...159).contains($0.value) },
                "\(path.bytes)")
        }
    }

    @Test func `no character that turns the direction or is not seen is shown, but joiners are`() {
        for value in 0x80...UInt32(0x10FFFF) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            let isUnseen = properties.generalCategory == .format && properties.isDefaultIgnorableCodePoint
            let isHidden = properties.isBidiControl || isUnseen
            let isJoiner = value == 0x200C || value == 0x200D
            guard isHidden else { continue }
            #expect((RawPath("a\(scalar)b").displayed == "a\(scalar)b") == isJoiner, "U+\(String(value, radix: 16))")
        }
        // Where letters turn the direction, marks do no more; nothing else passes there.
        let name = "\u{0627}\u{0644}\u{200F}\u{061C}"
        #expect(RawPath(name).displayed == name)
        #expect(RawPath(name + "\u{202E}").displayed == name + "\\xe2\\x80\\xae")
        #expect(RawPath("\u{61C}\u{200F}").displayed == "\\xd8\\x9c\\xe2\\x80\\x8f")
    }

    @Test(arguments: [("/a/b", "b"), ("/a/b//", "b"), ("/", ""), ("b", "b"), ("", "")])
    func `the last component has no slashes`(path: String, last: String) {
        #expect(RawPath(path).lastComponent == RawPath(last))
        let above = ["/a/b//": "/a", "/a//b": "/a", "/a": "/", "a/b": "a"]
        for (path, parent) in above { #expect(RawPath(path).parent == RawPath(parent), "\(path)") }
        for path in ["/", "//", "b", ""] { #expect(RawPath(path).parent == nil, "\(path)") }
    }

    @Test func `bytes survive the wire, and a NUL is refused there`() throws {
        let paths = [RawPath("x"), RawPath([0xFE, 0xFF]), RawPath("")]
        #expect(try JSONDecoder().decode([RawPath].self, from: JSONEncoder().encode(paths)) == paths)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RawPath].self, from: Data(#"["a\u0000b"]"#.utf8))
        }
    }
}
