import Testing

@testable import Terminal

@Suite("Text for the clipboard")
struct ClipboardTests {
    @Test("is written in base64, whatever its length")
    func base64() {
        let cases = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
        for (text, written) in cases { #expect(TerminalModes.base64(Array(text.utf8)) == written) }
        #expect(TerminalModes.base64([0xFF, 0xFE, 0xFD]) == "//79")
        #expect(TerminalModes.clipboard(Array("fo".utf8)) == "\u{1B}]52;c;Zm8=\u{7}")
    }
}
