import Testing
import TransferModel
import TransferProtocols
import WireOperations

@Suite struct HeaderFieldTests {
    @Test(
        "all three forms of a date are read",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func dates(text: String) {
        #expect(HTTPDate.parse(text)?.description == "1994-11-06T08:49:37.000Z")
    }

    @Test(
        "what is no date is refused",
        arguments: [
            "", "tomorrow", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 36 Nov 1994 08:49:37 GMT", "0",
            "Sun, 06 Nov 1994 8:49 GMT", "Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: " ", count: 40),
        ])
    func badDates(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test("a content range is read, and one that contradicts itself is not")
    func contentRange() {
        #expect(ContentRange("bytes 0-9/10")?.bytes == 0...9)
        #expect(ContentRange("bytes 5-9/*")?.total == nil)
        #expect(ContentRange("bytes */10")?.total == 10)
        for text in [
            "bytes 0-10/10", "bytes 9-0/10", "items 0-9/10", "bytes 0-9", "bytes -9/10", "bytes 0-9/x",
            "bytes 0-99999999999999999999/*",
        ] {
            #expect(ContentRange(text) == nil)
        }
    }

    @Test("a date is strong only when it was a second old")
    func strongDate() {
        func version(_ modified: String) -> RemoteVersion {
            RemoteVersion(
                HTTPAnswer(status: 200, headers: fields(["Date: \(noonText)", "Last-Modified: \(modified)"])))
        }
        #expect(version(elevenText).isResumable)
        #expect(version("Sat, 21 Nov 2026 11:59:59 GMT").isResumable)
        #expect(!version(noonText).isResumable)
    }

    @Test(
        "an offered name is made harmless",
        arguments: [
            ("attachment; filename=\"a b.txt\"", "a b.txt"), ("attachment; filename=a.txt; x=y", "a.txt"),
            ("attachment; filename=\"x.txt\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
            ("attachment; filename*=iso-8859-1'en'%e9.txt", "é.txt"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"C:\\dir\\evil.exe\"", "evil.exe"),
            ("attachment; filename*=UTF-8''..%2f..%2fx", "x"), ("attachment; filename=\".bashrc\"", "bashrc"),
            ("attachment; filename=\"--rf\"", "rf"), ("attachment; filename=\"a\u{1b}[2Jb\u{7f}\"", "a[2Jb"),
            ("attachment; filename=\"x. . \"", "x"), ("attachment; filename=\"..\"", "from-url.bin"),
            ("attachment; filename=\"\"", "from-url.bin"), ("inline", "from-url.bin"),
            ("attachment; filename*=UTF-8''%ff%fe", "from-url.bin"), ("attachment; filename=\"a\\\"b\"", "a\"b"),
            ("attachment; filename=\"abc\u{202e}gpj.exe\"", "abcgpj.exe"),
            ("attachment; filename=\"report\u{3164}\u{2060}\u{34f}.pdf\"", "report.pdf"),
        ])
    func offeredNames(value: String, expected: String) {
        let answer = HTTPAnswer(status: 200, headers: [HeaderField("Content-Disposition", value)])
        #expect(OfferedName.choose(answer, url: HTTPAddress("http://h/d/from-url.bin?x=/y")!).text == expected)
    }

    @Test("a name from the URL is decoded, kept short, and there is always one")
    func namesFromURLs() {
        func name(_ url: String) -> RawPath { OfferedName.choose(HTTPAnswer(status: 200), url: HTTPAddress(url)!) }
        #expect(name("http://h/") == RawPath("download"))
        #expect(name("http://h/a/%2e%2e") == RawPath("download"))
        #expect(name("http://h/a%2Fb") == RawPath("b"))
        #expect(name("http://h/%ff%00x").bytes == [0xff, 0x78])
        // A byte that is no UTF-8 hides nothing that turns the writing around.
        #expect(name("http://h/%ff%E2%80%AEgpj.exe").bytes == [0xff] + Array("gpj.exe".utf8))
        #expect(name("http://h/%C2%9b%e2%80%ffa%D8%9C").bytes == [0xe2, 0x80, 0xff] + Array("a".utf8))
        // Marks inside of one another: what is left of one must not be the next.
        #expect(name("http://h/%E2%E2%80%8E%80%AEgpj.exe").bytes == Array("gpj.exe".utf8))
        #expect(name("http://h/a%C2%E2%80%8E%9B31mX").bytes == Array("a31mX".utf8))
        let nested = String(repeating: "%E2", count: 2000) + String(repeating: "%80%AE", count: 2000)
        #expect(name("http://h/n" + nested).bytes == Array("n".utf8))
        let long = name("http://h/" + String(repeating: "%E2%82%AC", count: 200) + ".tar")
        #expect((250...255).contains(long.bytes.count) && long.text?.hasSuffix(".tar") == true)
        // Two that begin alike stay two.
        let other = name("http://h/" + String(repeating: "%E2%82%AC", count: 201) + ".tar")
        #expect(other != long && other.bytes.count <= 255)
        let fits = String(repeating: "n", count: 255)
        #expect(name("http://h/" + fits) == RawPath(fits))
    }

    @Test("a stored answer shows no cookie, no query and no escape sequence")
    func harmlessResponse() {
        let answer = HTTPAnswer(
            status: 201, headers: fields(["Set-Cookie: secret", "Location: /x?token=1", "X: a\u{1b}b"]))
        let response = TransferResponse(answer, body: Array("ok\u{1b}[2J".utf8))
        #expect(response.headers == [HeaderField("Location", "/x"), HeaderField("X", "a\\x1bb")])
        #expect(response.body == "ok\\x1b[2J")
    }

    @Test("a stored answer is no longer than a disk can bear a million times")
    func longResponse() {
        let field = HeaderField("X", String(repeating: "\u{1}", count: 1000))
        let answer = HTTPAnswer(status: 404, headers: Array(repeating: field, count: 250))
        let response = TransferResponse(answer, body: Array(repeating: 1, count: 1 << 20))
        #expect(response.headers.count == 16)
        // Each byte is shown as four.
        #expect(response.keptBytes == 4 * 64 << 10 + 16 * 4001)
    }

    @Test("a validator that could not be sent back is none, whichever field it comes in and wherever it was stored")
    func validators() throws {
        let long = String(repeating: "x", count: 2000)
        for tag in ["\"a\u{1}\"", "\"\"", "W/\"\"", "", "\"ä\"", "a b", "\"\(long)\""] {
            let answer = HTTPAnswer(status: 200, headers: [HeaderField("ETag", tag)])
            #expect(answer.etag == nil && RemoteVersion(answer).etag == nil, "\(tag)")
            #expect(ResumePoint(StoredVersion(stored: true, etag: tag)).content(StoredVersion.self) == nil)
        }
        for tag in ["\"a\"", "W/\"a\"", "0a1b"] {
            #expect(HTTPAnswer(status: 200, headers: [HeaderField("ETag", tag)]).etag == tag)
        }
        for day in ["\u{1}", long] {
            let date = HeaderField("Last-Modified", "\(day), 06 Nov 1994 08:49:37 GMT")
            let head = [date, HeaderField("Date", noonText)]
            #expect(RemoteVersion(HTTPAnswer(status: 200, headers: head)).ifRange == nil)
        }
    }
}
