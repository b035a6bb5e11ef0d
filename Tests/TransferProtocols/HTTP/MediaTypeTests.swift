import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct MediaTypeTests {
    @Test(
        "the end of a name says what a file is, in any case",
        arguments: [
            ("holiday.JPG", "image/jpeg"), ("site/index.html", "text/html"), ("a.tar.gz", "application/gzip"),
            ("film.mov", "video/quicktime"), (".mp4", MediaType.unknown), ("README", MediaType.unknown),
            ("odd.", MediaType.unknown), ("x.pdf/notes", MediaType.unknown), ("", MediaType.unknown),
            ("data.unheardof", MediaType.unknown), ("caf\u{e9}.\u{fc}", MediaType.unknown),
        ])
    func byName(name: String, type: String) {
        #expect(MediaType.of(Array(name.utf8)) == type)
    }

    @Test("bytes that are no text are no type")
    func hostile() { #expect(MediaType.of([0x2e, 0x61, 0x2e, 0xff, 0xfe]) == MediaType.unknown) }
}
