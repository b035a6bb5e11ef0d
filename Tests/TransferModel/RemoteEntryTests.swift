import Testing
import TransferModel

@Suite struct RemoteEntryTests {
    @Test("a tag that would forge a line where it is written down is none")
    func tags() {
        for tag in ["a\nb", "a\tb", "", "a b", "\u{1b}[2J", "ä", String(repeating: "a", count: 257)] {
            #expect(RemoteEntry(RawPath("f"), size: .unknown, etag: tag).etag == nil)
            var entry = RemoteEntry(RawPath("f"), size: .unknown)
            entry.etag = tag
            #expect(entry.etag == nil)
        }
        #expect(RemoteEntry(RawPath("f"), size: .unknown, etag: "d41d8-2").etag == "d41d8-2")
    }

    @Test("a name is one segment of at most 1,024 bytes")
    func names() {
        func isName(_ text: String) -> Bool { RemoteEntry.isName(Array(text.utf8)) }
        #expect(isName("a") && isName(String(repeating: "n", count: 1024)))
        for other in ["", ".", "..", "a/b", "a\0", String(repeating: "n", count: 1025)] { #expect(!isName(other)) }
    }
}
