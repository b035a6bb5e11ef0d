import DisplayText
import Testing

@Suite("Text of other machines")
struct PeerTextTests {
    @Test(
        "text as people write it stays as it is",
        arguments: ["", "plain", "Grüße", "e\u{301}\u{316}", "नमस्ते", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "한국어", "Z\u{338}\u{321}\u{489}"])
    func kept(text: String) {
        #expect(Array(String(peer: text.utf8).utf8) == Array(text.utf8))
    }

    @Test("what is no UTF-8 is replaced")
    func damaged() {
        #expect(String(peer: [0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
    }

    /// A sort by insertion, and a walk back to the first flag, would take hours for these.
    @Test("marks, joiners and flags without end are cut, so that comparing them and walking back takes no time")
    func endless() {
        let half = 1 << 20
        let marks = String(repeating: "\u{301}", count: half) + String(repeating: "\u{316}", count: half)
        let cut = String(peer: ("a" + marks + "b").utf8)
        #expect(cut == "a" + String(repeating: "\u{301}", count: 30) + "b")
        let flags = String(peer: String(repeating: "🇩", count: half).utf8)
        #expect(flags.lastIndex(of: "]") == nil && flags.unicodeScalars.count == 30)
        let joiners = String(peer: ("👩" + String(repeating: "\u{200D}", count: half)).utf8)
        #expect(joiners.unicodeScalars.count == 31)
        // A letter between them begins anew.
        let pairs = String(peer: String(repeating: "a\u{301}", count: half).utf8)
        #expect(pairs.unicodeScalars.count == 2 * half)
    }
}
